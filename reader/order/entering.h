/*
 * Entering: which blocks there are to deliver from, and from when on. Counts alone, so that all of it is known without loading anything, and
 * does not depend on threads, batches or ranks.
 *
 * Each epoch has a random order of blocks, which lanes take in turn. Where the window covers the split, all enter at once. Below that,
 * time goes in turns, turn t being when bin t becomes the oldest; before it is drained, blocks enter while what stands and the next
 * block fit into the window, or nothing stands: a block that is larger than the window stands alone.
 */
#ifndef ENTERING_H
#define ENTERING_H

#include <stdbool.h>
#include <stdint.h>

/* The blocks in the order of an epoch, into order[blocks]; sequential: by number. */
void entering_order(uint64_t seed, uint64_t epoch, bool sequential, uint32_t blocks, uint32_t *order);

/* Does a block of so many deliveries enter, when so many stand? */
static inline bool entering_fits(uint64_t window, uint64_t standing, uint64_t block)
{
    return standing == 0 || standing + block <= window;
}

#endif
