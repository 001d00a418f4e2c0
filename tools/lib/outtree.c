/* A folder that appears whole or not at all: see outtree.h. */
#include "outtree.h"

#include "args.h"
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEVELS     24u
#define PART_LONG  255u
#define PATH_LONG  3500u
#define ATTEMPTS   100u
#define OPEN_BELOW (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

bool outtree_path_is_safe(const char *path)
{
    unsigned parts = 0;
    if (strlen(path) > PATH_LONG)
        return false;
    for (;; path++) {
        size_t length = strcspn(path, "/");
        if (length == 0 || length > PART_LONG || *path == '.' || ++parts > LEVELS)
            return false;
        path += length;
        if (!*path)
            return true;
    }
}

/* ".tmp-PID-NUMBER-d0" beside the folder. */
static int make_temporary(struct outtree *tree, size_t number)
{
    const char *slash = strrchr(tree->path, '/');
    int folder = slash ? (int)(slash - tree->path) + 1 : 0;
    size_t size = (size_t)folder + 80;
    tree->temporary = malloc(size);
    if (!tree->temporary)
        return failed("out of memory");
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        snprintf(tree->temporary, size, "%.*s.tmp-%ld-%zu-d%u", folder, tree->path, (long)getpid(), number,
                 attempt);
        if (mkdir(tree->temporary, 0777) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    int status = failed_errno(errno, "%s: cannot be made", shown(tree->path));
    free(tree->temporary);
    tree->temporary = NULL;
    return status;
}

int outtree_open(struct outtree *tree, const char *path, size_t number)
{
    struct stat st;
    *tree = (struct outtree){.path = strdup(path), .fd = -1};
    if (!tree->path)
        return failed("out of memory");
    if (lstat(path, &st) == 0)
        return failed("%s: exists, and folders are not replaced", shown(path));
    return make_temporary(tree, number);
}

void outtree_rest(struct outtree *tree)
{
    if (tree->fd >= 0)
        close(tree->fd);
    tree->fd = -1;
}

/* The folders that a file lies in; false with errno set. */
static bool make_folders(const struct outtree *tree, const char *name)
{
    char part[PATH_LONG + 1];
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t length = (size_t)(slash - name);
        if (length >= sizeof part)
            return errno = ENAMETOOLONG, false;
        memcpy(part, name, length);
        part[length] = 0;
        if (mkdirat(tree->fd, part, 0777) != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

static int create(const struct outtree *tree, const char *name)
{
    return openat(tree->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

bool write_all(int fd, const void *data, size_t size)
{
    for (const uint8_t *at = data; size;) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return true;
}

int outtree_put(struct outtree *tree, const char *name, const void *data, size_t size, const char *twice)
{
    if (tree->fd < 0 && (tree->fd = open(tree->temporary, OPEN_BELOW)) < 0)
        return failed_errno(errno, "%s: cannot be opened", shown(tree->temporary));
    int fd = create(tree, name);
    if (fd < 0 && errno == ENOENT && make_folders(tree, name))
        fd = create(tree, name);
    if (fd < 0 && (errno == EEXIST || errno == ENOTDIR || errno == EISDIR))
        return failed("%s/%s: %s", shown(tree->path), shown(name), twice);
    bool written = fd >= 0 && write_all(fd, data, size);
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && written) {
        written = false; /* some file systems report only now that they are full */
        error = errno;
    }
    return written ? 0 : failed_errno(error, "%s/%s", shown(tree->path), shown(name));
}

int outtree_commit(struct outtree *tree)
{
    outtree_rest(tree);
    if (rename(tree->temporary, tree->path) !=
        0) /* never onto a file, nor onto a folder that holds something */
        return failed_errno(errno, "%s: cannot be put in its place", shown(tree->path));
    free(tree->temporary);
    tree->temporary = NULL;
    return 0;
}

static bool is_itself_or_parent(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Removes what is in the folder `fd`, which is closed; links are removed, not followed. */
static void remove_below(int fd) /* NOLINT(misc-no-recursion): at most LEVELS deep */
{
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0)
        close(fd);
    for (bool removed = dir != NULL; removed;) {
        removed = false;
        rewinddir(dir);
        for (const struct dirent *entry; (entry = readdir(dir));) {
            if (is_itself_or_parent(entry->d_name))
                continue;
            if (unlinkat(fd, entry->d_name, 0) != 0) {
                remove_below(openat(fd, entry->d_name, OPEN_BELOW));
                if (unlinkat(fd, entry->d_name, AT_REMOVEDIR) != 0)
                    continue;
            }
            removed = true;
        }
    }
    if (dir)
        closedir(dir);
}

void outtree_remove(const char *path)
{
    remove_below(open(path, OPEN_BELOW));
    rmdir(path);
}

void outtree_close(struct outtree *tree)
{
    outtree_rest(tree);
    if (tree->temporary)
        outtree_remove(tree->temporary);
    free(tree->temporary);
    free(tree->path);
    *tree = (struct outtree){.fd = -1};
}

void outtree_take_back(const struct outtree *tree)
{
    outtree_remove(tree->path);
}
