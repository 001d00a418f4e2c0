/*
 * Rows of a batch that many threads make. The thread that collates the batch takes them in runs, from the first row on; threads that
 * have nothing else to do take runs of it too, and for the first batch of an epoch any thread does. Which thread has made a row shows
 * nowhere: runs are taken in order, each to its end, and of those that fail, the error of the first counts.
 */
#ifndef RUNS_H
#define RUNS_H

#include "assemble.h"
#include "status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker;
struct job;
struct geometry;

/* Rows of a field, and what all of them are made from: of the thread that collates the batch, as are the arrays, a row an element. */
struct run_work {
    /* Makes rows from ... to - 1, in this order; stops at the first that fails. Without the lock; `w`: the thread that runs it. */
    apl_status (*make)(struct worker *w, struct job *job, const struct run_work *work, size_t from, size_t to,
                       apl_error *err);
    unsigned field;
    const struct assembly *assembly;
    const uint8_t *const *sources;
    const struct placement *placements; /* NULL: none were drawn */
    struct geometry *geometry;          /* NULL: nothing follows the images */
    size_t step;                        /* rows of a run: see runs_step() */
};

/* The runs of a job. */
struct runs {
    const struct run_work *work;
    uint32_t rows;
    atomic_uint next; /* the first row that nobody has taken */
    /* With the reader's lock held: */
    bool open;        /* others may come to help */
    unsigned helpers; /* that are at it */
    /* Of the first run that has failed, if status says that one has: */
    apl_status status;
    uint32_t failed, undecoded; /* undecoded: as the worker has it */
    apl_error error;
};

/* What helpers and who is helped share; all but `first` with the reader's lock held. */
struct help {
    pthread_cond_t left; /* the last helper of a batch has gone */
    unsigned idle;       /* threads that wait for something to do */
    /* The job that comes before all others: the epoch's first batch (of several ranks', any), while there are runs of it. NULL: there is none. */
    _Atomic(struct job *) first;
};

/* Rows of `bytes` that a run has, so that one is worth being taken by itself: of images that are decoded or changed, and of values
 * that are hardly more than copied. */
size_t runs_step_made(size_t bytes);
size_t runs_step_copied(size_t bytes);

/* Makes all rows of a batch; alone, where there is nobody to help or little to do. Returns when nobody is at them any more. Without the
 * lock. */
apl_status runs_make(struct worker *w, struct job *job, const struct run_work *work, apl_error *err);

/* Helps with the epoch's first batch, or with any, if there are runs to take; false: there are none, and the lock has been held
 * throughout. With the lock held. */
bool runs_help_first(struct worker *w);
bool runs_help_any(struct worker *w);

#endif
