/* Comparing where paths lead: see distinct.h. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "distinct.h"

#include "shown.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Where a path leads, and its place among all. */
struct found_place {
    dev_t device;
    ino_t inode;
    size_t at;
};

static int by_inode(const void *a, const void *b)
{
    const struct found_place *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_same_path(const char *a, const char *b)
{
    char *x = realpath(a, NULL), *y = realpath(b, NULL);
    bool same = x && y && strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

static apl_status refuse_again(const char *path, const char *first, apl_error *err)
{
    char shown[200], shown_first[200];
    printable(shown, sizeof shown, path, strlen(path));
    printable(shown_first, sizeof shown_first, first, strlen(first));
    if (strcmp(path, first) == 0)
        return fail(err, APL_E_INVALID, "%s: is given twice", shown);
    return fail(err, APL_E_INVALID, "%s: is given twice, as it is %s", shown, shown_first);
}

apl_status distinct_paths(const char *const *paths, size_t count, apl_error *err)
{
    size_t n = 0;
    struct stat st;
    struct found_place *found = malloc((count + 1) * sizeof *found);
    if (!found)
        return fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        if (stat(paths[i], &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
            found[n++] = (struct found_place){st.st_dev, st.st_ino, i};
    qsort(found, n, sizeof *found, by_inode);
    apl_status status = APL_OK;
    for (size_t i = 1; i < n && status == APL_OK; i++) {
        const struct found_place *a = &found[i - 1], *b = &found[i];
        if (a->device == b->device && a->inode == b->inode && is_same_path(paths[a->at], paths[b->at]))
            status = refuse_again(paths[b->at], paths[a->at], err);
    }
    free(found);
    return status;
}
