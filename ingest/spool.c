/* By O_TMPFILE, or where a file system lacks that, a file whose name is taken away at once: see spool.h. */
#define _GNU_SOURCE
#include "spool.h"

#include "found_file.h"
#include "input.h"
#include "rawfile.h"
#include "shown.h"
#include "zipfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_named(const char *db, size_t folder)
{
    size_t size = folder + sizeof ".aplingest-XXXXXX";
    char *path = malloc(size);
    if (!path)
        return -1;
    snprintf(path, size, "%.*s.aplingest-XXXXXX", (int)folder, db);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

apl_status spool_open(const char *db, int *fd, apl_error *err)
{
    size_t length = strlen(db);
    while (length > 1 && db[length - 1] == '/')
        length--;
    while (length > 0 && db[length - 1] != '/')
        length--;
    char *folder = length ? strndup(db, length) : strdup(".");
    if (!folder)
        return fail_nomem(err);
    *fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*fd < 0 && errno != ENOENT && errno != EACCES && errno != ENOSPC)
        *fd = open_named(db, length);
    free(folder);
    return *fd >= 0 ? APL_OK : fail_errno(err, errno, "%s: no temporary file can be made beside it", db);
}

/* --------------------------------------------------------------------------------------------------- standard input */

#define DESCRIPTORS "/proc/self/fd"
#define COPY_BYTES  ((size_t)256 << 10)

void spool_close(struct spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}

/* Whom to ask whether to go on. */
struct asker {
    int (*poll)(void *user);
    void *user;
};

static bool is_stopped(void *user)
{
    const struct asker *a = user;
    return a->poll && a->poll(a->user) != 0;
}

/* NULs alone, of which there may be any number, are an empty tar. */
static bool is_archive(const uint8_t *head, size_t size)
{
    bool empty = size > 0 && head[0] == 0 && memcmp(head, head + 1, size - 1) == 0;
    return input_is_packed(head, size) || (is_tar(head, size) && !empty) || zipfile_is(head, size);
}

static apl_status write_all(int fd, const uint8_t *data, size_t size, apl_error *err)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_errno(err, errno, "standard input: cannot be copied beside the store");
        data += n;
        size -= (size_t)n;
    }
    return APL_OK;
}

/* As many bytes as there is room for, unless it ends before. */
static apl_status read_full(struct rawfile *file, uint8_t *data, size_t *size, apl_error *err)
{
    size_t got = 1;
    *size = 0;
    while (got > 0 && *size < COPY_BYTES) {
        TRY(rawfile_read(file, data + *size, COPY_BYTES - *size, &got, err));
        *size += got;
    }
    return APL_OK;
}

static apl_status copy_input(struct rawfile *file, int fd, uint8_t *data, apl_error *err)
{
    size_t size = COPY_BYTES;
    for (bool first = true; size == COPY_BYTES; first = false) {
        TRY(read_full(file, data, &size, err));
        TRY(write_all(fd, data, size, err));
        if (first && !is_archive(data, size))
            return APL_OK;
    }
    return APL_OK;
}

/* A file that was given as standard input can be read where it lies. */
static bool is_file_at_start(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0 &&
           access(DESCRIPTORS "/0", R_OK) == 0;
}

apl_status spool_standard_input(const char *db, int (*poll)(void *user), void *user, struct spool *spool,
                                const char **path, apl_error *err)
{
    struct asker asker = {poll, user};
    struct rawfile file = {
        .fd = STDIN_FILENO, .name = "standard input", .waits = true, .stopped = is_stopped, .user = &asker};
    *path = "-";
    spool->fd = -1;
    if (access(DESCRIPTORS, X_OK) != 0 || fcntl(STDIN_FILENO, F_GETFD) < 0)
        return APL_OK;
    int fd = STDIN_FILENO;
    if (!is_file_at_start(fd)) {
        uint8_t *data = malloc(COPY_BYTES);
        TRY(data ? APL_OK : fail_nomem(err));
        apl_status status = spool_open(db, &spool->fd, err);
        if (status == APL_OK)
            status = copy_input(&file, spool->fd, data, err);
        free(data);
        if (status == APL_E_CANCELLED)
            return fail(err, status, "standard input: cancelled");
        TRY(status);
        fd = spool->fd;
    }
    snprintf(spool->path, sizeof spool->path, SPOOL_PATH "%d", fd);
    *path = spool->path;
    return APL_OK;
}
