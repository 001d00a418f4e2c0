/* The order in which blocks are to be loaded: a ring that has room for all of them. */
#ifndef LOAD_RING_H
#define LOAD_RING_H

#include "status.h"

#include <stdlib.h>

/* A block to load. Until it is handed back by cache_loaded(), it is its loader's alone. */
struct load_item {
    uint32_t index;
    uint32_t parity;
};

struct load_ring {
    struct load_item *items;
    uint64_t head, tail;
    uint32_t size;
};

/* Free the items with free(). */
static inline apl_status ring_open(struct load_ring *ring, uint32_t size, apl_error *err)
{
    ring->size = size;
    ring->items = calloc(size, sizeof *ring->items);
    return ring->items ? APL_OK : fail_nomem(err);
}

static inline void ring_push(struct load_ring *ring, uint32_t index, uint32_t parity)
{
    ring->items[ring->tail++ % ring->size] = (struct load_item){index, parity};
}

#endif
