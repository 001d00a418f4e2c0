/*
 * The plan: which record is delivered at which position of an epoch. It is a pure function of the subset, of these options and of
 * the epoch. What is asked for is here, and what follows from it before anything is drawn; `places` and `entering` are its two laws,
 * and the reader's bins carry it out.
 *
 * A delivery is a record and a copy. It is written as reference x reuse + copy (see subset.h), and it has a number, 0 ... M-1: by record,
 * then by copy.
 */
#ifndef PLAN_H
#define PLAN_H

#include "sampler.h"
#include "subset.h"

struct plan_options {
    uint64_t seed;
    uint64_t
        window; /* records that may stand at once, over all lanes; of each lane at least those of the largest block */
    unsigned bins;    /* of each lane, 1 ... PLAN_MAX_BINS; 0: as many as suit, see plan_shape() */
    unsigned lanes;   /* 1 ... the number of blocks; 0: 1 */
    unsigned reuse;   /* how often each record is delivered in an epoch */
    bool sequential;  /* in the order of ids, nothing drawn */
    bool arriving;    /* free order: blocks are put as they come */
    unsigned helpers; /* threads that may fill and shuffle beside the one that takes; no part of the order */
    /* What is delivered of each epoch instead; it must outlive the plan. `reuse` is then what sampler_radix() says,
     * and the window counts deliveries. NULL: each record `reuse` times. */
    struct sampler *sampler;
};
#define PLAN_MAX_BINS 4096u /* that can be asked for */

/* What follows from the options. */
struct plan_shape {
    bool whole;          /* the window covers the split */
    unsigned lanes;      /* 1 or more */
    uint32_t bins;       /* of each lane */
    uint64_t block;      /* the most deliveries that a block may have */
    uint64_t deliveries; /* of an epoch: M */
    uint64_t window;     /* of each lane, in deliveries */
};
struct plan_shape plan_shape(const struct plan_options *options, const struct subset *subset);

/* The most deliveries that a block has in any epoch. */
uint64_t plan_most_of_block(const struct plan_options *options, const struct plan_shape *shape);

/* Deliveries that are sorted by bin at a time: what fits into a core's caches, beside as many places to put them as there are bins. */
uint32_t plan_chunk(const struct plan_shape *shape);

/* The most chunks of an epoch, and how many threads may sort one at a time. */
uint64_t plan_chunks(const struct plan_shape *shape);
unsigned plan_fillers(const struct plan_options *options, const struct plan_shape *shape);

/* The most deliveries of a chunk: those of one block may be more than plan_chunk(). */
uint32_t plan_largest_chunk(const struct plan_options *options, const struct plan_shape *shape);

/* Shuffled bins of a lane that may stand, the one that is drained among them. */
unsigned plan_shuffled(const struct plan_options *options, const struct plan_shape *shape);

/* Bytes that bins may come to take up. */
size_t plan_bytes(const struct plan_options *options, const struct subset *subset);

#endif
