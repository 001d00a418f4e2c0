/* Cells for numbered tickets: see segments.h. */
#include "segments.h"

#include <stdlib.h>

#define INDEX(top) ((uint32_t)(top))

/* -------------------------------------------------------------------------------------------- tables */

/* Puts the segment into place `i`, which nobody else has filled meanwhile; *nomem: out of memory. */
static bool table_put(struct table *table, uint64_t i, struct segment *segment, bool *nomem)
{
    struct chunk *_Atomic *place = &table->chunk[i / CHUNK];
    struct chunk *chunk = atomic_load_explicit(place, memory_order_acquire);
    if (!chunk) {
        struct chunk *fresh = calloc(1, sizeof *fresh);
        if ((*nomem = !fresh))
            return false;
        if (atomic_compare_exchange_strong_explicit(place, &chunk, fresh, memory_order_acq_rel,
                                                    memory_order_acquire))
            chunk = fresh;
        else
            free(fresh);
    }
    struct segment *none = NULL;
    return atomic_compare_exchange_strong_explicit(&chunk->segment[i % CHUNK], &none, segment,
                                                   memory_order_acq_rel, memory_order_acquire);
}

static void table_free(struct table *table)
{
    for (unsigned i = 0; i < CHUNKS; i++)
        free(atomic_load_explicit(&table->chunk[i], memory_order_relaxed));
}

/* --------------------------------------------------------------------------------------------- stack */

/* The top, after one more change of the stack. */
static uint64_t next_top(uint64_t top, uint32_t index)
{
    return ((top >> 32) + 1) << 32 | index;
}

static void push(struct segments *s, struct segment *segment)
{
    uint64_t top = atomic_load_explicit(&s->drained, memory_order_relaxed);
    do
        atomic_store_explicit(&segment->below, INDEX(top), memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&s->drained, &top, next_top(top, segment->index + 1),
                                                  memory_order_acq_rel, memory_order_relaxed));
}

static struct segment *pop(struct segments *s)
{
    uint64_t top = atomic_load_explicit(&s->drained, memory_order_acquire);
    struct segment *segment;
    uint32_t below;
    do {
        if (INDEX(top) == 0)
            return NULL;
        segment = table_at(&s->by_index, INDEX(top) - 1);
        below = atomic_load_explicit(&segment->below, memory_order_relaxed); /* old, if the top has changed */
    } while (!atomic_compare_exchange_weak_explicit(&s->drained, &top, next_top(top, below),
                                                    memory_order_acq_rel, memory_order_acquire));
    return segment;
}

/* ------------------------------------------------------------------------------------------ segments */

static struct segment *make(struct segments *s)
{
    struct segment *segment = aligned_alloc(64, (sizeof *segment + 63) / 64 * 64);
    bool nomem = false;
    if (!segment)
        return NULL;
    segment->index = atomic_fetch_add_explicit(&s->made, 1, memory_order_relaxed);
    if (segment->index < CHUNK * CHUNKS && table_put(&s->by_index, segment->index, segment, &nomem))
        return segment;
    free(segment);
    return NULL;
}

static bool install(struct segments *s, uint64_t number)
{
    struct segment *segment = pop(s);
    bool nomem = false;
    if (!segment && !(segment = make(s)))
        return false;
    for (uint32_t i = 0; i < SEGMENT_CELLS; i++)
        atomic_store_explicit(&segment->cells[i], cell(CELL_EMPTY, number * SEGMENT_CELLS, 0),
                              memory_order_relaxed);
    atomic_store_explicit(&segment->untaken, SEGMENT_CELLS, memory_order_relaxed);
    if (!table_put(&s->by_number, number, segment, &nomem))
        push(s, segment); /* another thread was faster */
    return !nomem;
}

bool segments_install(struct segments *s, uint64_t end)
{
    uint64_t number = atomic_load_explicit(&s->installed, memory_order_acquire);
    if (end > MOST_TICKETS)
        return false;
    while (number * SEGMENT_CELLS < end) {
        if (!table_at(&s->by_number, number) && !install(s, number))
            return false;
        /* Whoever installed it, this thread or another may say so. */
        atomic_compare_exchange_strong_explicit(&s->installed, &number, number + 1, memory_order_acq_rel,
                                                memory_order_acquire);
        number = atomic_load_explicit(&s->installed, memory_order_acquire);
    }
    return true;
}

void segments_taken(struct segments *s, struct segment *segment, uint32_t n)
{
    /* acq_rel: who takes the last comes after all others, since the cells are written again */
    if (atomic_fetch_sub_explicit(&segment->untaken, n, memory_order_acq_rel) == n)
        push(s, segment);
}

void segments_begin(struct segments *s)
{
    uint64_t number = atomic_load(&s->installed);
    uint32_t made = atomic_load(&s->made);
    while (number-- > 0) {
        struct chunk *chunk = atomic_load(&s->by_number.chunk[number / CHUNK]);
        atomic_store(&chunk->segment[number % CHUNK], NULL);
    }
    atomic_store(&s->installed, 0);
    atomic_store(&s->drained, 0);
    while (made-- > 0) {
        struct segment *segment = table_at(&s->by_index, made);
        if (segment)
            push(s, segment);
    }
}

void segments_free(struct segments *s)
{
    for (uint32_t i = 0; i < atomic_load(&s->made); i++)
        free(table_at(&s->by_index, i));
    table_free(&s->by_number);
    table_free(&s->by_index);
}

uint64_t segments_bytes(struct segments *s)
{
    return (uint64_t)atomic_load(&s->made) * sizeof(struct segment);
}
