/*
 * The bins of a plan: deliveries that stand in the window, in no order, of which plan.c draws one after the other. Bins stand in rows of
 * BINS_ROW, and the rows as well, so that finding the bin of a number takes a few comparisons of sums, and no branches.
 */
#ifndef PLAN_BIN_H
#define PLAN_BIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BINS_ROW 8u

struct bin {
    uint32_t *deliveries;
    uint32_t count, capacity;
};

struct bin_row {
    uint32_t before[BINS_ROW]; /* what stands in the row's bins before each */
    struct bin bins[BINS_ROW];
};

struct plan_bins {
    uint32_t *before; /* what stands in the rows before each */
    struct bin_row *rows;
    unsigned count; /* of rows: a multiple of BINS_ROW */
};

/* Makes empty bins; false: out of memory, and what was made is freed by plan_bins_free(), which takes all that is zero, too. */
bool plan_bins_make(struct plan_bins *bins, unsigned count);
void plan_bins_free(struct plan_bins *bins);

/* Memory of that many empty bins. */
size_t plan_bins_bytes(unsigned count);

/* Empties the bins, which keep their memory. */
void plan_bins_clear(struct plan_bins *bins);

/* To be called between putting and drawing. */
void plan_bins_sum(struct plan_bins *bins);

/* ---------------------------------------------------------------------------------------------- putting */

/* Room for one more; when it is made first, for as many as are expected. False: out of memory, and the bin is as it was. */
bool bin_grow(struct bin *bin, uint32_t expected);

static inline bool bin_put(struct bin *bin, uint32_t delivery, uint32_t expected)
{
    if (bin->count == bin->capacity && !bin_grow(bin, expected))
        return false;
    bin->deliveries[bin->count++] = delivery;
    return true;
}

static inline struct bin *plan_bins_at(const struct plan_bins *bins, unsigned number)
{
    return &bins->rows[number / BINS_ROW].bins[number % BINS_ROW];
}

/* ---------------------------------------------------------------------------------------------- drawing */

/* A draw: the delivery at this place of a bin, where the one at its end comes instead. */
struct pick {
    struct bin *bin;
    uint32_t place, end;
};

/* How many places of a row have no more than `r` before them. */
static inline unsigned places_up_to(const uint32_t before[BINS_ROW], uint32_t r)
{
    unsigned places = 0;
    for (unsigned k = 0; k < BINS_ROW; k++)
        places += before[k] <= r;
    return places;
}

/* One less stands at a place, which may lie in an earlier row, or in a later one. */
static inline void lower_after(uint32_t before[BINS_ROW], int place)
{
    for (int k = 0; k < (int)BINS_ROW; k++)
        before[k] -= k > place;
}

/* The row of a number: the last that has no more before it. Nothing stands before the first. */
static inline unsigned row_of_draw(const struct plan_bins *bins, uint32_t r)
{
    unsigned places = 0;
    for (unsigned k = 0; k < bins->count; k += BINS_ROW)
        places += places_up_to(bins->before + k, r);
    return places - 1;
}

/* Draws what stands at place `r`, which is below what stands in all bins. What is drawn is on its way from memory, and taken later. */
static inline struct pick plan_bins_draw(struct plan_bins *bins, uint32_t r)
{
    unsigned number = row_of_draw(bins, r);
    struct bin_row *row = &bins->rows[number];
    r -= bins->before[number];
    unsigned i = places_up_to(row->before, r) - 1;
    struct bin *bin = &row->bins[i];
    r -= row->before[i];
    struct pick pick = {bin, r, --bin->count};
    __builtin_prefetch(&bin->deliveries[r], 1);
    for (unsigned k = 0; k < bins->count; k += BINS_ROW)
        lower_after(bins->before + k, (int)number - (int)k);
    lower_after(row->before, (int)i);
    return pick;
}

/* Takes what was drawn out of its bin; in the order of the draws. */
static inline uint32_t bin_take(const struct pick *pick)
{
    uint32_t *deliveries = pick->bin->deliveries, delivery = deliveries[pick->place];
    deliveries[pick->place] = deliveries[pick->end]; /* its order within the bin means nothing */
    return delivery;
}

#endif
