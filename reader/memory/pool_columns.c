/* Memory for the columns of batches: see pool_columns.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "pool_columns.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

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

apl_allocator columns_own_allocator(void)
{
    return (apl_allocator){own_allocate, own_deallocate, NULL};
}

/* --------------------------------------------------------------------------------------------- columns */

apl_column *pool_column(struct batch_buffer *b, unsigned i)
{
    unsigned fields = b->batch.fields;
    return i < fields ? &b->batch.columns[i] : &b->batch.parts[i - fields].column;
}

void columns_free(struct pool *p, struct batch_buffer *b, unsigned i)
{
    apl_column *column = pool_column(b, i);
    if (column->data)
        p->allocator.deallocate(p->allocator.user, (void *)column->data, b->column_bytes[i]);
    column->data = NULL;
    b->column_bytes[i] = 0;
}

bool columns_set(struct pool *p, struct batch_buffer *b, unsigned i, size_t bytes)
{
    apl_column *column = pool_column(b, i);
    columns_free(p, b, i);
    column->data = p->allocator.allocate(p->allocator.user, bytes);
    b->column_bytes[i] = column->data ? bytes : 0;
    return column->data != NULL;
}

void columns_trim(struct pool *p, struct batch_buffer *b)
{
    uint64_t freed = 0;
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->fields + p->parts; i++)
        if (p->row_bytes[i] == 0) {
            freed += b->column_bytes[i];
            columns_free(p, b, i);
        }
    pthread_mutex_lock(&p->lock);
    p->bytes -= freed;
}

bool columns_are_short(const struct pool *p)
{
    return p->bound && p->bytes + p->reserved > p->most_bytes / 2;
}

/* ---------------------------------------------------------------------------------------------- growing */

bool pool_grow(struct batch_buffer *b, unsigned i, size_t bytes)
{
    struct pool *p = b->pool;
    if (b->column_bytes[i] >= bytes && pool_column(b, i)->data)
        return true;
    size_t before = b->column_bytes[i], roomy = p->bound ? bytes : bytes + bytes / 4 + 64;
    bool ok = columns_set(p, b, i, roomy);
    pthread_mutex_lock(&p->lock);
    uint64_t more = ok && roomy > before ? roomy - before : 0, used = more < b->reserved ? more : b->reserved;
    p->bytes += (ok ? roomy : 0) - before;
    p->reserved -= used;
    b->reserved -= used;
    pthread_mutex_unlock(&p->lock);
    return ok;
}

/* With the lock held. */
static bool has_room(const struct pool *p, uint64_t bytes)
{
    return p->bytes + p->reserved + bytes <= p->most_bytes;
}

bool pool_has_room(struct pool *p, uint64_t bytes)
{
    pthread_mutex_lock(&p->lock);
    bool room = has_room(p, bytes);
    pthread_mutex_unlock(&p->lock);
    return room;
}

/* What columns must grow by. */
static uint64_t growth(const struct batch_buffer *b, const size_t *need)
{
    uint64_t more = 0;
    for (unsigned i = 0; i < b->pool->fields + b->pool->parts; i++)
        if (b->pool->row_bytes[i] == 0 && need[i] > b->column_bytes[i])
            more += need[i] - b->column_bytes[i];
    return more;
}

/* Has the buffer columns of more than twice the size that they need? */
static bool is_oversized(const struct batch_buffer *b, const size_t *need)
{
    for (unsigned i = 0; i < b->pool->fields + b->pool->parts; i++)
        if (b->pool->row_bytes[i] == 0 && b->column_bytes[i] / 2 > need[i])
            return true;
    return false;
}

uint64_t pool_reserve(struct batch_buffer *b, const size_t *need, bool regardless)
{
    struct pool *p = b->pool;
    pthread_mutex_lock(&p->lock);
    if (columns_are_short(p) && is_oversized(b, need))
        columns_trim(p, b);
    uint64_t more = growth(b, need);
    bool room = regardless || has_room(p, more);
    b->reserved = room ? more : 0;
    p->reserved += b->reserved;
    pthread_mutex_unlock(&p->lock);
    return room ? 0 : more;
}

void pool_settle(struct batch_buffer *b)
{
    pthread_mutex_lock(&b->pool->lock);
    b->pool->reserved -= b->reserved;
    b->reserved = 0;
    pthread_mutex_unlock(&b->pool->lock);
}
