/*
 * Tables that decode the Huffman codes of a baseline JPEG (ITU T.81, F.2.2.3): one look-up gives how far the zigzag goes on, the
 * value, and how many bits both took. Codes that are too long for it, with their value, are decoded by a function.
 */
#ifndef CODE_TABLE_H
#define CODE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_BITS    12 /* that are looked up at once */
#define CODE_LONGEST 16
#define CODE_MOST    27 /* bits of a code and its value */

/* What an entry adds to the place in the zigzag, when it is no run: both lead beyond any place that runs lead to. */
#define CODE_END  128 /* end of block */
#define CODE_LONG 192 /* code_table_long() must be asked: the entry takes 0 bits */
#define CODE_BAD  192 /* no such code; says that function */

/* An entry: bits taken; steps along the zigzag << 8; value << 16. */
struct code_table {
    uint32_t look[1 << CODE_BITS];
    uint32_t limit[CODE_LONGEST + 1]; /* behind the last code of n bits, in the upper of 16 bits */
    int32_t shift[CODE_LONGEST + 1];  /* from a code of n bits to the place of its symbol */
    uint8_t symbols[256];
    bool steps; /* of AC coefficients: symbols are runs and sizes; else sizes */
};

/* `counts` of codes of 1 ... 16 bits, and as many symbols, as in a DHT segment. False: more codes than there is room for. */
bool code_table_make(struct code_table *h, const uint8_t counts[CODE_LONGEST], const uint8_t *symbols,
                     bool steps);

/* The entry of what begins with the highest bit of `word`, of which CODE_MOST bits are valid, where `entry` takes 0 bits. */
uint32_t code_table_long(const struct code_table *h, uint64_t word, uint32_t entry);

#endif
