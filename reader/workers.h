/* A reader's threads. */
#ifndef WORKERS_H
#define WORKERS_H

#include "worker.h"

struct batch_queue;

struct workers {
    struct worker *all; /* one at least */
    unsigned size;      /* threads that there are to be; 0: callers do the work */
    unsigned running;   /* threads that have not left; with the reader's lock held */
};

/* How long threads wait for the first batch to be asked for before they begin by themselves: so that a reader which is opened to be
 * looked at and closed decodes nothing, and one whose training begins later is ahead of it. For tests; process-wide. */
void workers_set_patience(uint64_t ns);

/* Starts the threads, if there are to be any. */
apl_status workers_start(apl_reader *r, apl_error *err);

/* Joins the threads if all of them have left, or leaves them to themselves. */
void workers_release(apl_reader *r, bool left);

void workers_free(struct workers *ws);

/* Is a value being read for one of the batches that are to be handed out next? *index: of which block. With the reader's lock held. */
bool workers_are_reading(const apl_reader *r, const struct batch_queue *q, uint32_t *index);

#endif
