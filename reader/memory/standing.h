/* What is in memory of the epoch that is collated and of the next: blocks, by the parity of the epoch, and the slots of their records. */
#ifndef STANDING_H
#define STANDING_H

#include "cached_block.h"

struct standing {
    struct cached_block *blocks[2]; /* one and the same where the cache keeps */
    struct slab slab;
};

static inline const struct cached_block *standing_block(const struct standing *s, uint64_t epoch,
                                                        uint32_t index)
{
    return &s->blocks[epoch & 1][index];
}

#endif
