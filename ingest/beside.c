/* Files that a list names: see beside.h. */
#include "beside.h"

#include "shown.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define FILE_FLAGS \
    (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) /* not waiting for the other end of a pipe */

apl_status beside_open(struct beside *b, const char *list, apl_error *err)
{
    const char *slash = strrchr(list, '/');
    char *folder = slash ? strndup(list, (size_t)(slash - list) + 1) : strdup(".");
    *b = (struct beside)BESIDE_INIT;
    if (!folder)
        return fail_nomem(err);
    b->folder = open(folder, FOLDER_FLAGS);
    free(folder);
    return b->folder < 0 ? fail_errno(err, errno, "its folder cannot be opened") : APL_OK;
}

static void forget_last(struct beside *b)
{
    if (b->last >= 0)
        close(b->last);
    free(b->path);
    b->last = -1;
    b->path = NULL;
}

void beside_close(struct beside *b)
{
    forget_last(b);
    if (b->folder >= 0)
        close(b->folder);
    b->folder = -1;
}

static bool leads_out(const char *path)
{
    if (*path == '/')
        return true;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == 0 || part[2] == '/'))
            return true;
    }
    return false;
}

static apl_status cannot_open(apl_error *err)
{
    if (errno == ELOOP)
        return fail(err, APL_E_SOURCE,
                    "there is a symbolic link on the way, which is not followed" FOLLOW_LINKS);
    return fail_errno(err, errno, "cannot be opened");
}

/* Steps down from the folder *fd into the next part of the path, which is `length` bytes long. */
static apl_status step(int *fd, const char *part, size_t length, apl_error *err)
{
    char name[256];
    if (length >= sizeof name)
        return fail(err, APL_E_SOURCE, "has a part of more than 255 bytes");
    memcpy(name, part, length);
    name[length] = 0;
    int next = openat(*fd, name, FOLDER_FLAGS | O_NOFOLLOW);
    if (next < 0 && errno == ENOTDIR)
        errno = ELOOP; /* of a link this is what it says, and of a file it will do */
    if (next < 0)
        return cannot_open(err);
    close(*fd);
    *fd = next;
    return APL_OK;
}

/* Opens the folder that the path's first `length` bytes lead to. */
static apl_status go_to(struct beside *b, const char *path, size_t length, apl_error *err)
{
    if (b->last >= 0 && b->length == length && memcmp(b->path, path, length) == 0)
        return APL_OK;
    forget_last(b);
    int fd = openat(b->folder, ".", FOLDER_FLAGS);
    if (fd < 0)
        return cannot_open(err);
    apl_status status = APL_OK;
    for (size_t at = 0; at < length && status == APL_OK;) {
        size_t part = 0;
        while (at + part < length && path[at + part] != '/')
            part++;
        if (part > 0 && !(part == 1 && path[at] == '.'))
            status = step(&fd, path + at, part, err);
        at += part + 1;
    }
    if (status == APL_OK && !(b->path = strndup(path, length)))
        status = fail_nomem(err);
    if (status != APL_OK) {
        close(fd);
        return status;
    }
    b->last = fd;
    b->length = length;
    return APL_OK;
}

static apl_status open_beside(struct beside *b, const char *path, struct beside_rules rules, int *fd,
                              apl_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (!rules.outside && leads_out(path))
        return fail(err, APL_E_SOURCE, "leads out of the folder of the list; --outside allows that");
    if (rules.outside || rules.follow)
        *fd = openat(b->folder, path, FILE_FLAGS);
    else {
        TRY(go_to(b, path, slash ? (size_t)(slash - path) : 0, err));
        *fd = openat(b->last, name, FILE_FLAGS | O_NOFOLLOW);
    }
    return *fd < 0 ? cannot_open(err) : APL_OK;
}

static apl_status read_all(int fd, uint64_t size, struct buffer *bytes, apl_error *err)
{
    bytes->size = 0;
    if (!buffer_reserve(bytes, (size_t)size + 1))
        return fail_nomem(err);
    while (bytes->size <= size) {
        ssize_t n = read(fd, bytes->data + bytes->size, (size_t)size + 1 - bytes->size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(err, errno, "cannot be read");
        if (n == 0)
            break;
        bytes->size += (size_t)n;
    }
    return bytes->size == size ? APL_OK : fail(err, APL_E_SOURCE, "changed while it was read");
}

apl_status beside_read(struct beside *b, const char *path, struct beside_rules rules, struct buffer *bytes,
                       apl_error *err)
{
    struct stat st;
    int fd = -1;
    if (!*path)
        return fail(err, APL_E_SOURCE, "the path is empty");
    TRY(open_beside(b, path, rules, &fd, err));
    apl_status status = APL_OK;
    if (fstat(fd, &st) != 0)
        status = fail_errno(err, errno, "cannot be examined");
    else if (!S_ISREG(st.st_mode))
        status = fail(err, APL_E_SOURCE, "is not a regular file");
    else if ((uint64_t)st.st_size > APL_MAX_VALUE)
        status = fail(err, APL_E_SOURCE, "has %" PRIu64 " bytes, more than the %u of a value",
                      (uint64_t)st.st_size, APL_MAX_VALUE);
    else
        status = read_all(fd, (uint64_t)st.st_size, bytes, err);
    close(fd);
    return status;
}
