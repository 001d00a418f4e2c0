/*
 * Pixels of three planes side by side, where no instruction puts bytes in any order: bytes, words of 2 and of 4 of them trade places by
 * shifts and masks, which compilers make of 16 bytes at a time for every processor that has vectors at all.
 */
#ifndef INTERLEAVE_H
#define INTERLEAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INTERLEAVED 16u /* pixels at a time */

typedef uint16_t pairs16 __attribute__((vector_size(16)));
typedef uint32_t pairs32 __attribute__((vector_size(16)));
typedef uint64_t pairs64 __attribute__((vector_size(16)));

struct interleaved {
    pairs64 a, b, c;
};

/* Of halves that lie in pairs (low, high) in a, b, c: the order a b c of the low ones, then of the high ones. */
#define INTERLEAVE_PAIRS(pairs, bits, v)                                           \
    {                                                                              \
        (pairs64)(((pairs)(v).a & low_##bits) | (pairs)(v).b << (bits)),           \
            (pairs64)(((pairs)(v).c & low_##bits) | ((pairs)(v).a & ~low_##bits)), \
            (pairs64)((pairs)(v).b >> (bits) | ((pairs)(v).c & ~low_##bits)),      \
    }

/* 16 pixels of each plane become 48 bytes from `to` on. */
static inline __attribute__((always_inline)) void interleave_16(struct interleaved v, uint8_t *to)
{
    const pairs16 low_8 = (pairs16){0} + 0xff;
    const pairs32 low_16 = (pairs32){0} + 0xffff;
    const pairs64 low_32 = (pairs64){0} + 0xffffffff;
    struct interleaved by_2 = INTERLEAVE_PAIRS(pairs16, 8, v), by_4 = INTERLEAVE_PAIRS(pairs32, 16, by_2),
                       by_8 = INTERLEAVE_PAIRS(pairs64, 32, by_4);
    const pairs64 out[3] = {{by_8.a[0], by_8.b[0]}, {by_8.c[0], by_8.a[1]}, {by_8.b[1], by_8.c[1]}};
    for (unsigned i = 0; i < 3; i++)
        memcpy(to + 16 * i, &out[i], 16);
}

static inline __attribute__((always_inline)) pairs64 interleave_load(const uint8_t *from, bool backwards)
{
    pairs64 v;
    memcpy(&v, from, sizeof v);
    return backwards ? (pairs64){__builtin_bswap64(v[1]), __builtin_bswap64(v[0])} : v;
}

/* `count` pixels from `from` on of each plane of `plane` bytes, in their order or in the opposite one; none of the source or of the result is
 * touched beyond them. */
static inline __attribute__((always_inline)) void interleave_row(const uint8_t *from, size_t plane,
                                                                 size_t count, bool backwards, uint8_t *to)
{
    if (count < INTERLEAVED) {
        for (size_t i = 0; i < count; i++)
            for (size_t c = 0; c < 3; c++)
                to[3 * i + c] = from[c * plane + (backwards ? count - 1 - i : i)];
        return;
    }
    for (size_t at = 0; at < count; at += INTERLEAVED) {
        if (at > count - INTERLEAVED) /* the last ones again, with those that are left */
            at = count - INTERLEAVED;
        const uint8_t *p = from + (backwards ? count - INTERLEAVED - at : at);
        struct interleaved v = {interleave_load(p, backwards), interleave_load(p + plane, backwards),
                                interleave_load(p + 2 * plane, backwards)};
        interleave_16(v, to + 3 * at);
    }
}

#endif
