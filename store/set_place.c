/* Taking the list of a set from where it is: see set_place.h. */
#include "set_place.h"

#include "hash.h"
#include "set_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static apl_status read_here(struct set_place *place, apl_store *store, struct buffer *bytes, apl_error *err)
{
    struct stat st;
    place->directory = fcntl(store->directory, F_DUPFD_CLOEXEC, 0);
    if (place->directory < 0)
        return fail_errno(err, errno, "%s: cannot keep the directory open", store->name);
    apl_status status = set_file_read(store->directory, place->file, bytes, &st, err);
    if (status != APL_OK)
        return fail_in(err, status, "%s/%s", store->name, place->file);
    store->device = st.st_dev;
    store->inode = st.st_ino;
    store->modified = st.st_mtim;
    return APL_OK;
}

static apl_status read_elsewhere(struct set_place *place, apl_store *store, bool refetch,
                                 struct buffer *bytes, apl_error *err)
{
    struct url url;
    place->directory = -1;
    place->url = &store->url;
    place->remote = &store->remote;
    TRY(url_below(&store->url, place->file, &url, err));
    TRY(remote_take_file(&url, &store->remote, SET_MAX_BYTES, refetch, bytes, err));
    store->inode = (ino_t)hash_xxh3_64(bytes->data, bytes->size);
    return APL_OK;
}

static apl_status take_once(struct set_place *place, apl_store *store, bool refetch, struct set_list *list,
                            apl_error *err)
{
    struct buffer bytes = {0};
    apl_status status = store->url.base ? read_elsewhere(place, store, refetch, &bytes, err)
                                        : read_here(place, store, &bytes, err);
    if (status == APL_OK) {
        status = set_list_decode(&bytes, list, &store->manifest, err);
        if (status != APL_OK)
            fail_in(err, status, "%s/%s", store->name, place->file);
    }
    buffer_free(&bytes);
    return status;
}

/* The list in that file. */
static apl_status take_named(struct set_place *place, const char *file, apl_store *store,
                             struct set_list *list, apl_error *err)
{
    *place = (struct set_place){.file = strdup(file), .directory = -1};
    if (!place->file)
        return fail_nomem(err);
    apl_status status = take_once(place, store, false, list, err);
    if (status == APL_E_CORRUPT && store->url.base)
        status = take_once(place, store, true, list, err); /* bytes may have been damaged on the way */
    return status;
}

apl_status set_place_take(struct set_place *place, const char *file, const uint8_t *expected,
                          apl_store *store, struct set_list *list, apl_error *err)
{
    char kept[SET_KEPT_BYTES];
    TRY(take_named(place, file, store, list, err));
    if (!expected || memcmp(expected, store->manifest.info.content_digest, 32) == 0)
        return APL_OK;
    set_place_free(place);
    set_list_free(list);
    manifest_free(&store->manifest);
    set_kept_name(expected, kept);
    apl_status status = take_named(place, kept, store, list, err);
    return status == APL_E_NOTFOUND
               ? fail(err, APL_E_MISMATCH, "%s: the content digest is not the one expected", store->name)
               : status;
}

apl_status set_place_read(const struct set_place *place, const char *file, struct buffer *bytes,
                          apl_error *err)
{
    struct url url;
    if (!place->url)
        return set_file_read(place->directory, file, bytes, NULL, err);
    TRY(url_below(place->url, file, &url, err));
    return remote_take_file(&url, place->remote, SET_MAX_BYTES, false, bytes, err);
}

void set_place_free(struct set_place *place)
{
    if (place->file && place->directory >= 0)
        close(place->directory);
    free(place->file);
    *place = (struct set_place){.directory = -1};
}
