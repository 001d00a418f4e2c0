/* From what a server says of a batch to the batch, with nothing of it believed. */
#ifndef RECEIVE_H
#define RECEIVE_H

#include "connection.h"

#include "pool.h"

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

/* Ends the connection, and with it the rank. Batches that are held are copied to where they are, since the server then takes its memory
 * back; where there is no memory for that, the connection ends with the last of them. */
void link_leave(struct link *l);

#endif
