/*
 * The bins of free order: a fixed array of variable-length arrays, each with a lock of its own, that loader
 * threads fill while consumer threads draw. Counts of what is left change under one more lock: a batch
 * reserves its draws there one by one, each bin in proportion to what is left in it, and then goes to each
 * bin once for the records themselves. A record that stands is as likely as any other that stands to be drawn
 * next, however many bins there are: more of them share out their locks among threads that draw at once, and cost a search for
 * the bin of each draw. One thread of the reader draws at a time, from one bin.
 */
#ifndef BINS_H
#define BINS_H

#include "random.h"
#include "status.h"

#include <stdbool.h>

struct bins;

apl_status bins_new(unsigned count, struct bins **bins, apl_error *err);
void bins_free(struct bins *bins);

/* Empties all bins and gives them new keys. No other call may be under way. */
void bins_begin(struct bins *bins, struct random_key place, struct random_key draws);

/* Puts n deliveries, ids[i] telling the bin of each; locks every bin at most once. False: out of memory,
 * nothing was put. */
bool bins_put(struct bins *bins, const uint32_t *deliveries, const uint64_t *ids, uint32_t n);

/* What one thread needs to draw up to `most` deliveries at once. */
struct bins_scratch;
struct bins_scratch *bins_scratch_new(const struct bins *bins, size_t most); /* NULL: out of memory */
void bins_scratch_free(struct bins_scratch *scratch);

/* Draws `n` deliveries at once, or all that are left if that is fewer; rows keep the order of the draws.
 * Returns how many. */
size_t bins_draw(struct bins *bins, struct bins_scratch *scratch, uint32_t *deliveries, size_t n);

/* What stands now. */
uint64_t bins_standing(struct bins *bins);

#endif
