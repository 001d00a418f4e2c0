/*
 * The plan: which record is delivered at which position of an epoch. A pure function of the subset, the
 * options below and the epoch; no threads, no I/O.
 *
 * Blocks enter in a random order, each as soon as its records fit into the window. The records of a block are
 * scattered over bins by a keyed hash. A draw picks a bin in proportion to what is left in it, then one of
 * its records, uniformly: every record that stands in the window is equally likely, and with a window that
 * covers the split the order is a uniform permutation. Of a sample that delivers records several times or not at all, it
 * is a uniform one of its deliveries; a block of which more is delivered than the window holds stands in it alone.
 *
 * With lanes, each epoch deals the blocks to them again, each lane has bins and a share of the window of its own, and
 * positions go round the lanes that have records left: uniform within a lane.
 */
#ifndef PLAN_H
#define PLAN_H

#include "sampler.h"
#include "subset.h"

struct plan_options {
    uint64_t seed;
    uint64_t
        window; /* records that may stand at once, over all lanes; of each lane at least those of the largest block */
    unsigned bins;   /* of each lane, 1 ... PLAN_MAX_BINS */
    unsigned lanes;  /* 1 ... the number of blocks; 0: 1 */
    unsigned reuse;  /* how often each record is delivered in an epoch */
    bool sequential; /* in the order of ids, nothing drawn */
    /* What is delivered of each epoch instead; it must outlive the plan. `reuse` is then what sampler_radix() says,
     * and the window counts deliveries. NULL: each record `reuse` times. */
    struct sampler *sampler;
};
#define PLAN_MAX_BINS 4096u

struct plan;

/* The subset must outlive the plan. blocks x stride x reuse must be below 2^32. */
apl_status plan_new(const struct plan_options *options, const struct subset *subset, struct plan **plan,
                    apl_error *err);
void plan_free(struct plan *plan);

/* Goes to the beginning of an epoch. */
void plan_begin(struct plan *plan, uint64_t epoch);

/* The next `n` deliveries, or as many as are left in the epoch: reference x reuse + copy each. Returns how
 * many; fewer than requested, with *failed set, if memory for the bins runs out. */
size_t plan_next(struct plan *plan, uint32_t *deliveries, size_t n, bool *failed);

/* The blocks of the subset (their places in it) in random order, as they are dealt to the lanes, which take them in turn. */
const uint32_t *plan_order(const struct plan *plan);

/* What plan_order() will be in another epoch, into order[blocks]. */
void plan_peek(const struct plan *plan, uint64_t epoch, uint32_t *order);

/* The blocks that have entered by now, in the order in which they have, and how many they are. */
const uint32_t *plan_entered(const struct plan *plan, uint32_t *count);

/* The lane that a block that has entered belongs to. */
unsigned plan_lane(const struct plan *plan, uint32_t block);

/* Deliveries so far in this epoch, and in all of an epoch. */
uint64_t plan_position(const struct plan *plan);
uint64_t plan_length(const struct plan *plan);

/* Bytes that a plan may come to take up. */
size_t plan_bytes(const struct plan_options *options, const struct subset *subset);

#endif
