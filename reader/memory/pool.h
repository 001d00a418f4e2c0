/* Memory for batches: few buffers, used again and again, so that they stay in the cache. Outlives its reader
 * while batches are lent. */
#ifndef POOL_H
#define POOL_H

#include "batch.h"
#include "schema.h"

#include <stdbool.h>

struct pool;

/* The most parts that batches have (see apl_batch_part()); and columns, numbered so that parts come after all fields. */
#define POOL_MAX_PARTS   64u
#define POOL_MAX_COLUMNS (APL_MAX_FIELDS + POOL_MAX_PARTS)

/* What has been delivered, for receipts. */
struct tally {
    uint64_t delivered, skipped;
    uint64_t sum[2]; /* modulo 2^128, low half first */
};

/* A batch and its memory. The batch comes first: the two are one and the same to the caller. */
struct batch_buffer {
    apl_batch batch;
    struct pool *pool;
    struct batch_buffer *next;
    size_t column_bytes
        [POOL_MAX_COLUMNS]; /* allocated for each column, and after those of fields for each part */
    uint64_t reserved;      /* bytes that its columns may still grow by: see pool_reserve() */
    bool lent;
    uint64_t *skipped;   /* ids of rows that were left out */
    uint32_t *delivered; /* the delivery of each row; then those of rows that were left out */
    uint32_t finished;   /* deliveries that the batch makes */
    apl_piece *pieces;   /* of a packed batch; and what ends in it, but for what is left out: */
    uint64_t *ended;
    uint32_t *ended_copies;
    uint32_t *numbers; /* of these, their places among all of the epoch */
    struct tally tally;
};

/* Buffers for `rows` rows of columns of which each takes row_bytes[f] (0: none, or grown as needed). */
struct pool *pool_new(size_t rows, unsigned fields, const size_t *row_bytes, const apl_allocator *allocator,
                      uint64_t most_bytes);

/* Gives batches a part more, of which a row takes `row_bytes` (0: grown as needed); before the first buffer is taken. */
void pool_add_part(struct pool *pool, unsigned field, apl_part part, size_t row_bytes);

/* Batches have so many pieces at most, and where they are packed, of so many deliveries (0: they are not); before the first buffer is
 * taken. */
void pool_add_pieces(struct pool *pool, size_t pieces, size_t deliveries);

/* `buffers` may be taken however large the columns of those before have grown; else one. Before the first buffer is taken. */
void pool_assure(struct pool *pool, unsigned buffers);

/* From now on the bytes of columns that grow are bounded, too: they are to be reserved before, and what comes back while there is
 * little room is not kept. Before the first buffer is taken. */
void pool_bound(struct pool *pool);

/* A buffer that nobody uses, or a new one while most_bytes last, or there are fewer than assured; NULL: neither. */
struct batch_buffer *pool_take(struct pool *pool);

/* Gives back a buffer that is not lent. */
void pool_give(struct batch_buffer *buffer);

/* Is there a buffer to take, or room for a new one (as far as is known: memory may be refused, and is not asked for again then)?
 * Is there no buffer at all? */
bool pool_can_take(struct pool *pool);
bool pool_is_bare(struct pool *pool);

/* Column `i`: that of field i, or after those of all fields, of a part. */
apl_column *pool_column(struct batch_buffer *buffer, unsigned i);

/* Makes column `i` at least `bytes` large; what it held is lost. */
bool pool_grow(struct batch_buffer *buffer, unsigned i, size_t bytes);

/* Reserves need[i] bytes for each column, also of parts, that grows; of the others need[i] means nothing. `regardless`: also if most_bytes have no
 * room for them. What the columns held is lost. Returns 0, or for how many bytes there is no room; then nothing is reserved. */
uint64_t pool_reserve(struct batch_buffer *buffer, const size_t *need, bool regardless);

/* Gives back what has been reserved, and not been used. */
void pool_settle(struct batch_buffer *buffer);

/* May pool_reserve() have room for that many bytes now? */
bool pool_has_room(struct pool *pool, uint64_t bytes);

/* Frees what is not lent, and the rest as it comes back. */
void pool_close(struct pool *pool);

/* Bytes of one buffer; bytes of all now; buffers that are lent. */
uint64_t pool_buffer_bytes(size_t rows, unsigned fields, const size_t *row_bytes);
uint64_t pool_piece_bytes(size_t pieces, size_t deliveries);
uint64_t pool_bytes(struct pool *pool);
unsigned pool_lent(struct pool *pool);

/* Marks a buffer as lent to the caller: from now on apl_batch_release() gives it back. */
void pool_lend(struct batch_buffer *buffer);

#endif
