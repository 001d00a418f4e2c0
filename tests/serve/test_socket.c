/* Messages between a server and its clients, where one of them ends. */
#include "socket.h"

#include <criterion/criterion.h>

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A client that ends without having read what it was sent: what it said before still comes, above all what its caller has got. */
Test(socket, what_was_said_before_the_end_is_heard)
{
    struct wire_tokens said = {.h = wire_header(WIRE_RELEASE, wire_tokens_size(0)), .taken = 7};
    struct wire_epoch unread = {.h = wire_header(WIRE_END, sizeof unread)};
    union wire_any heard;
    int end[2], passed;
    apl_error err;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, end), 0);
    cr_assert_eq(socket_send(end[0], &unread.h, -1, &err), APL_OK);
    cr_assert_eq(socket_send(end[1], &said.h, -1, &err), APL_OK);
    close(end[1]);
    cr_assert_eq(socket_receive(end[0], &heard, &passed, &err), APL_OK);
    cr_assert(heard.h.type == WIRE_RELEASE && heard.tokens.taken == 7);
    cr_assert_eq(socket_receive(end[0], &heard, &passed, &err), APL_END);
    cr_assert_eq(socket_receive(end[0], &heard, &passed, &err), APL_END);
    close(end[0]);
}

static unsigned open_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Sends `size` bytes with `count` descriptors beside them. */
static void send_with(int fd, const void *data, size_t size, unsigned count)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(32 * sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {(void *)(uintptr_t)data, size};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(count * sizeof(int));
        for (unsigned i = 0; i < count; i++)
            memcpy(CMSG_DATA(c) + i * sizeof(int), &(int){STDERR_FILENO}, sizeof(int));
    }
    cr_assert_eq(sendmsg(fd, &m, 0), (ssize_t)size);
}

/* What comes with a message is closed, whether or not anybody looks at that: else the other end could use up all that a process may open. */
Test(socket, descriptors_beside_any_message_are_closed)
{
    static const uint8_t bytes[sizeof(union wire_any) + 1];
    struct wire_epoch good = {.h = wire_header(WIRE_END, sizeof good)};
    const struct {
        const void *data;
        size_t size;
    } messages[] = {
        {bytes, 0}, {bytes, 1}, {bytes, sizeof good}, {&good, sizeof good}, {bytes, sizeof bytes},
    };
    int end[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, end), 0);
    unsigned before = open_descriptors();
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        for (unsigned count = 0; count <= 30; count++) {
            union wire_any heard;
            apl_error err;
            int passed = -2;
            send_with(end[1], messages[i].data, messages[i].size, count);
            apl_status status = socket_receive(end[0], &heard, &passed, &err);
            bool is_good = messages[i].data == &good && count <= 8;
            cr_assert_eq(status, is_good                               ? APL_OK
                                 : messages[i].size == 0 && count == 0 ? APL_END
                                                                       : APL_E_INVALID);
            cr_assert_eq(passed >= 0, is_good && count > 0);
            if (passed >= 0)
                close(passed);
            cr_assert_eq(open_descriptors(), before, "message %zu with %u", i, count);
        }
    close(end[0]);
    close(end[1]);
}

Test(socket, what_the_other_end_says_can_be_printed)
{
    struct wire_error said = {.h = wire_header(WIRE_ERROR, sizeof said), .status = APL_E_IO};
    union wire_any heard;
    int end[2], passed;
    apl_error err;
    memset(said.error.message, 0x9b, sizeof said.error.message);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, end), 0);
    cr_assert_eq(socket_send(end[1], &said.h, -1, &err), APL_OK);
    cr_assert_eq(socket_receive(end[0], &heard, &passed, &err), APL_OK);
    cr_assert(strncmp(heard.error.error.message, "\\x9b\\x9b", 8) == 0, "%s", heard.error.error.message);
    close(end[0]);
    close(end[1]);
}
