/* Planning packed batches: which deliveries come next, and which parts of them are whose. See spec/packing.h. */
#ifndef PACKED_PLAN_H
#define PACKED_PLAN_H

#include "reader.h"

/* Memory for the deliveries of a batch of all ranks. */
apl_status packed_plan_open(apl_reader *r, apl_error *err);

void packed_plan_free(struct packed_plan *p);

/* Starts at the beginning of an epoch. */
void packed_plan_begin(apl_reader *r);

/* Draws the deliveries of the next n tokens, the planner's plan; false: out of memory. Without the lock. */
bool packed_plan_draw(apl_reader *r, uint64_t n);

/* The shares of what was drawn, which begins at this position of the epoch, of the ranks whose batches are being planned; the rest is
 * passed. With the lock held. */
void packed_plan_share(apl_reader *r, uint64_t position, uint64_t n);

/* All of it is passed. With the lock held. */
void packed_plan_pass(apl_reader *r);

/* Draws some of what a sample has beyond the tokens of its epoch, to be passed. Returns how many deliveries; 0: that is all, or (*failed) out of
 * memory. Without the lock. */
size_t packed_plan_draw_rest(apl_reader *r, bool *failed);

#endif
