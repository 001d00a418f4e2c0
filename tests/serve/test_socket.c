/* Messages between a server and its clients, where one of them ends. */
#include "socket.h"

#include <criterion/criterion.h>

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
