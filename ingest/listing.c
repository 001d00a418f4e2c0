/* Reading a directory: see listing.h. */
#include "listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAMES_MAX 1000000u

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

void listing_free(struct listing *list)
{
    free_names(list->files, list->count);
    free_names(list->folders, list->folder_count);
    *list = (struct listing){0};
}

static apl_status keep_name(char ***names, size_t *count, const char *name, apl_error *err)
{
    if ((*count & (*count - 1)) == 0) { /* full: 0, 1, 2, 4, ... */
        char **more = realloc(*names, (*count ? 2 * *count : 1) * sizeof **names);
        if (!more)
            return fail_nomem(err);
        *names = more;
    }
    (*names)[*count] = strdup(name);
    return (*names)[*count] ? (++*count, APL_OK) : fail_nomem(err);
}

static apl_status keep_entry_of(struct listing *list, DIR *dir, const char *name, bool follow, apl_error *err)
{
    struct stat st, behind;
    if (*name == '.' || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return APL_OK;
    if (follow && S_ISLNK(st.st_mode) && fstatat(dirfd(dir), name, &behind, 0) == 0)
        st = behind;
    return S_ISDIR(st.st_mode) ? keep_name(&list->folders, &list->folder_count, name, err)
                               : keep_name(&list->files, &list->count, name, err);
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

static void sort_names(char **names, size_t count)
{
    if (count > 1)
        qsort(names, count, sizeof *names, by_entry_name);
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
    sort_names(list->files, list->count);
    sort_names(list->folders, list->folder_count);
    return status;
}
