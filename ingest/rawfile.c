/* Reading a descriptor: EINTR, waiting that can be stopped, hash and count. */
#include "rawfile.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MILLISECONDS 50 /* until it is asked again whether to stop */

/* Waits until a read would not block, or some time has passed. */
static bool ready(const struct rawfile *file)
{
    if (!file->waits || file->head_left > 0)
        return true;
    struct pollfd p = {.fd = file->fd, .events = POLLIN};
    int n = poll(&p, 1, WAIT_MILLISECONDS);
    return n > 0 || (n < 0 && errno != EINTR); /* what is wrong with the descriptor, read() will tell */
}

/* What was read before; else what is there now, which may be interrupted. */
static ssize_t read_some(struct rawfile *file, uint8_t *data, size_t room)
{
    if (file->head_left == 0)
        return read(file->fd, data, room);
    size_t n = room < file->head_left ? room : file->head_left;
    memcpy(data, file->head, n);
    file->head += n;
    file->head_left -= n;
    return (ssize_t)n;
}

apl_status rawfile_read(struct rawfile *file, uint8_t *data, size_t room, size_t *got, apl_error *err)
{
    uint64_t taken = atomic_load_explicit(&file->taken, memory_order_relaxed);
    for (;;) {
        if (file->stopped(file->user))
            return fail(err, APL_E_CANCELLED, "%s: stopped", file->name);
        if (!ready(file))
            continue;
        ssize_t n = read_some(file, data, room);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return fail_errno(err, errno, "%s: byte %" PRIu64 ": cannot be read", file->name, taken);
        if (n > 0)
            hasher_add(file->sha, data, (size_t)n);
        atomic_store_explicit(&file->taken, taken + (uint64_t)n, memory_order_relaxed);
        *got = (size_t)n;
        return APL_OK;
    }
}
