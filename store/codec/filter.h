/*
 * The kernels under the image codec. Each instruction set has a table of them; all tables give the same
 * bytes as the scalar one.
 *
 * A group is WAYS records (of one plane) side by side: byte p of each, then byte p + 1 of each. Undoing the
 * prediction is a chain along an image, but the ways are independent of each other: so one vector
 * instruction moves all of them on by a pixel.
 */
#ifndef FILTER_H
#define FILTER_H

#include "cpu.h"

#include <stddef.h>
#include <stdint.h>

#define WAYS 32

#define FILTER_MIDDLE 128
#define FILTER_CALM   12

struct filter {
    /* to[i] = a[i] - b[i] + FILTER_MIDDLE mod 256: differences about zero must not wrap in the middle of what
     * is compared when they are predicted. */
    void (*subtract)(uint8_t *to, const uint8_t *a, const uint8_t *b, size_t n);

    /* Undoes subtract(), in place: to[i] += a[i] - FILTER_MIDDLE mod 256. */
    void (*add_back)(uint8_t *to, const uint8_t *a, size_t n);

    /* The MED residuals of a plane. Returns the activity: the sum of their absolute values, taken as signed
     * bytes, each counted as FILTER_CALM at most. */
    uint64_t (*residuals)(uint8_t *to, const uint8_t *plane, size_t width, size_t height);

    /* Undoes residuals() on a group, in place. The WAYS * width bytes in front of it must be FILTER_MIDDLE.
     */
    void (*restore)(uint8_t *group, size_t width, size_t height);

    /* Undoes residuals() on a plane of one image, in place. Neither dimension is 0. */
    void (*restore_plane)(uint8_t *plane, size_t width, size_t height);

    /* Lays n bytes of each of WAYS records side by side. */
    void (*interleave)(uint8_t *group, const uint8_t *const from[WAYS], size_t n);

    /* The way back. If `plus` is not NULL, undoes subtract() too: to[w][i] = byte i of way w + plus[w][i] -
     * FILTER_MIDDLE mod 256. Ways that nobody wants may share one place to go. */
    void (*separate)(uint8_t *const to[WAYS], const uint8_t *const *plus, const uint8_t *group, size_t n);
};

/* The kernels of a variant; those of CPU_SCALAR for one that was not built in. */
const struct filter *filter_for(enum cpu_variant variant);

extern const struct filter filter_scalar, filter_avx2, filter_avx512, filter_neon;

/* What the tables hold as restore_plane: plane_kernel.h. */
void plane_restore_scalar(uint8_t *plane, size_t width, size_t height);
void plane_restore_avx2(uint8_t *plane, size_t width, size_t height);
void plane_restore_avx512(uint8_t *plane, size_t width, size_t height);
void plane_restore_neon(uint8_t *plane, size_t width, size_t height);

/*
 * The prediction of LOCO-I, mod 256: the median of west, north and west + north - northwest. The first pixel
 * is predicted as FILTER_MIDDLE, the others of the first row by west, those of the first column by north:
 * this is what comes out when every pixel of a row above the first is taken as FILTER_MIDDLE, and west and
 * northwest of the first column as north.
 */
static inline uint8_t filter_med(uint8_t west, uint8_t north, uint8_t northwest)
{
    uint8_t low = west < north ? west : north;
    uint8_t high = west < north ? north : west;
    uint8_t middle = northwest < low ? low : northwest > high ? high : northwest;
    return (uint8_t)(west + north - middle);
}

/* What a residual adds to the activity. */
static inline unsigned filter_activity(uint8_t residual)
{
    unsigned size = residual < 128 ? residual : 256u - residual;
    return size < FILTER_CALM ? size : FILTER_CALM;
}

#endif
