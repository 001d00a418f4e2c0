/*
 * What a thread does next. All functions are called with the reader's lock held and return with it held;
 * those that do work let go of it meanwhile.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "reader.h"

/* Does one thing - assemble a batch, plan one, load a block - if there is one to do; false: there is none, and the lock has been
 * held throughout, so that a thread may go to sleep on that. */
bool schedule_step(struct worker *w);

/* Starts at this place of this epoch's order, as if nothing had been planned yet; only while no thread is at
 * work. */
apl_status schedule_begin(apl_reader *r, uint64_t epoch, uint64_t position, apl_error *err);

/* Drops all that is planned and loaded and not kept; only while no thread is at work. */
void schedule_clear(apl_reader *r);

/* Is all of an epoch handed out, up to this position of it? */
bool schedule_is_end(const apl_reader *r, uint64_t position);

/* Makes the reader fail for good. */
void schedule_fail(apl_reader *r, apl_status status, const apl_error *error);

/* Which block (its place in the subset) the next batch waits for; false: for none. */
bool schedule_waits_for(apl_reader *r, uint32_t *index);

/* Is this thread inside the reader's own callback? */
bool schedule_in_callback(const apl_reader *r);

/* The longest wait that counts in bucket i: 1, 1.5, 2, 3, 4, 6, ... ns. */
uint64_t wait_bucket_ns(unsigned i);

/* Monotonic time in nanoseconds. */
uint64_t now_ns(void);

#endif
