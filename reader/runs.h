/*
 * Rows of a batch that many threads make. The thread that collates the batch takes them in runs, from the first row on; threads that
 * have nothing else to do take runs of it too, and for the first batch of an epoch any thread does. Which thread has made a row shows
 * nowhere: runs are taken in order, each to its end, and of those that fail, the error of the first counts.
 */
#ifndef RUNS_H
#define RUNS_H

#include "worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What helpers and who is helped share; all but `first` with the reader's lock held. */
struct help {
    pthread_cond_t left; /* the last helper of a batch has gone */
    unsigned idle;       /* threads that wait for something to do */
    /* The job that comes before all others: the epoch's first batch (of several ranks', any), while there are runs of it. NULL: none. */
    _Atomic(struct job *) first;
};

/* Makes all rows of a batch; alone, where there is nobody to help or little to do. Returns when nobody is left at them. Without the
 * lock. */
apl_status runs_make(struct worker *w, struct job *job, const struct run_work *work, apl_error *err);

/* Helps with the epoch's first batch, or with any, if there are runs to take; false: none, and the lock has been held
 * throughout. With the lock held. */
bool runs_help_first(struct worker *w);
bool runs_help_any(struct worker *w);

#endif
