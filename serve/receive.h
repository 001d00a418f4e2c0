/* From what a server says of a batch to the batch, with nothing of it believed. */
#ifndef RECEIVE_H
#define RECEIVE_H

#include "wire.h"

#include "pool.h"

#include <pthread.h>
#include <stdbool.h>

/* The connection of a client: it stays as long as its reader, or any batch. */
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

/* Ends the connection, and with it the rank. Batches that are held are copied to where they are, since the server then takes its memory
 * back; where there is no memory for that, the connection ends with the last of them. */
void link_leave(struct link *l);

/* Gives a batch back that has not been received. */
void link_return(struct link *l, uint64_t token);

/* A batch that was received. It comes first: the two are one to the caller. */
struct received {
    struct batch_buffer buffer;
    struct link *link;
    struct received *previous, *next; /* of those that are held */
    uint64_t token, end;
    void *arrays;
};

/* most: see the welcome, which has been checked. APL_E_INVALID: what the message says cannot be. */
apl_status receive_batch(struct link *l, const struct wire_welcome *welcome, const struct wire_batch *m,
                         struct received **batch, apl_error *err);

#endif
