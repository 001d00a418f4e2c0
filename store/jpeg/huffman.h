/* Huffman codes as JPEG has them: of at most 16 bits, none of which is all ones. */
#ifndef HUFFMAN_H
#define HUFFMAN_H

#include "bits.h"

#define HUFFMAN_LONGEST 16
#define HUFFMAN_FAST    10 /* bits of a code that one look-up decodes */

/* A code: how many symbols have 1, 2, ... bits, and the symbols in the order of their codes. */
struct huffman {
    uint8_t counts[HUFFMAN_LONGEST];
    uint8_t symbols[256];
    unsigned size; /* symbols */
};

/* Is it a code, each of whose symbols occurs once, for differences of DC (0 ... 11), or for coefficients (runs and sizes up to 10,
 * end of block, 16 zeros)? */
bool huffman_ok(const struct huffman *code, bool dc);

/* Takes a code from the front of a cursor: counts, then symbols. false: there is none, or it is not right. */
bool huffman_take(struct cursor *c, bool dc, struct huffman *code);

/* The code that makes the fewest bits of symbols that occur that often. Of two that occur as often the lower comes first. */
void huffman_best(const uint32_t frequencies[256], struct huffman *code);

/* What one look-up finds, of the next HUFFMAN_FAST bits: the bits of a code (the lowest byte), its symbol, and in the upper half
 * the value that follows it, if all of its bits are among them: then they count too. Of a value of no bits, or of more, there is
 * 0; of a longer code there is nothing. */
struct huffman_decoder {
    uint32_t fast[1 << HUFFMAN_FAST];
    uint32_t end[HUFFMAN_LONGEST + 1]; /* the first code of so many bits that is none, filled up to 16 bits */
    int32_t first[HUFFMAN_LONGEST + 1]; /* added to a code of so many bits, it gives its symbol's place */
    uint8_t symbols[256];
};

struct huffman_encoder {
    uint32_t code[256]; /* its bits << 16 | the code; 0: there is no such symbol */
};

/* Of codes that are right. */
void huffman_decoder_make(const struct huffman *code, struct huffman_decoder *d);
void huffman_encoder_make(const struct huffman *code, struct huffman_encoder *e);

/* The symbol of a code that one look-up does not find; -1: there is no such code. The window must have 16 bits. */
static inline int huffman_symbol(const struct huffman_decoder *d, struct bit_reader *b)
{
    uint32_t code = bits_peek(b, HUFFMAN_LONGEST);
    for (unsigned n = HUFFMAN_FAST + 1; n <= HUFFMAN_LONGEST; n++)
        if (code < d->end[n]) {
            bits_skip(b, n);
            return d->symbols[(int32_t)(code >> (HUFFMAN_LONGEST - n)) + d->first[n]];
        }
    return -1;
}

/* What `size` bits stand for, 1 ... 11: the upper half of them are positive. */
static inline int huffman_value(uint32_t bits, unsigned size)
{
    int negative = (int)(bits >> (size - 1)) - 1; /* all ones, or 0 */
    return (int)bits - (negative & ((1 << size) - 1));
}

#endif
