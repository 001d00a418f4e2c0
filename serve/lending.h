/* Batches of a server's reader on loan to a client: where they lie in its memory, and what has not come back yet. */
#ifndef LENDING_H
#define LENDING_H

#include "region.h"
#include "wire.h"

struct batch_buffer;

/* A batch on loan, before and after which the epoch's position is `begin` and `end`, and the block of memory that its
 * arrays are in. */
struct loan {
    uint64_t token, begin, end;
    struct batch_buffer *batch;
    void *arrays;
    size_t bytes;
};

struct lending {
    struct region *region;
    struct loan *loans;
    size_t count, room;
    uint64_t last; /* token */
};

/* Lends a batch, before and after which the epoch's position is `begin` and `end`: fills in the message that
 * announces it. If that cannot be, the batch stays the caller's. */
apl_status lending_lend(struct lending *l, struct batch_buffer *batch, uint64_t begin, uint64_t end,
                        struct wire_batch *message, apl_error *err);

/* Takes back a batch; false: none of that token. */
bool lending_return(struct lending *l, uint64_t token);

/* Takes back a batch without releasing it, to be lent to another. NULL: it is not on loan. */
struct batch_buffer *lending_recall(struct lending *l, uint64_t token, uint64_t *begin, uint64_t *end);

/* Takes back all, and frees what it takes to know of them. */
void lending_close(struct lending *l);

#endif
