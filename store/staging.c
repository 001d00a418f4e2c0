/* All or nothing: see target.h. */
#include "staging.h"

#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct target {
    char *path;      /* of the directory, safe to print */
    char *temporary; /* path of the temporary file */
    char *name;      /* the last part of it */
    int fd;
    int file; /* the temporary file, or -1 */
    bool made, locked, published;
};

/* Is it a link that somebody else has put where anybody can put one, so that we write somewhere else? (Linux itself
 * follows none of these, unless it has been told to.) `path` may end in slashes, and loses them. */
static bool is_planted(char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        path[--n] = 0;
    struct stat link, parent;
    char *slash = strrchr(path, '/');
    if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode))
        return false;
    if (slash)
        *slash = 0;
    bool known = stat(!slash ? "." : *path ? path : "/", &parent) == 0;
    if (slash)
        *slash = '/';
    return link.st_uid != geteuid() && (!known || (parent.st_mode & S_IWOTH && link.st_uid != parent.st_uid));
}

static apl_status check_link(const struct target *t, const char *path, apl_error *err)
{
    char *copy = strdup(path);
    if (!copy)
        return fail_nomem(err);
    bool planted = is_planted(copy);
    free(copy);
    return planted ? fail(err, APL_E_INVALID,
                          "%s: is a symbolic link of another user, where anybody may make one", t->path)
                   : APL_OK;
}

static apl_status make_directory(struct target *t, const char *path, apl_error *err)
{
    /* Not for everybody to write in, even if the user's mask would have it. */
    if (mkdir(path, 0775) == 0)
        t->made = true;
    else if (errno != EEXIST)
        return fail_errno(err, errno, "%s: cannot make the directory", t->path);
    else
        TRY(check_link(t, path, err));
    t->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (t->made ? O_NOFOLLOW : 0));
    if (t->fd < 0 && errno == ENOTDIR)
        return fail(err, APL_E_INVALID, "%s: is not a directory", t->path);
    if (t->fd < 0)
        return fail_errno(err, errno, "%s: cannot open the directory", t->path);
    return APL_OK;
}

static apl_status lock(struct target *t, int replace, apl_error *err)
{
    if (flock(t->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return fail_errno(err, errno, "%s: cannot lock the directory", t->path);
        t->made = false; /* it is the other one's now */
        return fail(err, APL_E_BUSY, "%s: another process is writing this store", t->path);
    }
    t->locked = true;
    if (!replace && faccessat(t->fd, STORE_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return fail(err, APL_E_EXISTS, "%s: a store exists already", t->path);
    if (faccessat(t->fd, ".", W_OK, 0) != 0)
        return fail_errno(err, errno, "%s: cannot write in the directory", t->path);
    if (!may_replace(t->fd, STORE_FILE))
        return fail(err, APL_E_EXISTS, "%s: " STORE_FILE " is not a regular file, and is not replaced",
                    t->path);
    temporary_clear(t->fd);
    return APL_OK;
}

apl_status target_open(const char *path, int replace, struct target **target, apl_error *err)
{
    if (!path || !*path)
        return fail(err, APL_E_INVALID, "a store needs a path");
    struct target *t = calloc(1, sizeof *t);
    size_t size = strlen(path) * 4 + 1, temporary_size = strlen(path) + 1 + TEMPORARY_BYTES;
    if (!t)
        return fail_nomem(err);
    t->fd = t->file = -1;
    t->path = malloc(size);
    t->temporary = malloc(temporary_size);
    apl_status status = t->path && t->temporary ? APL_OK : fail_nomem(err);
    if (status == APL_OK) {
        printable(t->path, size, path, strlen(path));
        t->name = t->temporary + snprintf(t->temporary, temporary_size, "%s/", path);
        snprintf(t->name, TEMPORARY_BYTES, ".tmp-" STORE_FILE);
        status = make_directory(t, path, err);
    }
    if (status == APL_OK)
        status = lock(t, replace, err);
    if (status != APL_OK)
        target_close(t);
    else
        *target = t;
    return status;
}

apl_status target_create(struct target *t, int *fd, apl_error *err)
{
    t->file = *fd = temporary_create(t->fd, STORE_FILE, t->name);
    return t->file < 0 ? fail_errno(err, errno, "%s: cannot create the file", t->path) : APL_OK;
}

const char *target_temporary(const struct target *t)
{
    return t->temporary;
}

apl_status target_scratch(struct target *t, int *fd, apl_error *err)
{
    char name[TEMPORARY_BYTES];
    *fd = temporary_create(t->fd, "piles", name);
    if (*fd < 0)
        return fail_errno(err, errno, "%s: cannot create a scratch file", t->path);
    unlinkat(t->fd, name, 0);
    return APL_OK;
}

static apl_status sync_file(const struct target *t, apl_error *err)
{
    struct stat is, named;
    if (fchmod(t->file, 0444) != 0 || fsync(t->file) != 0)
        return fail_errno(err, errno, "%s: cannot sync the new store", t->path);
    if (fstat(t->file, &is) != 0 || fstatat(t->fd, t->name, &named, AT_SYMLINK_NOFOLLOW) != 0)
        return fail_errno(err, errno, "%s: cannot look at the new store", t->path);
    return is.st_dev == named.st_dev && is.st_ino == named.st_ino
               ? APL_OK
               : fail(err, APL_E_IO, "%s: somebody has replaced the new store while it was written", t->path);
}

/* A directory that is new is an entry of its parent, without which a power cut would take it with all that is in
 * it. Of a parent that may not be read, that is left to the file system. */
static apl_status sync_parent(const struct target *t, apl_error *err)
{
    int fd = openat(t->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        return APL_OK;
    apl_status status = APL_OK;
    if (fd < 0 || fsync(fd) != 0)
        status = fail_errno(err, errno, "%s: cannot sync the directory above it", t->path);
    if (fd >= 0)
        close(fd);
    return status;
}

apl_status target_publish(struct target *t, apl_error *err)
{
    TRY(sync_file(t, err));
    if (t->made)
        TRY(sync_parent(t, err));
    if (!may_replace(t->fd, STORE_FILE))
        return fail(err, APL_E_IO, "%s: " STORE_FILE " is no longer a regular file, and is not replaced",
                    t->path);
    if (renameat(t->fd, t->name, t->fd, STORE_FILE) != 0)
        return fail_errno(err, errno, "%s: cannot put the new store in its place", t->path);
    t->published = true;
    if (fsync(t->fd) != 0)
        return fail_errno(
            err, errno,
            "%s: the new store is in its place, but a power cut may undo that: cannot sync the directory",
            t->path);
    return APL_OK;
}

void target_close(struct target *t)
{
    if (!t)
        return;
    if (t->file >= 0 && !t->published)
        unlinkat(t->fd, t->name, 0);
    if (t->made && !t->published) {
        /* The path of the temporary file without its last part is that of the directory. */
        *strrchr(t->temporary, '/') = 0;
        rmdir(t->temporary);
    }
    if (t->file >= 0)
        close(t->file);
    if (t->fd >= 0)
        close(t->fd);
    free(t->path);
    free(t->temporary);
    free(t);
}
