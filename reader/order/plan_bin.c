/* The bins of a plan: see plan_bin.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "plan_bin.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE  ((size_t)2 << 20)
#define LEAST_HUGE (2 * HUGE_PAGE) /* from here on, what is rounded up is less than half of what is needed */

static unsigned rows_for_bins(unsigned bins)
{
    return (bins + BINS_ROW * BINS_ROW - 1) / (BINS_ROW * BINS_ROW) * BINS_ROW;
}

bool plan_bins_make(struct plan_bins *b, unsigned count)
{
    b->count = rows_for_bins(count);
    b->before = calloc(b->count, sizeof *b->before);
    b->rows = calloc(b->count, sizeof *b->rows);
    return b->before && b->rows;
}

void plan_bins_free(struct plan_bins *b)
{
    for (unsigned i = 0; b->rows && i < b->count * BINS_ROW; i++)
        free(plan_bins_at(b, i)->deliveries);
    free(b->rows);
    free(b->before);
}

size_t plan_bins_bytes(unsigned count)
{
    return rows_for_bins(count) * (sizeof(struct bin_row) + sizeof(uint32_t));
}

void plan_bins_clear(struct plan_bins *b)
{
    for (unsigned i = 0; i < b->count * BINS_ROW; i++)
        plan_bins_at(b, i)->count = 0;
    plan_bins_sum(b);
}

void plan_bins_sum(struct plan_bins *b)
{
    uint32_t all = 0;
    for (unsigned r = 0; r < b->count; r++) {
        uint32_t within = 0;
        for (unsigned i = 0; i < BINS_ROW; i++) {
            b->rows[r].before[i] = within;
            within += b->rows[r].bins[i].count;
        }
        b->before[r] = all;
        all += within;
    }
}

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
