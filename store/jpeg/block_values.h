/* The values of blocks as codes, and where the blocks of an MCU are: what sequential and progressive scans have in common. */
#ifndef BLOCK_VALUES_H
#define BLOCK_VALUES_H

#include "blocks.h"

#define BLOCK_INLINE __attribute__((always_inline)) static inline

#define DC_MOST 2047
#define END     0x00 /* end of block */
#define ZEROS   0xf0 /* 16 zeros */

/* A block of an MCU: of component i of a walk. */
struct place {
    unsigned i, x, y;
};

static inline void next_place(const struct walk *w, struct place *p)
{
    if (++p->x < w->across[p->i])
        return;
    p->x = 0;
    if (++p->y < w->down[p->i])
        return;
    p->y = 0;
    p->i++;
}

/* Its number, of those of the component. */
static inline size_t block_at(const struct blocks *b, const struct walk *w, uint32_t row, uint32_t column,
                              const struct place *p)
{
    return (size_t)(row * w->down[p->i] + p->y) * b->of[w->component[p->i]].stride +
           column * w->across[p->i] + p->x;
}

/* Takes the next code and the value that follows it, of which the window must have all bits. Without a branch for the value: how
 * many bits it has is hard to foresee. 0: there is no such code. */
BLOCK_INLINE uint32_t take_coded(const struct huffman_decoder *d, struct bit_reader *bits, int *value)
{
    uint32_t entry = d->fast[bits_peek(bits, HUFFMAN_FAST)];
    if (__builtin_expect(entry == 0, 0))
        entry = huffman_long(d, bits);
    uint64_t behind = bits->window << entry_code_bits(entry);
    unsigned size = entry_symbol(entry) & 15;
    int negative = (int)(behind >> 63) - 1; /* all ones, or 0: the upper half of values is positive */
    *value = (int)(behind >> 1 >> (63 - size)) - (negative & ((1 << size) - 1));
    bits_skip(bits, entry_bits(entry));
    return entry;
}

static inline unsigned size_of(int value)
{
    return value == 0 ? 0 : 32 - (unsigned)__builtin_clz((unsigned)(value < 0 ? -value : value));
}

/* Bits to be written, the last at the lowest place. */
struct coded {
    uint64_t bits;
    unsigned count;
};

/* Puts the code of a symbol and the bits of its value, which a negative value has less one, behind others; false: there is no such
 * code. */
BLOCK_INLINE bool add_value(const struct huffman_encoder *e, unsigned symbol, int value, struct coded *c)
{
    uint32_t low = (uint32_t)(value + (value >> 31)) & ((1u << (symbol & 15)) - 1), code = e->code[symbol];
    c->bits = c->bits << (code >> HUFFMAN_CODED) | (code & ((1u << HUFFMAN_CODED) - 1)) | low;
    c->count += code >> HUFFMAN_CODED;
    return code > 0;
}

#endif
