/* A bin of a plan: deliveries that stand in the window, in no order. plan.c draws from it. */
#ifndef PLAN_BIN_H
#define PLAN_BIN_H

#include <stdbool.h>
#include <stdint.h>

struct bin {
    uint32_t *deliveries;
    uint32_t count, capacity;
};

/* Room for one more; when it is made first, for as many as are expected. False: out of memory, and the bin is as it was. */
bool bin_grow(struct bin *bin, uint32_t expected);

static inline bool bin_put(struct bin *bin, uint32_t delivery, uint32_t expected)
{
    if (bin->count == bin->capacity && !bin_grow(bin, expected))
        return false;
    bin->deliveries[bin->count++] = delivery;
    return true;
}

#endif
