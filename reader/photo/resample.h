/*
 * Scaling of one plane by a triangle filter as wide as the scale wants it, as Pillow's and torchvision's antialiased bilinear
 * filter is: first across, one row at a time; then down, over rows; then colours. In whole numbers, so that every variant gives
 * the same bytes on every machine. A pure function of its arguments.
 */
#ifndef RESAMPLE_H
#define RESAMPLE_H

#include "cpu.h"
#include "scratch.h"

#include <stdbool.h>

#define RESAMPLE_UNIT  (1 << 14) /* the weights of one result sum up to this */
#define RESAMPLE_POINT 7         /* bits behind the point of a value that was resampled */
#define RESAMPLE_LANES 8         /* results that stand together in a step */
#define RESAMPLE_SLACK 32        /* samples behind a row that may be read, and come to nothing */
#define RESAMPLE_BLOCK 16        /* rows of resampled values have room for a multiple of this */

/* What is wanted along one axis of a plane: samples `begin` to `end`, where sample k is from k to k + 1, scaled to `size`
 * results, and of those `count` from the `from`th on. Samples low ... high - 1 are used, and no others. */
struct resample_span {
    double begin, end;
    uint32_t low, high;
    uint32_t size, from, count;
};

/* Two samples of each of RESAMPLE_LANES results. The samples of four results lie within the 16 bytes from from[0] or from[1]
 * on; `index` says where, in 4 bytes for each result, as two numbers of 16 bits whose upper bytes are empty (0x80). */
struct resample_step {
    uint32_t from[2];
    uint8_t index[4 * RESAMPLE_LANES];
    int16_t weights[2 * RESAMPLE_LANES];
};

/* The samples of each result along an axis, and their weights. */
struct resample_axis {
    uint32_t count, taps; /* results; samples of each, an even number */
    uint32_t *first;      /* of each result */
    int16_t *weights;     /* taps of each result */
    struct resample_step
        *steps; /* taps / 2 of each RESAMPLE_LANES results; NULL: the samples lie too far apart */
    struct scratch memory;
};

/* The caller has checked that the span is not empty, low <= begin < end <= high but for less than a sample, and from + count <=
 * size. `steps`: for resampling across. False: out of memory. */
bool resample_axis_make(struct resample_axis *axis, const struct resample_span *span, bool steps);
void resample_axis_free(struct resample_axis *axis);

struct resample {
    /* One row of samples, behind which RESAMPLE_SLACK may be read, to axis->count values. */
    void (*across)(const struct resample_axis *axis, const uint8_t *row, int16_t *out);
    /* The sum of `taps` rows of n values, each times its weight. */
    void (*down)(const int16_t *const *rows, const int16_t *weights, uint32_t taps, size_t n, int16_t *out);
    /* Rows of n values to bytes, rounded: as they are, and luma and chroma (JFIF) to red, green and blue. */
    void (*bytes)(const int16_t *row, size_t n, uint8_t *out);
    void (*colours)(const int16_t *const ycc[3], size_t n, uint8_t *const rgb[3]);
};

/* That of a variant; the scalar one for what was not built in. */
const struct resample *resample_for(enum cpu_variant variant);

extern const struct resample resample_scalar, resample_avx2, resample_avx512, resample_neon;

/* What luma is raised by for a unit of chroma, less a whole one for red and blue, times 2^15. */
#define RESAMPLE_RED_CR    13173
#define RESAMPLE_GREEN_CB  11277
#define RESAMPLE_GREEN_CR  23401
#define RESAMPLE_BLUE_CB   25297
#define RESAMPLE_NO_CHROMA (128 << RESAMPLE_POINT)

#endif
