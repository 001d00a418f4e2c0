/*
 * Bits of Huffman coded data, from the highest of each byte on, without the stuffing that JPEG files have. Reading past the end
 * gives zeros, and is reported by bits_end().
 */
#ifndef BITS_H
#define BITS_H

#include "bytes.h"

struct bit_reader {
    const uint8_t *at, *end;
    uint64_t window; /* the next bits, from the highest on */
    unsigned have;   /* bits in the window, */
    size_t missing;  /* how many of them lie beyond the end, at the window's end */
};

static inline struct bit_reader bits_over(const uint8_t *bytes, size_t size)
{
    return (struct bit_reader){.at = bytes, .end = size ? bytes + size : bytes};
}

static inline uint64_t load_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap64(v);
}

/* Makes sure that the window has 57 bits or more. */
static inline void bits_fill(struct bit_reader *b)
{
    if (b->end - b->at >= 8) {
        b->window |= load_be64(b->at) >> b->have;
        b->at += (63 - b->have) >> 3;
        b->have |= 56;
        return;
    }
    for (; b->have <= 56; b->have += 8) {
        if (b->at < b->end)
            b->window |= (uint64_t)*b->at++ << (56 - b->have);
        else
            b->missing += 8;
    }
}

/* The next n bits, 1 ... 32, which must be in the window. */
static inline uint32_t bits_peek(const struct bit_reader *b, unsigned n)
{
    return (uint32_t)(b->window >> (64 - n));
}

static inline void bits_skip(struct bit_reader *b, unsigned n)
{
    b->window <<= n;
    b->have -= n;
}

/* How many bits have not been read; negative, if more have been than there are. */
static inline int64_t bits_left(const struct bit_reader *b)
{
    return (int64_t)(b->end - b->at) * 8 + b->have - (int64_t)b->missing;
}

/* Writes to memory that has room: eight bytes more than the bits take. */
struct bit_writer {
    uint8_t *at;
    uint64_t window; /* bits that fill no byte yet, in the highest places */
    unsigned have;   /* of them, at most 7 */
};

/* Puts the n lowest bits of `bits`, at most 56; those above must be 0. Without a branch: how many bits there are is hard to
 * foresee. */
static inline void bits_put(struct bit_writer *b, uint64_t bits, unsigned n)
{
    uint64_t window = b->window | bits << 1 << (63 - b->have - n), bytes;
    b->have += n;
    bytes = __builtin_bswap64(window);
    memcpy(b->at, &bytes, sizeof bytes);
    b->at += b->have >> 3;
    b->window = window << (b->have & 0x38);
    b->have &= 7;
}

/* Fills the last byte with the lowest bits of `fill`. */
static inline void bits_flush(struct bit_writer *b, uint8_t fill)
{
    unsigned rest = (8 - b->have) & 7;
    bits_put(b, fill & ((1u << rest) - 1), rest);
}

#endif
