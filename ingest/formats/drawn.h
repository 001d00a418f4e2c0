/* Of many things in a row, some to look at: which, each part of a set must know by itself. */
#ifndef DRAWN_H
#define DRAWN_H

#include <stdbool.h>
#include <stdint.h>

/* Is the n-th, from 0, one of them? The first 64 are, and 32 of as many as there were before: some 500 of a million. */
static inline bool is_drawn(uint64_t n)
{
    uint64_t step = 1;
    while (n / step >= 64)
        step *= 2;
    return n % step == 0;
}

#endif
