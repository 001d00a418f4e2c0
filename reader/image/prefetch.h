/*
 * Values of a batch lie here and there in memory. Processors guess what is read next only within a page, and not before some of it has
 * been read: so a value is asked for while those before it are being read. It comes into the second cache, since the first has room for
 * few requests, which the value that is being read needs.
 */
#ifndef PREFETCH_H
#define PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#define PREFETCH_AHEAD 3 /* values */
/* Bytes. Of values that are shorter and only copied, processors read many at once as it is; of longer ones they guess the rest. */
#define PREFETCH_LEAST 1024u
#define PREFETCH_MOST  16384u
#define PREFETCH_LINE  64u

/*
 * Asks for the value of element `i` of `count`, of `bytes` bytes; of none beyond the last, nor of one that follows its predecessor in
 * memory, as in sequential order: those the processor guesses. Inlined before gcc looks for calls without an effect: prefetching is none
 * to it, and such calls are dropped.
 */
static inline __attribute__((always_inline)) void prefetch_value(const uint8_t *const *values, size_t i,
                                                                 size_t count, size_t bytes)
{
    if (i >= count || (i > 0 && values[i] == values[i - 1] + bytes))
        return;
    size_t most = bytes < PREFETCH_MOST ? bytes : PREFETCH_MOST;
    for (size_t at = 0; at < most; at += PREFETCH_LINE)
        __builtin_prefetch(values[i] + at, 0, 2);
}

#endif
