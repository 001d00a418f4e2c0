/* Planning batches: which records come next, in which batch, and so which blocks. With the reader's lock held, which is released
 * while something is drawn. */
#ifndef PLANNER_H
#define PLANNER_H

#include "bins.h"

struct worker;

/* Of readers that pack: what was drawn for the next batch of all ranks. */
struct packed_plan {
    uint32_t *deliveries;
    size_t count;
    uint64_t skip; /* tokens of the first that were in the batch before */
    uint64_t used; /* of the last, up to the end of this batch, */
    bool pending;  /* if that goes on in the next */
};

/* Of readers whose batches are of like lengths: the pool that was drawn last. */
struct bucket_plan {
    uint32_t *drawn;
    uint64_t *keys;  /* places in `drawn`, batch by batch */
    uint32_t *order; /* of the batches */
    size_t count, next;
    uint64_t number; /* of the epoch's pools */
};

/* One thread plans at a time, which then needs no lock to take from the bins. */
struct planner {
    bool busy;
    struct bins *bins;
    uint32_t *global_batch;   /* deliveries of a batch of all ranks */
    uint64_t epoch, position; /* that is planned, and how far that has come */
    uint64_t length;          /* deliveries of an epoch; where they are packed, tokens */
    struct packed_plan packed;
    struct bucket_plan bucket;
};

apl_status planner_open(apl_reader *r, apl_error *err);
void planner_free(struct planner *p);

/* Plans the next batch, or begins the next epoch; false: neither can be done now, and the lock has been held throughout. */
bool planner_act(apl_reader *r);

/* Starts at this place of an epoch's order, as if nothing had been planned yet; only while no thread is at work. */
apl_status planner_begin(apl_reader *r, uint64_t epoch, uint64_t position, apl_error *err);

/* Has all of the epoch that is handed out been planned, with nobody planning? Has the next epoch been begun? */
static inline bool planner_is_ahead(const struct planner *p, uint64_t epoch)
{
    return p->epoch > epoch;
}

static inline bool planner_is_idle(const struct planner *p, uint64_t epoch)
{
    return !p->busy && p->epoch == epoch;
}

#endif
