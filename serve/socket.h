/* UNIX sockets of kind SOCK_SEQPACKET: listening, connecting, and who is at the other end. */
#ifndef SOCKET_H
#define SOCKET_H

#include "wire.h"

#include <stdbool.h>
#include <sys/types.h>

/* A socket that listens at a path of the file system, and the lock that keeps others from it: a file beside it. */
struct listening {
    int fd, lock;
    dev_t device; /* of the socket's name */
    ino_t inode;
    char path[108], lock_path[128];
};

/* Listens, for this user alone. A socket that nobody listens to, which a server that was killed has left, is replaced. APL_E_BUSY: another
 * server listens there; APL_E_EXISTS: something else has that name. Sockets do not wait. */
apl_status socket_listen(const char *path, struct listening *l, apl_error *err);
void socket_unlisten(struct listening *l);

/* The next who connects, of this user; *fd is -1 where nobody does. */
apl_status socket_accept(const struct listening *l, int *fd, apl_error *err);

/* Connects, for up to `wait_ms` where nobody listens yet, to a server of this user. */
apl_status socket_connect(const char *path, unsigned wait_ms, int *fd, apl_error *err);

/* Sends a message whole, with a descriptor beside it (-1: none), without waiting. */
apl_status socket_send(int fd, const struct wire_header *message, int passed, apl_error *err);

/* Has the other end closed it? */
bool socket_is_gone(int fd);

/* Receives a message and checks it; *passed: the descriptor that came with it, the caller's, or -1. APL_E_TIMEOUT: none has come yet;
 * APL_END: the other end is closed. */
apl_status socket_receive(int fd, union wire_any *message, int *passed, apl_error *err);

#endif
