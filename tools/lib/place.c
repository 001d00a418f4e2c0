/* Where an output path leads: see place.h. */
#define _DEFAULT_SOURCE /* readlink */
#include "place.h"

#include "args.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as many as Linux follows */

/* "/a" of "/a/b", "/" of "/a", "." of "a"; NULL: out of memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + (slash == path)) : strdup(".");
}

/* Entries of /proc such as /proc/self/fd/1 look like links, but are the open files themselves. */
static bool is_open_file(const char *folder)
{
    struct statfs fs;
    return statfs(folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* A link that somebody else has put where anybody can put one, so that something else is overwritten. (Linux
 * itself follows none of these, unless configured to.) */
static bool is_planted(const struct stat *link, const char *folder)
{
    struct stat parent;
    if (link->st_uid == geteuid())
        return false;
    return stat(folder, &parent) != 0 || (parent.st_mode & S_IWOTH && link->st_uid != parent.st_uid);
}

/* The target of a link, relative to the link's folder; NULL with errno set. */
static char *read_link(const char *path, const char *folder)
{
    char text[PATH_MAX];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return NULL;
    text[length] = 0;
    size_t size = strlen(folder) + (size_t)length + 2;
    char *target = malloc(size);
    if (target)
        snprintf(target, size, "%s%s%s", text[0] == '/' ? "" : folder, text[0] == '/' ? "" : "/", text);
    return target;
}

/* Follows one link; *at_end: the path has no more. */
static int follow_one(char **path, bool *exists, bool *at_end)
{
    struct stat st;
    *at_end = true;
    if (lstat(*path, &st) != 0)
        return errno == ENOENT ? 0 : failed_errno(errno, "%s", shown(*path));
    *exists = true;
    if (!S_ISLNK(st.st_mode))
        return 0;
    char *folder = folder_of(*path), *next = NULL;
    int status = folder ? 0 : failed("out of memory");
    if (!status && is_open_file(folder)) {
        free(folder);
        return 0;
    }
    if (!status && is_planted(&st, folder))
        status = failed("%s: is a symbolic link of another user, where anybody may make one", shown(*path));
    if (!status && !(next = read_link(*path, folder)))
        status = failed_errno(errno, "%s", shown(*path));
    free(folder);
    if (status)
        return status;
    free(*path);
    *path = next;
    *at_end = false;
    return 0;
}

static int follow(struct place *place, const char *path)
{
    bool at_end = false;
    for (unsigned links = 0; links <= LINKS_MAX; links++) {
        int status = follow_one(&place->path, &place->exists, &at_end);
        if (status || at_end)
            return status;
    }
    return failed_errno(ELOOP, "%s", shown(path));
}

/* A descriptor of our own is taken as it is, with its place in the file; otherwise a shell's ">>" would come to
 * nothing. */
static int own_descriptor(const char *path, const struct stat *wanted)
{
    struct stat st;
    uint64_t number;
    const char *slash = strrchr(path, '/');
    if (!slash || !parse_number(slash + 1, 0, INT_MAX, &number) || fstat((int)number, &st) != 0 ||
        st.st_dev != wanted->st_dev || st.st_ino != wanted->st_ino)
        return -1;
    return fcntl((int)number, F_DUPFD_CLOEXEC, 3);
}

/* Opens a device, FIFO or already open file for writing. */
static int open_into(struct place *place, const struct stat *st, const char *path)
{
    struct stat opened;
    fflush(stdout); /* earlier output comes first, if it goes there too */
    place->fd = own_descriptor(place->path, st);
    if (place->fd < 0)
        place->fd = open(place->path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
    if (place->fd < 0 || fstat(place->fd, &opened) != 0)
        return failed_errno(errno, "%s: cannot be written into", shown(path));
    if (opened.st_dev != st->st_dev || opened.st_ino != st->st_ino)
        return failed("%s: somebody has replaced it meanwhile", shown(path));
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error like any other */
    return 0;
}

/* Is there a file of that name beside the path's? */
static bool is_beside(const char *path, size_t folder, const char *name)
{
    char other[PATH_MAX];
    int n = snprintf(other, sizeof other, "%.*s%s", (int)folder, path, name);
    return n > 0 && (size_t)n < sizeof other && access(other, F_OK) == 0;
}

/* Links have been followed: only a store, or a set, has files of these names, and named splits beside them. */
static bool is_of_store(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *suffix = strrchr(name, '.');
    if (strcmp(name, "data.mdb") == 0 || strcmp(name, "set.apl") == 0)
        return true;
    size_t folder = (size_t)(name - path);
    return suffix && (strcmp(suffix, ".split") == 0 || strncmp(suffix, ".split-", 7) == 0) &&
           (is_beside(path, folder, "data.mdb") || is_beside(path, folder, "set.apl"));
}

static int find(const char *path, struct place *place)
{
    struct stat link, st;
    if (!place->path)
        return failed("out of memory");
    int status = follow(place, path);
    if (status || lstat(place->path, &link) != 0)
        return status;
    if (S_ISREG(link.st_mode))
        return is_of_store(place->path) ? failed("%s: is part of a store, and would be lost", shown(path))
                                        : 0;
    if (stat(place->path, &st) != 0)
        return failed_errno(errno, "%s", shown(path));
    return S_ISDIR(st.st_mode) ? failed("%s: is a directory", shown(path)) : open_into(place, &st, path);
}

int place_find(const char *path, struct place *place)
{
    *place = (struct place){.path = strdup(path), .fd = -1};
    int status = find(path, place);
    if (!status)
        return 0;
    if (place->fd >= 0)
        close(place->fd);
    free(place->path);
    return status;
}

int place_check(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0 || S_ISREG(st.st_mode))
        return 0;
    return failed("%s: has become something other than a regular file meanwhile", shown(path));
}
