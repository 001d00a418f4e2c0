/* Rows of a batch that one or many threads make: see ../runs.h. */
#ifndef RUN_WORK_H
#define RUN_WORK_H

#include "assemble.h"
#include "status.h"

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

#define RUN_MADE_BYTES   ((size_t)64 << 10)
#define RUN_COPIED_BYTES ((size_t)4 << 20)

/* Rows of `bytes` that a run has, so that one is worth being taken by itself: of images that are decoded or changed, and of values
 * that are hardly more than copied. */
static inline size_t run_step_made(size_t bytes)
{
    return 1 + RUN_MADE_BYTES / (bytes + 1);
}

static inline size_t run_step_copied(size_t bytes)
{
    return 1 + RUN_COPIED_BYTES / (bytes + 1);
}

#endif
