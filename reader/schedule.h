/*
 * What a thread does next. All functions are called with the reader's lock held and return with it held;
 * those that do work release it meanwhile.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "reader.h"

/* Does one action - collate a batch, plan one, load a block, or else help with a batch that another thread collates - if there is one to do; false: none, and the lock has been
 * held throughout, so that a thread may go to sleep on that. */
bool schedule_act(struct worker *w);

/* Drops all that is planned and loaded and not kept; only while no thread is at work. */
void schedule_clear(apl_reader *r);

/* Which block (its place in the subset) the next batch of a rank waits for; false: for none. */
bool schedule_waits_for(apl_reader *r, const struct outlet *o, uint32_t *index);

#endif
