/* Memory for batches: see pool.h. */
#include "pool_columns.h"

#include "forks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct pool *pool_new(size_t rows, unsigned fields, const size_t *row_bytes, const apl_allocator *allocator,
                      uint64_t most_bytes)
{
    struct pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->rows = p->deliveries = rows;
    p->fields = fields;
    memcpy(p->row_bytes, row_bytes, fields * sizeof *row_bytes);
    p->allocator = allocator ? *allocator : columns_own_allocator();
    p->most_bytes = most_bytes;
    p->assured = 1;
    p->forks = forks_so_far();
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void pool_add_part(struct pool *p, unsigned field, apl_part part, size_t row_bytes)
{
    p->row_bytes[p->fields + p->parts] = row_bytes;
    p->part[p->parts++] = (struct batch_part){.field = field, .part = part};
}

void pool_add_pieces(struct pool *p, size_t pieces, size_t deliveries)
{
    p->pieces = pieces;
    p->packed = deliveries > 0;
    p->deliveries = deliveries > p->rows ? deliveries : p->rows;
}

void pool_assure(struct pool *p, unsigned buffers)
{
    p->assured = buffers;
}

void pool_bound(struct pool *p)
{
    p->bound = true;
}

uint64_t pool_piece_bytes(size_t pieces, size_t deliveries)
{
    return pieces * sizeof(apl_piece) + deliveries * (2 * sizeof(uint64_t) + 3 * sizeof(uint32_t));
}

uint64_t pool_buffer_bytes(size_t rows, unsigned fields, const size_t *row_bytes)
{
    uint64_t bytes = sizeof(struct batch_buffer) + rows * (2 * sizeof(uint64_t) + 3 * sizeof(uint32_t));
    for (unsigned f = 0; f < fields; f++)
        bytes += row_bytes[f] ? (uint64_t)rows * row_bytes[f] + 64 : 0;
    return bytes;
}

/* Of one buffer of this pool. */
static uint64_t own_bytes(const struct pool *p)
{
    return pool_buffer_bytes(p->rows, p->fields + p->parts, p->row_bytes) +
           pool_piece_bytes(p->pieces, p->packed ? p->deliveries : 0);
}

/* --------------------------------------------------------------------------------------------- buffers */

static void buffer_destroy(struct pool *p, struct batch_buffer *b)
{
    for (unsigned i = 0; i < b->batch.fields + b->batch.part_count; i++) {
        apl_column *column = pool_column(b, i);
        columns_free(p, b, i);
        free((void *)column->offsets);
        free((void *)column->shapes);
    }
    free(b->batch.parts);
    free(b->batch.ids);
    free((void *)b->batch.copies);
    free(b->skipped);
    free(b->pieces);
    free(b->ended);
    free(b->ended_copies);
    free(b->delivered);
    free(b->numbers);
    free(b);
}

static void give(struct batch_buffer *b, bool lent);

/* In a child, the lock may have been held at the fork: the batch stays where it is. */
static void release(apl_batch *batch)
{
    struct batch_buffer *b = (struct batch_buffer *)batch;
    if (b->pool->forks == forks_so_far())
        give(b, true);
}

static bool add_parts(const struct pool *p, struct batch_buffer *b)
{
    if (p->parts == 0)
        return true;
    b->batch.parts = malloc(p->parts * sizeof *b->batch.parts);
    if (!b->batch.parts)
        return false;
    memcpy(b->batch.parts, p->part, p->parts * sizeof *p->part);
    b->batch.part_count = p->parts;
    return true;
}

static bool add_pieces(const struct pool *p, struct batch_buffer *b)
{
    if (p->pieces == 0)
        return true;
    b->batch.pieces = b->pieces = malloc(p->pieces * sizeof *b->pieces);
    if (!p->packed)
        return b->pieces != NULL;
    b->ended = malloc(p->deliveries * sizeof *b->ended);
    b->ended_copies = malloc(p->deliveries * sizeof *b->ended_copies);
    return b->pieces && b->ended && b->ended_copies;
}

static struct batch_buffer *buffer_create(struct pool *p)
{
    struct batch_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->pool = p;
    b->batch.release = release;
    b->batch.fields = p->fields;
    b->batch.ids = malloc(p->rows * sizeof *b->batch.ids);
    b->batch.copies = malloc(p->rows * sizeof *b->batch.copies);
    b->batch.skipped = b->skipped = malloc(p->deliveries * sizeof *b->skipped);
    b->delivered = malloc(p->deliveries * sizeof *b->delivered);
    b->numbers = malloc(p->deliveries * sizeof *b->numbers);
    bool ok = b->delivered && b->numbers && b->batch.ids && b->batch.copies && b->skipped &&
              add_parts(p, b) && add_pieces(p, b);
    for (unsigned i = 0; ok && i < p->fields + p->parts; i++)
        ok = p->row_bytes[i] == 0 || columns_set(p, b, i, p->rows * p->row_bytes[i] + 64);
    if (ok)
        return b;
    buffer_destroy(p, b);
    return NULL;
}

/* With the lock held. */
static bool may_create(const struct pool *p, uint64_t bytes)
{
    return p->bytes + p->reserved + bytes <= p->most_bytes || p->count < p->assured;
}

struct batch_buffer *pool_take(struct pool *p)
{
    uint64_t bytes = own_bytes(p);
    pthread_mutex_lock(&p->lock);
    struct batch_buffer *b = p->idle;
    bool create = !b && may_create(p, bytes);
    if (b)
        p->idle = b->next;
    p->bytes += create ? bytes : 0;
    p->count += create;
    pthread_mutex_unlock(&p->lock);
    if (!create || (b = buffer_create(p)))
        return b;
    pthread_mutex_lock(&p->lock);
    p->bytes -= bytes;
    p->count--;
    p->refused = true;
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

bool pool_can_take(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    bool can = p->idle || (!p->refused && may_create(p, own_bytes(p)));
    pthread_mutex_unlock(&p->lock);
    return can;
}

bool pool_is_bare(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    bool bare = p->count == 0;
    pthread_mutex_unlock(&p->lock);
    return bare;
}

static void pool_free(struct pool *p)
{
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* Gives back a buffer, lent or not; what is released twice is not lent the second time, and stays. */
static void give(struct batch_buffer *b, bool lent)
{
    struct pool *p = b->pool;
    pthread_mutex_lock(&p->lock);
    if (b->lent != lent) {
        pthread_mutex_unlock(&p->lock);
        return;
    }
    b->lent = false;
    p->lent -= lent;
    if (lent && !p->closed &&
        columns_are_short(p)) /* others are given back with a reader's lock held, and filled soon */
        columns_trim(p, b);
    bool closed = p->closed;
    if (!closed) {
        b->next = p->idle;
        p->idle = b;
    }
    pthread_mutex_unlock(&p->lock);
    if (!closed)
        return;
    buffer_destroy(p, b);
    pthread_mutex_lock(&p->lock);
    bool over = --p->count == 0;
    pthread_mutex_unlock(&p->lock);
    if (over)
        pool_free(p);
}

void pool_give(struct batch_buffer *b)
{
    give(b, false);
}

void pool_lend(struct batch_buffer *b)
{
    pthread_mutex_lock(&b->pool->lock);
    b->lent = true;
    b->pool->lent++;
    pthread_mutex_unlock(&b->pool->lock);
}

void pool_close(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    struct batch_buffer *idle = p->idle;
    p->closed = true;
    p->idle = NULL;
    p->count++; /* for this thread, so that the pool outlasts the loop below */
    pthread_mutex_unlock(&p->lock);
    unsigned gone = 1;
    for (struct batch_buffer *next; idle; idle = next, gone++) {
        next = idle->next;
        buffer_destroy(p, idle);
    }
    pthread_mutex_lock(&p->lock);
    bool over = (p->count -= gone) == 0;
    pthread_mutex_unlock(&p->lock);
    if (over)
        pool_free(p);
}

uint64_t pool_bytes(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    uint64_t bytes = p->bytes;
    pthread_mutex_unlock(&p->lock);
    return bytes;
}

unsigned pool_lent(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    unsigned lent = p->lent;
    pthread_mutex_unlock(&p->lock);
    return lent;
}
