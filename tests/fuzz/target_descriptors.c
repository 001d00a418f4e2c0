/*
 * Messages of apldata serve, with descriptors beside them, over a pair of sockets. The input is a list of them: how many descriptors (5 bits)
 * and whether the message is received at once, or later (128), and whether its header is one that may be (64); then its size (2 bytes), and
 * its bytes, of which those that are lacking are zero. Whatever comes, no descriptor is left open, and a message that is taken is whole.
 */
#include "fuzz.h"
#include "socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 31

static unsigned open_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static bool send_beside(int to, const void *bytes, size_t size, unsigned count)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(count * sizeof(int));
        for (unsigned i = 0; i < count; i++)
            memcpy(CMSG_DATA(c) + i * sizeof to, &to, sizeof to);
    }
    return sendmsg(to, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

/* Receives what there is; false: the end, or none yet. */
static bool receive_one(int from)
{
    union wire_any m;
    apl_error err = {.message = ""};
    int passed = -2;
    apl_status status = socket_receive(from, &m, &passed, &err);
    MUST(status == APL_OK ? passed >= -1 && m.h.magic == WIRE_MAGIC && m.h.size <= sizeof m : passed == -1);
    MUST(passed < 0 || close(passed) == 0);
    if (status == APL_OK && m.h.type == WIRE_ERROR)
        MUST(memchr(m.error.error.message, 0, sizeof m.error.error.message));
    return status != APL_E_TIMEOUT && status != APL_END;
}

/* The next message of the input. */
static size_t take_message(struct cursor *c, union wire_any *m, uint8_t *bytes, size_t room, unsigned flags)
{
    size_t size = cursor_u16(c) % (room + 1), given = size < cursor_left(c) ? size : cursor_left(c);
    memset(bytes, 0, room);
    const uint8_t *from = cursor_take(c, given);
    if (given)
        memcpy(bytes, from, given);
    if (flags & 64 && size >= sizeof m->h) {
        memcpy(&m->h, bytes, sizeof m->h);
        m->h = wire_header((enum wire_type)m->h.type, size);
        memcpy(bytes, &m->h, sizeof m->h);
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[sizeof(union wire_any) + 64];
    union wire_any header;
    struct cursor c = cursor_over(data, size);
    unsigned before = open_descriptors();
    int end[2];
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, end) == 0);
    for (unsigned i = 0; cursor_left(&c) > 0 && i < 16; i++) {
        unsigned flags = cursor_u8(&c);
        size_t n = take_message(&c, &header, bytes, sizeof bytes, flags);
        if (!send_beside(end[1], bytes, n, flags & MOST_DESCRIPTORS))
            break;
        if (!(flags & 128))
            receive_one(end[0]);
    }
    close(end[1]); /* with messages that have not been received, and what is beside them */
    for (unsigned i = 0; i < 20 && receive_one(end[0]); i++)
        ;
    close(end[0]);
    MUST(open_descriptors() == before);
    return 0;
}
