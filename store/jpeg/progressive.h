/*
 * Scans of a progressive JPEG image: each has a band of the coefficients, from bit `low` on if nothing has been sent of them yet, else
 * one bit more. Encoding makes of an image's coefficients what libjpeg does; its decoder takes anything that leads to coefficients
 * which sequential scans can have, so that one must encode to find whether a file comes back. Plain C: few files are progressive.
 */
#ifndef PROGRESSIVE_H
#define PROGRESSIVE_H

#include "blocks.h"

#define PROGRESSIVE_MOST_SCANS 100u

/* What a scan has: coefficients first ... last in zigzag order, of one component unless they are 0 ... 0. */
struct band {
    uint8_t first, last;
    uint8_t high, low; /* bits that were, and that are still missing; high 0: nothing has been sent of them */
};

/* Of each coefficient of each component: 0, nothing has been sent; else 1 more than the bits that are missing. */
struct progress {
    uint8_t of[BLOCKS_COMPONENTS][BLOCK_VALUES];
};

/* Takes note of a scan of such components; false: it is not what can come next. */
bool progress_add(struct progress *p, const struct band *band, unsigned count, const uint8_t *components);

/* Has all been sent of the first `components`? Until then a decoder makes up for what is missing. */
bool progress_is_whole(const struct progress *p, unsigned components);

#define CORRECTIONS_MOST 937u /* that are held back */

/* What is held back since the last code: blocks that have ended, and bits that correct coefficients which are not zero. */
struct held {
    uint32_t ended;   /* blocks */
    unsigned of_them; /* bits, of those blocks; */
    unsigned count;   /* and with those of the block at hand */
    uint8_t bits[CORRECTIONS_MOST + 1 + 2 * BLOCK_VALUES];
};

/* A restart interval, which begins with zeros. */
struct band_state {
    struct predictions predictions;
    struct held held; /* while it is decoded, `ended` counts those to come */
};

/* MCU `column` of row `row` of a scan, which must be in the image. The blocks must have been zero before the first scan. false: the bits
 * are damaged, or lead to values beyond those of sequential scans. */
bool band_decode(struct blocks *b, const struct walk *w, const struct blocks_decoders *d,
                 const struct band *band, uint32_t row, uint32_t column, struct band_state *s,
                 struct bit_reader *bits);

/* The writer has room for BLOCK_MOST_BYTES for each block, twice. false: there is no code. */
bool band_encode(const struct blocks *b, const struct walk *w, const struct blocks_encoders *e,
                 const struct band *band, uint32_t row, uint32_t column, struct band_state *s,
                 struct bit_writer *bits);

/* Writes what is held back at the end of a restart interval. */
bool band_end(const struct blocks_encoders *e, struct band_state *s, struct bit_writer *bits);

#endif
