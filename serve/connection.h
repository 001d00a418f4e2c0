/* The connection of a client to its server, and the batches that it has yet to give back. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "wire.h"

#include <pthread.h>
#include <stdbool.h>

/* It stays as long as its reader, or any batch. */
struct link {
    int pid;
    pthread_mutex_t lock; /* of what follows, but for what never changes */
    unsigned holders;
    bool closed; /* the reader is */
    int fd;
    bool writable;
    const uint8_t *base; /* the memory that is lent */
    uint64_t bytes;
    uint64_t *returned; /* tokens that the server does not know of yet */
    size_t count, room;
    uint64_t taken, told;  /* the last token that the caller has got; that the server knows of */
    unsigned lent;         /* to the caller */
    struct received *held; /* all batches that have not been given back */
};

void link_drop(struct link *l);

/* Tells the server of batches that are given back, with a message of this type, all that fit into it. APL_E_IO: not now. */
apl_status link_say(struct link *l, enum wire_type type, apl_error *err);

/* The caller gets the batch of this token. */
void link_take(struct link *l, uint64_t token);

/* Gives a batch back that has not been received. */
void link_return(struct link *l, uint64_t token);

/* Gives a batch back, with the lock held. Where there is no memory to remember the token, the server has it back when the connection ends. */
void link_give_back(struct link *l, uint64_t token);

#endif
