/* Room in a bin: see bins_parts.h. */
#include "bins_parts.h"
#include "grow.h"

#include <stdlib.h>

bool bin_reserve(struct bin *bin, uint32_t more)
{
    if (bin->capacity - bin->count >= more)
        return true;
    uint32_t capacity = grown(bin->capacity, bin->count + more); /* an epoch has fewer than 2^32 deliveries */
    uint32_t *deliveries = realloc(bin->deliveries, capacity * sizeof *deliveries);
    if (!deliveries)
        return false;
    bin->deliveries = deliveries;
    bin->capacity = capacity;
    return true;
}
