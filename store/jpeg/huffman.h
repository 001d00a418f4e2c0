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

/* What a code is for: differences of DC (0 ... 11); coefficients (runs and sizes up to 10, end of block, 16 zeros); or coefficients of
 * a progressive image, in which up to 2^15 - 1 blocks end together. */
enum huffman_kind { HUFFMAN_DC, HUFFMAN_AC, HUFFMAN_PROGRESSIVE };

/* Is it such a code, each of whose symbols occurs once? */
bool huffman_ok(const struct huffman *code, enum huffman_kind kind);

/* Takes a code from the front of a cursor: counts, then symbols. false: none, or it is not right. */
bool huffman_take(struct cursor *c, enum huffman_kind kind, struct huffman *code);

/* The code that makes the fewest bits of symbols that occur that often. Of two that occur as often the lower comes first. */
void huffman_best(const uint32_t frequencies[256], struct huffman *code);

/* What a look-up finds: the bits of a code, those of the code and the value that follows it, and the symbol; 0: there is no such
 * code. The symbol's lower half is how many bits the value has. */
static inline uint32_t huffman_entry(unsigned bits, uint8_t symbol)
{
    return bits | (bits + (symbol & 15)) << 8 | (uint32_t)symbol << 16;
}
static inline unsigned entry_code_bits(uint32_t entry)
{
    return entry & 0xff;
}
static inline unsigned entry_bits(uint32_t entry)
{
    return entry >> 8 & 0xff;
}
static inline unsigned entry_symbol(uint32_t entry)
{
    return entry >> 16;
}

struct huffman_decoder {
    uint32_t fast[1 << HUFFMAN_FAST];   /* of the next bits: an entry, or 0 if the code is longer */
    uint32_t end[HUFFMAN_LONGEST + 1];  /* one past the last code of that many bits, filled up to 16 bits */
    int32_t first[HUFFMAN_LONGEST + 1]; /* added to a code of that many bits, it gives its symbol's place */
    uint8_t symbols[256];
};

/* Of each symbol the code, with zeros for the bits of the value that follows it, and above HUFFMAN_CODED bits how many bits that is
 * in all; 0: there is no such symbol. */
#define HUFFMAN_CODED 27u
struct huffman_encoder {
    uint32_t code[256];
};

/* Of codes that are right. */
void huffman_decoder_make(const struct huffman *code, struct huffman_decoder *d);
void huffman_encoder_make(const struct huffman *code, struct huffman_encoder *e);

/* The entry of a code that one look-up does not find. The window must have 16 bits. */
static inline uint32_t huffman_long(const struct huffman_decoder *d, const struct bit_reader *b)
{
    uint32_t code = bits_peek(b, HUFFMAN_LONGEST);
    for (unsigned n = HUFFMAN_FAST + 1; n <= HUFFMAN_LONGEST; n++)
        if (code < d->end[n])
            return huffman_entry(n, d->symbols[(int32_t)(code >> (HUFFMAN_LONGEST - n)) + d->first[n]]);
    return 0;
}

#endif
