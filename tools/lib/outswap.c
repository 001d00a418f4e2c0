/* A folder in the place of another: see outswap.h. */
#define _DEFAULT_SOURCE /* syscall */
#include "outswap.h"

#include "args.h"
#include "outtree.h"
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2u
#endif

/* Files of this process that are not finished lie there too. */
static bool is_own_temporary(const char *name)
{
    char own[32];
    snprintf(own, sizeof own, ".tmp-%ld-", (long)getpid());
    return strncmp(name, own, strlen(own)) == 0;
}

static int check_entry(struct outswap *s, int folder, const char *name)
{
    struct stat st;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || is_own_temporary(name))
        return 0;
    if (!outmade_has(&s->made, name))
        return failed("%s/%s: no export has made it, and --force replaces a whole export: move it, or export "
                      "to another directory",
                      shown(s->shown), shown(name));
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
        return failed(
            "%s/%s: is not the file that an export has made: move it, or export to another directory",
            shown(s->shown), shown(name));
    return 0;
}

/* Does it hold anything but what exports have made? */
static int check_entries(struct outswap *s)
{
    DIR *dir = opendir(s->folder);
    int status = 0;
    if (!dir)
        return failed_errno(errno, "%s: cannot be read", shown(s->shown));
    for (const struct dirent *entry; !status && (entry = readdir(dir));)
        status = check_entry(s, dirfd(dir), entry->d_name);
    closedir(dir);
    return status;
}

/* Where renaming would fail, or do what nobody expects, it is better to know before. */
static int check_movable(const struct outswap *s, const struct stat *st)
{
    struct stat other;
    static const char advice[] = "remove the earlier export, or export to another directory";
    if (stat(".", &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino)
        return failed("%s: is the current directory, which --force cannot replace: run this elsewhere, or %s",
                      shown(s->shown), advice);
    char *parent = strdup(s->folder), *slash = parent ? strrchr(parent, '/') : NULL;
    if (!slash) {
        free(parent);
        return failed("out of memory");
    }
    slash[slash == parent] = 0;
    bool mounted = stat(parent, &other) == 0 && other.st_dev != st->st_dev;
    free(parent);
    return mounted ? failed("%s: is a file system of its own, which --force cannot replace: %s",
                            shown(s->shown), advice)
                   : 0;
}

/* ".tmp-PID-swap" beside the folder, for the same users as that. */
static int make_beside(struct outswap *s, const struct stat *st)
{
    size_t folder = (size_t)(strrchr(s->folder, '/') - s->folder) + 1, size = folder + 48;
    s->temporary = malloc(size);
    if (!s->temporary)
        return failed("out of memory");
    snprintf(s->temporary, size, "%.*s.tmp-%ld-swap", (int)folder, s->folder, (long)getpid());
    bool made = mkdir(s->temporary, 0700) == 0;
    if (made && chown(s->temporary, (uid_t)-1, st->st_gid) != 0)
        errno = 0; /* then it is of a group of ours */
    if (made && chmod(s->temporary, st->st_mode & 07777) == 0)
        return 0;
    int error = errno;
    rmdir(s->temporary);
    free(s->temporary);
    s->temporary = NULL;
    return failed_errno(error, "%s: cannot be replaced: no directory can be made beside it", shown(s->shown));
}

int outswap_open(struct outswap *s, const char *folder, struct outmade *made)
{
    struct stat st;
    *s = (struct outswap){.folder = realpath(folder, NULL), .made = *made, .shown = folder};
    *made = (struct outmade){0};
    if (!s->folder || stat(s->folder, &st) != 0)
        return failed_errno(errno, "%s", shown(folder));
    int status = check_entries(s);
    if (!status)
        status = check_movable(s, &st);
    return status ? status : make_beside(s, &st);
}

char *outswap_path(const struct outswap *s, const char *name)
{
    size_t size = strlen(s->temporary) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", s->temporary, name);
    return path;
}

/* The old folder gets another name first, which becomes that of the temporary one. */
static bool rename_both(struct outswap *s)
{
    size_t size = strlen(s->temporary) + sizeof "-old";
    char *aside = malloc(size);
    if (!aside)
        return false;
    snprintf(aside, size, "%s-old", s->temporary);
    bool moved = rename(s->folder, aside) == 0;
    if (moved && rename(s->temporary, s->folder) == 0) {
        free(s->temporary);
        s->temporary = aside;
        return true;
    }
    int error = errno;
    if (moved && rename(aside, s->folder) != 0)
        failed_errno(errno, "%s: the earlier export is there, and cannot be put back", shown(aside));
    free(aside);
    errno = error;
    return false;
}

/* Both are there at every moment; where the file system cannot do that, there is a moment when neither has the name, but both are
 * whole. */
static bool exchange(struct outswap *s)
{
    /* not renameat2(), which is younger than the C library that wheels promise to run with */
    if (syscall(SYS_renameat2, AT_FDCWD, s->temporary, AT_FDCWD, s->folder, RENAME_EXCHANGE) == 0)
        return true;
    return (errno == EINVAL || errno == ENOSYS) && rename_both(s);
}

/* What exports have made; the folder stays if there is more. */
static int remove_old(struct outswap *s)
{
    DIR *dir = opendir(s->temporary);
    for (bool removed = dir != NULL; removed;) {
        removed = false;
        rewinddir(dir);
        for (const struct dirent *entry; (entry = readdir(dir));)
            removed |= outmade_has(&s->made, entry->d_name) && unlinkat(dirfd(dir), entry->d_name, 0) == 0;
    }
    if (dir)
        closedir(dir);
    if (rmdir(s->temporary) == 0)
        return 0;
    return failed_errno(errno, "%s: the earlier export, which was replaced, cannot be removed",
                        shown(s->temporary));
}

int outswap_commit(struct outswap *s)
{
    int status = check_entries(s);
    if (status)
        return status;
    if (!exchange(s))
        return failed_errno(errno, "%s: cannot be replaced", shown(s->shown));
    status = remove_old(s);
    free(s->temporary); /* what it still holds is not ours */
    s->temporary = NULL;
    return status;
}

void outswap_close(struct outswap *s)
{
    if (s->temporary)
        outtree_remove(s->temporary);
    free(s->temporary);
    free(s->folder);
    outmade_free(&s->made);
    *s = (struct outswap){0};
}
