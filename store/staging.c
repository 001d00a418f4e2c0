/* All or nothing: see staging.h. */
#define _GNU_SOURCE /* memmem */
#include "staging.h"

#include "lmdb_walk.h"
#include "part_name.h"
#include "set_list.h"
#include "temporary.h"
#include "whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_BYTES ((size_t)1 << 20)

struct staging {
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

static apl_status check_link(const struct staging *s, const char *path, apl_error *err)
{
    char *copy = strdup(path);
    if (!copy)
        return fail_nomem(err);
    bool planted = is_planted(copy);
    free(copy);
    return planted ? fail(err, APL_E_INVALID,
                          "%s: is a symbolic link of another user, where anybody may make one", s->path)
                   : APL_OK;
}

static apl_status make_directory(struct staging *s, const char *path, apl_error *err)
{
    /* Not for everybody to write in, even if the user's mask would have it. */
    if (mkdir(path, 0775) == 0)
        s->made = true;
    else if (errno != EEXIST)
        return fail_errno(err, errno, "%s: cannot make the directory", s->path);
    else
        TRY(check_link(s, path, err));
    s->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (s->made ? O_NOFOLLOW : 0));
    if (s->fd < 0 && errno == ENOTDIR)
        return fail(err, APL_E_INVALID, "%s: is not a directory", s->path);
    if (s->fd < 0)
        return fail_errno(err, errno, "%s: cannot open the directory", s->path);
    return APL_OK;
}

/* A store would hide the set from all who open the directory, and parts of one that is being made could not be completed. The error does
 * not name the directory. */
static apl_status check_no_set(const struct staging *s, apl_error *err)
{
    struct parts_seen seen;
    if (faccessat(s->fd, SET_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return fail(err, APL_E_INVALID, "is a set, and cannot be a store too");
    parts_look(s->fd, &seen);
    return seen.parts == 0
               ? APL_OK
               : fail(err, APL_E_INVALID,
                      "has parts of a set of %u, and cannot be a store too: name another directory "
                      "(aplingest --part makes the other parts)",
                      seen.parts);
}

/* Has a file the mark of a store's blocks or manifest? Of each store, some of these are at the beginning. What has been cut is of no use
 * to anybody, and may have been a store. */
static apl_status find_mark(const struct staging *s, int fd, bool *found, apl_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail_errno(err, errno, "%s: " STORE_FILE, s->path);
    size_t size = (size_t)st.st_size < LOOK_BYTES ? (size_t)st.st_size : LOOK_BYTES;
    uint8_t *bytes = malloc(size + 1);
    if (!bytes)
        return fail_nomem(err);
    int code = read_whole(fd, bytes, size, 0);
    *found = code == 0 && (size == 0 || memmem(bytes, size, "APLB", 4) || memmem(bytes, size, "APLM", 4) ||
                           lmdb_is_cut(bytes, size, (uint64_t)st.st_size));
    free(bytes);
    return code ? fail_errno(err, code == WHOLE_ENDED ? EIO : code, "%s: cannot read " STORE_FILE, s->path)
                : APL_OK;
}

/* Other programs have files of that name too: those of LMDB, and Microsoft Access. What may not be read may be replaced, as the
 * directory is the user's. */
static apl_status check_ours(const struct staging *s, apl_error *err)
{
    bool found = true;
    int fd = openat(s->fd, STORE_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == EACCES
                   ? APL_OK
                   : fail_errno(err, errno, "%s: cannot open " STORE_FILE, s->path);
    apl_status status = find_mark(s, fd, &found, err);
    close(fd);
    TRY(status);
    return found ? APL_OK
                 : fail(err, APL_E_INVALID,
                        "%s: " STORE_FILE
                        " is not an APL store's, and is not replaced: remove it if nobody needs it",
                        s->path);
}

static apl_status lock(struct staging *s, int replace, apl_error *err)
{
    if (flock(s->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return fail_errno(err, errno, "%s: cannot lock the directory", s->path);
        s->made = false; /* it is the other one's now */
        return fail(err, APL_E_BUSY, "%s: another writer is at work on this store", s->path);
    }
    s->locked = true;
    apl_status status = check_no_set(s, err);
    if (status != APL_OK)
        return fail_in(err, status, "%s", s->path);
    if (!may_replace(s->fd, STORE_FILE))
        return fail(err, APL_E_INVALID, "%s: " STORE_FILE " is not a regular file, and is not replaced",
                    s->path);
    TRY(check_ours(s, err));
    if (!replace && faccessat(s->fd, STORE_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return fail(err, APL_E_EXISTS, "%s: a store exists already", s->path);
    if (faccessat(s->fd, ".", W_OK, 0) != 0)
        return fail_errno(err, errno, "%s: cannot write in the directory", s->path);
    temporary_clear(s->fd);
    return APL_OK;
}

apl_status staging_open(const char *path, int replace, struct staging **staging, apl_error *err)
{
    if (!path || !*path)
        return fail(err, APL_E_INVALID, "a store needs a path");
    struct staging *s = calloc(1, sizeof *s);
    size_t size = strlen(path) * 4 + 1, temporary_size = strlen(path) + 1 + TEMPORARY_BYTES;
    if (!s)
        return fail_nomem(err);
    s->fd = s->file = -1;
    s->path = malloc(size);
    s->temporary = malloc(temporary_size);
    apl_status status = s->path && s->temporary ? APL_OK : fail_nomem(err);
    if (status == APL_OK) {
        printable(s->path, size, path, strlen(path));
        s->name = s->temporary + snprintf(s->temporary, temporary_size, "%s/", path);
        snprintf(s->name, TEMPORARY_BYTES, ".tmp-" STORE_FILE);
        status = make_directory(s, path, err);
    }
    if (status == APL_OK)
        status = lock(s, replace, err);
    if (status != APL_OK)
        staging_close(s);
    else
        *staging = s;
    return status;
}

apl_status staging_create(struct staging *s, int *fd, apl_error *err)
{
    s->file = *fd = temporary_create(s->fd, STORE_FILE, s->name);
    return s->file < 0 ? fail_errno(err, errno, "%s: cannot create the file", s->path) : APL_OK;
}

const char *staging_temporary(const struct staging *s)
{
    return s->temporary;
}

apl_status staging_scratch(struct staging *s, int *fd, apl_error *err)
{
    char name[TEMPORARY_BYTES];
    *fd = temporary_create(s->fd, "piles", name);
    if (*fd < 0)
        return fail_errno(err, errno, "%s: cannot create a scratch file", s->path);
    unlinkat(s->fd, name, 0);
    return APL_OK;
}

static apl_status sync_file(const struct staging *s, apl_error *err)
{
    struct stat is, named;
    if (temporary_finish(s->file) != 0)
        return fail_errno(err, errno, "cannot sync the new store");
    if (fstat(s->file, &is) != 0 || fstatat(s->fd, s->name, &named, AT_SYMLINK_NOFOLLOW) != 0)
        return fail_errno(err, errno, "cannot examine the new store");
    return is.st_dev == named.st_dev && is.st_ino == named.st_ino
               ? APL_OK
               : fail(err, APL_E_IO, "somebody has replaced the new store while it was written");
}

/* A directory that is new is an entry of its parent, without which a power cut would take it with all that is in
 * it. Of a parent that may not be read, that is left to the file system. */
static apl_status sync_parent(const struct staging *s, apl_error *err)
{
    int fd = openat(s->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        return APL_OK;
    apl_status status = APL_OK;
    if (fd < 0 || fsync(fd) != 0)
        status = fail_errno(err, errno, "cannot sync the directory above it");
    if (fd >= 0)
        close(fd);
    return status;
}

apl_status staging_publish(struct staging *s, apl_error *err)
{
    TRY(sync_file(s, err));
    TRY(check_no_set(s, err)); /* they may have come since */
    if (s->made)
        TRY(sync_parent(s, err));
    if (!may_replace(s->fd, STORE_FILE))
        return fail(err, APL_E_IO, STORE_FILE " is no longer a regular file, and is not replaced");
    if (renameat(s->fd, s->name, s->fd, STORE_FILE) != 0)
        return fail_errno(err, errno, "cannot put the new store in its place");
    s->published = true;
    if (fsync(s->fd) != 0)
        return fail_errno(
            err, errno,
            "the new store is in its place, but a power cut may undo that: cannot sync the directory");
    flock(s->fd, LOCK_UN); /* others need not wait until it is closed */
    return APL_OK;
}

void staging_close(struct staging *s)
{
    if (!s)
        return;
    if (s->file >= 0 && !s->published)
        unlinkat(s->fd, s->name, 0);
    if (s->made && !s->published) {
        /* The path of the temporary file without its last part is that of the directory. */
        *strrchr(s->temporary, '/') = 0;
        rmdir(s->temporary);
    }
    if (s->file >= 0)
        close(s->file);
    if (s->fd >= 0)
        close(s->fd);
    free(s->path);
    free(s->temporary);
    free(s);
}
