/* Memory for batches: see pool.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

struct pool {
    size_t rows;
    unsigned fields;
    size_t row_bytes[APL_MAX_FIELDS];
    apl_allocator allocator;
    pthread_mutex_t lock; /* of what follows */
    struct batch_buffer *idle;
    unsigned count, lent;
    uint64_t bytes, most_bytes;
    bool closed;
};

/* ---------------------------------------------------------------------------------- the library's own memory
 */

static void *own_allocate(void *user, size_t bytes)
{
    (void)user;
    size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    if (bytes > SIZE_MAX - align)
        return NULL;
    void *p = aligned_alloc(align, (bytes + align - 1) / align * align);
    if (p && align == HUGE_PAGE)
        madvise(p, bytes, MADV_HUGEPAGE); /* a hint */
    return p;
}

static void own_deallocate(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

struct pool *pool_new(size_t rows, unsigned fields, const size_t *row_bytes, const apl_allocator *allocator,
                      uint64_t most_bytes)
{
    struct pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->rows = rows;
    p->fields = fields;
    memcpy(p->row_bytes, row_bytes, fields * sizeof *row_bytes);
    p->allocator = allocator ? *allocator : (apl_allocator){own_allocate, own_deallocate, NULL};
    p->most_bytes = most_bytes;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

uint64_t pool_buffer_bytes(size_t rows, unsigned fields, const size_t *row_bytes)
{
    uint64_t bytes = sizeof(struct batch_buffer) + rows * 2 * (sizeof(uint64_t) + sizeof(uint32_t));
    for (unsigned f = 0; f < fields; f++)
        bytes += row_bytes[f] ? (uint64_t)rows * row_bytes[f] + 64 : 0;
    return bytes;
}

/* ------------------------------------------------------------------------------------------------- buffers
 */

static void buffer_destroy(struct pool *p, struct batch_buffer *b)
{
    for (unsigned f = 0; f < p->fields; f++) {
        if (b->batch.columns[f].data)
            p->allocator.deallocate(p->allocator.user, (void *)b->batch.columns[f].data, b->column_bytes[f]);
        free((void *)b->batch.columns[f].offsets);
        free((void *)b->batch.columns[f].shapes);
    }
    free(b->batch.ids);
    free((void *)b->batch.copies);
    free(b->skipped);
    free(b->delivered);
    free(b);
}

static bool set_column(struct pool *p, struct batch_buffer *b, unsigned f, size_t bytes)
{
    apl_column *column = &b->batch.columns[f];
    if (column->data)
        p->allocator.deallocate(p->allocator.user, (void *)column->data, b->column_bytes[f]);
    column->data = p->allocator.allocate(p->allocator.user, bytes);
    b->column_bytes[f] = column->data ? bytes : 0;
    return column->data != NULL;
}

/* What the caller does. A second time, the batch is idle or on its way again, and nothing is done. */
static void release(apl_batch *batch)
{
    struct batch_buffer *b = (struct batch_buffer *)batch;
    pthread_mutex_lock(&b->pool->lock);
    bool lent = b->lent;
    b->lent = false;
    b->pool->lent -= lent;
    pthread_mutex_unlock(&b->pool->lock);
    if (lent)
        pool_give(b);
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
    b->batch.skipped = b->skipped = malloc(p->rows * sizeof *b->skipped);
    b->delivered = malloc(p->rows * sizeof *b->delivered);
    bool ok = b->delivered && b->batch.ids && b->batch.copies && b->skipped;
    for (unsigned f = 0; ok && f < p->fields; f++)
        ok = p->row_bytes[f] == 0 || set_column(p, b, f, p->rows * p->row_bytes[f] + 64);
    if (ok)
        return b;
    buffer_destroy(p, b);
    return NULL;
}

struct batch_buffer *pool_take(struct pool *p)
{
    uint64_t bytes = pool_buffer_bytes(p->rows, p->fields, p->row_bytes);
    pthread_mutex_lock(&p->lock);
    struct batch_buffer *b = p->idle;
    if (b) {
        p->idle = b->next;
    } else if (p->bytes + bytes <= p->most_bytes || p->count == 0) {
        b = buffer_create(p);
        p->bytes += b ? bytes : 0;
        p->count += b != NULL;
    }
    pthread_mutex_unlock(&p->lock);
    return b;
}

static void pool_free(struct pool *p)
{
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void pool_give(struct batch_buffer *b)
{
    struct pool *p = b->pool;
    pthread_mutex_lock(&p->lock);
    bool was_lent = b->lent, idle = false;
    for (struct batch_buffer *i = p->idle; i && !was_lent; i = i->next)
        idle |= i == b;
    if (idle) { /* released twice: the second time does nothing */
        pthread_mutex_unlock(&p->lock);
        return;
    }
    b->lent = false;
    p->lent -= was_lent;
    if (p->closed) {
        buffer_destroy(p, b);
        p->count--;
    } else {
        b->next = p->idle;
        p->idle = b;
    }
    bool over = p->closed && p->count == 0;
    pthread_mutex_unlock(&p->lock);
    if (over)
        pool_free(p);
}

void pool_lend(struct batch_buffer *b)
{
    pthread_mutex_lock(&b->pool->lock);
    b->lent = true;
    b->pool->lent++;
    pthread_mutex_unlock(&b->pool->lock);
}

bool pool_grow(struct batch_buffer *b, unsigned field, size_t bytes)
{
    if (b->column_bytes[field] >= bytes && b->batch.columns[field].data)
        return true;
    size_t before = b->column_bytes[field], roomy = bytes + bytes / 4 + 64;
    bool ok = set_column(b->pool, b, field, roomy);
    pthread_mutex_lock(&b->pool->lock);
    b->pool->bytes += (ok ? roomy : 0) - before;
    pthread_mutex_unlock(&b->pool->lock);
    return ok;
}

void pool_close(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->closed = true;
    while (p->idle) {
        struct batch_buffer *b = p->idle;
        p->idle = b->next;
        buffer_destroy(p, b);
        p->count--;
    }
    bool over = p->count == 0;
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
