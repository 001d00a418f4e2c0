/* Memory for the bins of a plan: see plan_bin.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "plan_bin.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE  ((size_t)2 << 20)
#define LEAST_HUGE (2 * HUGE_PAGE) /* from here on, what is rounded up is less than half of what is needed */

/* Draws go all over a bin: in huge pages, each needs one look into memory, and not a second one to find the page. */
static uint32_t *take_deliveries(uint32_t capacity)
{
    size_t bytes = capacity * sizeof(uint32_t);
    if (bytes < LEAST_HUGE)
        return malloc(bytes);
    bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, bytes);
    if (memory)
        madvise(memory, bytes, MADV_HUGEPAGE); /* a hint */
    return memory;
}

bool bin_grow(struct bin *bin, uint32_t expected)
{
    uint32_t capacity = grown(bin->capacity, bin->count + 1); /* an epoch has fewer than 2^32 deliveries */
    capacity = capacity < expected ? expected : capacity;
    uint32_t *deliveries = take_deliveries(capacity);
    if (!deliveries)
        return false;
    if (bin->count)
        memcpy(deliveries, bin->deliveries, bin->count * sizeof *deliveries);
    free(bin->deliveries);
    bin->deliveries = deliveries;
    bin->capacity = capacity;
    return true;
}
