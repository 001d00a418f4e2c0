/* Listing the beginning of an archive. */
#include "peek.h"

#include "source.h"

static bool wants_all(const char *name, void *user)
{
    (void)name;
    (void)user;
    return true;
}

size_t peek_members(const char *path, char *names[PEEK_NAMES])
{
    struct source *source;
    struct source_member m;
    size_t count = 0;
    if (source_open_tree(path, wants_all, SOURCE_LIST, NULL, NULL, &source, NULL) != APL_OK)
        return 0;
    while (count < PEEK_NAMES && source_next(source, &m, NULL) == APL_OK) {
        if (m.directory)
            continue;
        names[count] = strdup(m.name);
        if (!names[count])
            break;
        count++;
    }
    source_close(source);
    return count;
}
