/* The process at the other end of a socket: has it died, though a child of it still holds the socket? */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>

/*
 * Kernels before 5.3, and sandboxes that allow too little, have no descriptor that tells of a process's end. There the process is looked
 * at in /proc. Where neither works (the process is of another PID namespace, or there is no /proc), it is taken to live as long
 * as its socket does.
 */
struct peer {
    int process; /* its number; -1: it is not known */
    int fd;      /* -1: none */
    bool told;   /* fd becomes readable when it has died; else its state can be read there */
};

struct peer peer_open(int socket);
void peer_close(struct peer *peer);

/* A descriptor to poll; -1: ask peer_has_died(). */
int peer_polled(const struct peer *peer);

/* Looks; false where peer_polled() reports it. */
bool peer_has_died(const struct peer *peer);

#endif
