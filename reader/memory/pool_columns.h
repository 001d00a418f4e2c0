/* The columns of a pool's buffers: their memory, and how much of it there may be. For pool.c alone. */
#ifndef POOL_COLUMNS_H
#define POOL_COLUMNS_H

#include "pool.h"

#include <pthread.h>

struct pool {
    size_t rows, deliveries; /* of a batch; these are as many, unless it is packed */
    size_t pieces;           /* 0: it has none */
    bool packed, bound;      /* bound: what grows is, too */
    unsigned fields, parts;
    size_t row_bytes[POOL_MAX_COLUMNS];
    struct batch_part part[POOL_MAX_PARTS]; /* which they are */
    apl_allocator allocator;                /* called without the lock: it may take its time */
    unsigned forks;
    pthread_mutex_t lock; /* of what follows */
    struct batch_buffer *idle;
    unsigned count, lent, assured; /* assured: so many there may be, whatever their bytes */
    uint64_t bytes, reserved, most_bytes;
    bool closed, refused; /* refused: no memory for the last new buffer */
};

/* The library's own memory. */
apl_allocator columns_own_allocator(void);

/* Column `i` of a buffer that this thread alone uses, without the lock; `bytes` are not counted. */
bool columns_set(struct pool *pool, struct batch_buffer *buffer, unsigned i, size_t bytes);
void columns_free(struct pool *pool, struct batch_buffer *buffer, unsigned i);

/* Is so little room left that memory must not lie idle? With the lock held. */
bool columns_are_short(const struct pool *pool);

/* Frees the columns that grow of a buffer which this thread alone uses. With the lock held, which is released meanwhile. */
void columns_trim(struct pool *pool, struct batch_buffer *buffer);

#endif
