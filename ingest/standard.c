/* The head of standard input, in memory and in a file without a name: see standard.h. */
#include "standard.h"

#include "found_file.h"
#include "input.h"
#include "rawfile.h"
#include "shown.h"
#include "spool.h"
#include "zipfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTORS "/proc/self/fd"
#define HEAD_BYTES  ((size_t)256 << 10)
#define HEAD_LARGE  ((size_t)1 << 20) /* bzip2 gives nothing until it has a block of up to 900 KB */

static bool is_stopped(void *user)
{
    const struct standard *s = user;
    return s->poll && s->poll(s->user) != 0;
}

static struct rawfile raw_input(struct standard *s)
{
    return (struct rawfile){
        .fd = STDIN_FILENO, .name = "standard input", .waits = true, .stopped = is_stopped, .user = s};
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
static apl_status read_full(struct standard *s, uint8_t *data, size_t room, size_t *size, apl_error *err)
{
    struct rawfile file = raw_input(s);
    size_t got = 1;
    *size = 0;
    while (got > 0 && *size < room) {
        apl_status status = rawfile_read(&file, data + *size, room - *size, &got, err);
        if (status == APL_E_CANCELLED)
            return fail(err, status, "standard input: cancelled");
        TRY(status);
        *size += got;
    }
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------- the head */

/* Reads on until there are `size` bytes of it, or it has ended. */
static apl_status fill_head(struct standard *s, size_t size, apl_error *err)
{
    size_t got;
    uint8_t *head = realloc(s->head, size);
    if (!head)
        return fail_nomem(err);
    s->head = head;
    TRY(read_full(s, s->head + s->size, size - s->size, &got, err));
    TRY(write_all(s->fd, s->head + s->size, got, err));
    s->size += got;
    s->whole = s->size < size;
    return APL_OK;
}

/* What the head of something packed begins with, unpacked. None: it is broken, or more is needed. */
static apl_status unpack_head(const struct standard *s, uint8_t **data, size_t *size, apl_error *err)
{
    struct input *input;
    const uint8_t *first;
    const struct input_options options = {.name = "standard input", .archive = true};
    *size = 0;
    int fd = open(s->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, errno, "standard input: its copy cannot be opened");
    TRY(input_open(fd, &options, &input, err));
    apl_status status = APL_OK;
    if (input_next(input, &first, size, NULL) != APL_OK)
        *size = 0;
    else if (!(*data = malloc(*size)))
        status = fail_nomem(err);
    else
        memcpy(*data, first, *size);
    input_close(input);
    return status;
}

/* NULs alone, of which there may be any number, are an empty tar. */
static bool is_archive(const uint8_t *head, size_t size)
{
    bool empty = size > 0 && head[0] == 0 && memcmp(head, head + 1, size - 1) == 0;
    return is_tar(head, size) && !empty;
}

/* Nobody waits for the end of NULs. */
static apl_status refuse_empty(const struct standard *s, const uint8_t *head, size_t size, apl_error *err)
{
    return s->whole || !is_tar(head, size)
               ? APL_OK
               : fail(err, APL_E_SOURCE,
                      "standard input: begins with nothing but NUL bytes, and is not an archive");
}

/* Something packed from which nothing comes may be an archive. */
static apl_status judge_packed(struct standard *s, apl_error *err)
{
    uint8_t *data = NULL;
    size_t size;
    apl_status status = unpack_head(s, &data, &size, err);
    if (status == APL_OK && size == 0 && !s->whole && s->size < HEAD_LARGE) {
        status = fill_head(s, HEAD_LARGE, err);
        if (status == APL_OK)
            status = unpack_head(s, &data, &size, err);
    }
    s->archive = size == 0 || is_archive(data, size);
    if (status == APL_OK && !s->archive)
        status = refuse_empty(s, data, size, err);
    free(data);
    return status;
}

static apl_status judge_head(struct standard *s, apl_error *err)
{
    if (input_is_packed(s->head, s->size))
        return judge_packed(s, err);
    s->archive = is_archive(s->head, s->size) || zipfile_is(s->head, s->size);
    return s->archive ? APL_OK : refuse_empty(s, s->head, s->size, err);
}

/* ------------------------------------------------------------------------------------------------ opening and copying */

/* A file that was given as standard input can be read where it lies. */
static bool is_file_at_start(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0 &&
           access(DESCRIPTORS "/0", R_OK) == 0;
}

apl_status standard_open(const char *db, int (*poll)(void *user), void *user, struct standard *s,
                         apl_error *err)
{
    *s = (struct standard){.fd = -1, .poll = poll, .user = user};
    if (access(DESCRIPTORS, X_OK) != 0 || fcntl(STDIN_FILENO, F_GETFD) < 0)
        return APL_OK;
    s->whole = is_file_at_start(STDIN_FILENO);
    if (!s->whole)
        TRY(spool_open(db, &s->fd, err));
    snprintf(s->path, sizeof s->path, SPOOL_PATH "%d", s->whole ? STDIN_FILENO : s->fd);
    if (s->whole)
        return APL_OK;
    TRY(fill_head(s, HEAD_BYTES, err));
    return judge_head(s, err);
}

apl_status standard_copy(struct standard *s, apl_error *err)
{
    size_t size = HEAD_BYTES;
    while (size == HEAD_BYTES) {
        TRY(read_full(s, s->head, HEAD_BYTES, &size, err));
        TRY(write_all(s->fd, s->head, size, err));
    }
    s->whole = true;
    return APL_OK;
}

void standard_close(struct standard *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    free(s->head);
    s->head = NULL;
}
