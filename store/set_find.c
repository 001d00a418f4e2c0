/* Finding a list among those of a set: see set.h. */
#include "set.h"
#include "set_file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool set_kept_list(const struct set *set, const uint8_t content[32], char name[SET_KEPT_BYTES])
{
    set_kept_name(content, name);
    return faccessat(set_place_of(set)->directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool decodes_to(struct buffer *bytes, const uint8_t content[32])
{
    struct set_list list;
    struct manifest manifest;
    if (set_list_decode(bytes, &list, &manifest, NULL) != APL_OK)
        return false;
    bool is = memcmp(manifest.info.content_digest, content, 32) == 0;
    set_list_free(&list);
    manifest_free(&manifest);
    return is;
}

static bool has_content(const struct set *set, const char *file, const uint8_t content[32])
{
    struct buffer bytes = {0};
    apl_error err;
    apl_status status = set_place_read(set_place_of(set), file, &bytes, &err);
    bool has =
        status == APL_OK ? decodes_to(&bytes, content) : status != APL_E_NOTFOUND && status != APL_E_CORRUPT;
    buffer_free(&bytes);
    return has;
}

bool set_find_list(const struct set *set, const uint8_t content[32], char name[SET_KEPT_BYTES])
{
    set_kept_name(content, name);
    if (has_content(set, name, content))
        return true;
    memcpy(name, SET_FILE, sizeof SET_FILE);
    return has_content(set, name, content);
}
