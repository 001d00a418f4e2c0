/* In free order, blocks are put into the bins as they arrive. In strict order nothing of this does anything. With the reader's lock held, unless
 * said otherwise. */
#ifndef ARRIVING_H
#define ARRIVING_H

#include "plan.h"

struct arriving {
    uint64_t epoch;    /* into whose bins blocks go */
    uint32_t inserted; /* its blocks that have been put into them, or of which none is to come */
};

/* Begins an epoch. */
void arriving_begin(apl_reader *r, uint64_t epoch);

/* How many deliveries of a block the epoch has had before its state was resumed. */
uint32_t arriving_had(const apl_reader *r, uint32_t index);

/* A block is there, or known to be bad: puts it into the bins of the epoch of this parity; or says that none of it is to come. */
void arriving_offer(apl_reader *r, uint32_t index, uint32_t parity);
void arriving_skip(apl_reader *r);

/* May n deliveries be taken: do so many stand, or all that is left of the epoch; and have all blocks been put but `late`? */
bool arriving_stands(const apl_reader *r, size_t n);

#endif
