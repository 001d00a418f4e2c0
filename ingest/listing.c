/* Reading a directory: see listing.h. */
#include "listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAMES_MAX 1000000u

void listing_free(struct listing *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->files[i]);
    free(list->files);
    free(list->folder);
    *list = (struct listing){0};
}

static apl_status keep_file(struct listing *list, const char *name, apl_error *err)
{
    if ((list->count & (list->count - 1)) == 0) { /* full: 0, 1, 2, 4, ... */
        char **files = realloc(list->files, (list->count ? 2 * list->count : 1) * sizeof *files);
        if (!files)
            return fail_nomem(err);
        list->files = files;
    }
    list->files[list->count] = strdup(name);
    return list->files[list->count] ? (list->count++, APL_OK) : fail_nomem(err);
}

static apl_status keep_entry_of(struct listing *list, DIR *dir, const char *name, bool follow, apl_error *err)
{
    struct stat st, behind;
    if (*name == '.' || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return APL_OK;
    if (follow && S_ISLNK(st.st_mode) && fstatat(dirfd(dir), name, &behind, 0) == 0)
        st = behind;
    if (!S_ISDIR(st.st_mode))
        return keep_file(list, name, err);
    list->folders++;
    if (!list->folder && !(list->folder = strdup(name)))
        return fail_nomem(err);
    return APL_OK;
}

static apl_status keep_entries(struct listing *list, DIR *dir, const char *shown, bool follow, apl_error *err)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            return errno ? fail_errno(err, errno, "%s: cannot be listed", shown) : APL_OK;
        if (list->count == NAMES_MAX)
            return fail(err, APL_E_SOURCE, "%s: has more than %u files", shown, NAMES_MAX);
        TRY(keep_entry_of(list, dir, entry->d_name, follow, err));
    }
}

static int by_entry_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

apl_status listing_read(const char *path, bool follow, struct listing *list, apl_error *err)
{
    char shown[512];
    printable(shown, sizeof shown, path, strlen(path));
    *list = (struct listing){0};
    DIR *dir = opendir(path);
    if (!dir)
        return fail_errno(err, errno, "%s: cannot be listed", shown);
    apl_status status = keep_entries(list, dir, shown, follow, err);
    closedir(dir);
    if (status != APL_OK)
        listing_free(list);
    else if (list->count > 1)
        qsort(list->files, list->count, sizeof *list->files, by_entry_name);
    return status;
}
