/* Listing the beginning of an archive. */
#include "peek.h"

#include "format.h"
#include "found_file.h"
#include "ring.h"
#include "source.h"

/* No more bytes than these are unpacked, however few names they have: a name is worth no more, and of NULs, which are an empty
 * archive, there may be any number. */
#define PEEK_BYTES (64u << 20)

/* Asked before each block. */
static int has_seen_enough(void *user)
{
    unsigned *blocks = user;
    return ++*blocks > PEEK_BYTES / RING_BYTES;
}

static bool wants_all(const char *name, void *blocks)
{
    (void)name;
    (void)blocks;
    return true;
}

/* Such a name alone tells whose the archive is. The files are large, and none is unpacked to see the name of the next. */
static bool is_of_cifar(const char *name)
{
    return format_cifar.wants(NULL, path_last(name));
}

size_t peek_members(const char *path, char *names[PEEK_NAMES])
{
    struct source *source;
    struct source_member m;
    size_t count = 0;
    unsigned blocks = 0;
    if (source_open_tree(path, wants_all, &(struct source_way){.tree = SOURCE_LIST}, has_seen_enough, &blocks,
                         &source, NULL) != APL_OK)
        return 0;
    while (count < PEEK_NAMES && source_next(source, &m, NULL) == APL_OK) {
        if (m.directory)
            continue;
        names[count] = strdup(m.name);
        if (!names[count])
            break;
        if (is_of_cifar(names[count++]))
            break;
    }
    source_close(source);
    return count;
}
