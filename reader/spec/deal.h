/* Which rank takes which position of an epoch. A pure function of the options: all ranks agree on it without a word. */
#ifndef DEAL_H
#define DEAL_H

#include "spec.h"

/*
 * A global batch that is dealt: the `n` positions from `position` on. With one lane, each rank has a run of them. With a
 * multiple of world, ranks take positions in turns, so that full rounds bring a rank its own lanes. With any other number, each has a
 * run of the batch sorted by lanes: its share of them, and a part of those that this cuts.
 */
struct deal {
    uint64_t position, n, world, lanes;
    bool in_turns;
    uint64_t first_lane, rounds,
        end; /* of whole rounds of the lanes; end: those before it have one position more */
};
struct deal deal_begin(const struct reader_options *o, uint64_t position, uint64_t n);

/* The rank that takes number `k` of the positions. */
uint64_t deal_rank(const struct deal *deal, uint64_t k);

/* The first and last of the ranks whose share a lane is of. At times others take some of its positions too. */
struct ranks_of_lane {
    uint64_t first, last;
};
struct ranks_of_lane deal_lane(const struct reader_options *o, unsigned lane);

#endif
