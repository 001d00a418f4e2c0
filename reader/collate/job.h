/* A batch on its way: from when it is planned until it is handed out. */
#ifndef JOB_H
#define JOB_H

#include "clock.h"
#include "made.h"
#include "pool.h"
#include "run_work.h"

struct outlet;

enum job_stage { JOB_FREE, JOB_PLANNED, JOB_COLLATING, JOB_DONE };

/* A batch on its way. Its stage is the queue's; the rest is written by who plans, then by who collates it. */
struct job {
    enum job_stage stage;
    struct outlet *outlet;    /* of the rank that it is for */
    unsigned rank;            /* which that is */
    uint64_t epoch, position; /* of its first delivery in the epoch's order, over all ranks */
    uint64_t end;             /* position of the first delivery after its global batch */
    uint32_t rows;
    uint32_t *deliveries;
    uint64_t tokens,
        skip;         /* where they are packed: how many; and those of the first delivery that come before */
    bool more;        /* the last delivery goes on in the next batch, or in that of another rank */
    bool consumed;    /* its deliveries count as made */
    uint32_t checked; /* how many rows are known to be here */
    _Atomic uint32_t ahead; /* how many values, field by field, have been asked for: see late.h */
    uint64_t corrupt;       /* records of corrupt blocks that this batch and those before it have met */
    uint32_t
        undecodable; /* rows that are left out since their images cannot be decoded: the first after those that are there */
    struct batch_buffer *buffer;
    uint64_t lacks; /* bytes for which there was no room when it was to be collated; 0: none */
    struct milestones when;
    const struct made_values *made; /* while the batch is collated: of each field; NULL: of none */
    struct runs runs;               /* likewise: of rows */
    apl_status status;
    apl_error error;
};

#endif
