/*
 * From segments of entropy-coded MCUs to samples: Huffman decoding (ITU T.81, F.2.2), dequantisation and the inverse DCT, the
 * same to the bit as libjpeg-turbo's ISLOW and its scaled forms of 4 x 4, 2 x 2 and 1 x 1 as they run on x86-64, where every sum
 * has a width of its own. Bytes are never believed: whatever they are, nothing is read beyond a segment's slack or written beyond
 * the MCUs that are wanted, and the work is bounded by the number of MCUs.
 */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include "code_table.h"
#include "cpu.h"

#include <stddef.h>

#define SEGMENTS_PLANES  3
#define SEGMENTS_BLOCKS  6  /* of an MCU, at most */
#define SEGMENTS_LONGEST 32 /* MCUs of a segment, at most */

/* Bytes behind a segment that may be read, and mean nothing: a block is decoded before the end is asked for. */
#define SEGMENTS_SLACK 256

/* What the segments of an image have in common. */
struct segments {
    struct code_table dc[2], ac[2];     /* of luma or grey, of chroma */
    int16_t quant[SEGMENTS_PLANES][64]; /* row by row */
    unsigned per_segment;               /* MCUs */
    unsigned blocks;                    /* of an MCU */
    struct {
        unsigned plane;
        size_t offset; /* of its samples, from those of the MCU in its plane */
    } block[SEGMENTS_BLOCKS];
    struct {
        size_t stride; /* of samples of a plane */
        size_t step;   /* from MCU to MCU */
        unsigned size; /* of a block's samples: 8, 4, 2 or 1 on a side */
    } plane[SEGMENTS_PLANES];
};

/* Some MCUs of a segment. Behind its bytes lie SEGMENTS_SLACK more that may be read. */
struct segment_run {
    const uint8_t *bytes;
    uint32_t size;
    uint32_t first, end;           /* MCUs first ... end - 1 are wanted; not empty, and within the segment */
    uint8_t *out[SEGMENTS_PLANES]; /* samples of MCU `first` */
};

/* Decodes n runs. Returns n, or the first that was found to be damaged: what has been written of any is undefined then. */
typedef size_t segments_decode(const struct segments *s, const struct segment_run *runs, size_t n);

/* That of a variant; the scalar one for what was not built in. */
segments_decode *segments_for(enum cpu_variant variant);

segments_decode segments_scalar, segments_avx2, segments_avx512, segments_neon;

#endif
