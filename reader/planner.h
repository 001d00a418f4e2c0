/* Planning batches: which records come next, in which batch, and so which blocks. With the reader's lock held, which is let go of
 * while something is drawn. */
#ifndef PLANNER_H
#define PLANNER_H

#include "reader.h"

/* Plans the next batch, or begins the next epoch; false: neither can be done now, and the lock has been held throughout. */
bool planning_step(struct worker *w);

/* Starts at this place of this epoch's order, as if nothing had been planned yet; only while no thread is at work. */
apl_status planning_begin(apl_reader *r, uint64_t epoch, uint64_t position, apl_error *err);

/* Is all of an epoch handed out, up to this position of it? */
bool planning_is_end(const apl_reader *r, uint64_t position);

#endif
