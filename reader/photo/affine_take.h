/* Planes that an affine map is applied to: by one resampling, of the nearest element, or of the four pixels around. Pure functions; every
 * variant is bit-equal to the scalar one. */
#ifndef AFFINE_TAKE_H
#define AFFINE_TAKE_H

#include "affine.h"
#include "cpu.h"

#include <stddef.h>

#define AFFINE_BEYOND 4  /* bytes that are read beyond the last plane, whatever they hold */
#define AFFINE_WEIGHT 12 /* bits of a bilinear weight */

/* Planes of one size, one after another; elements of 1, 2, 4 or 8 bytes. */
struct affine_planes {
    unsigned count;
    uint32_t width, height; /* at most 32768 */
    size_t element;
};

/* Writes to `out` what the map makes of `from`, by the nearest element; `fill`, an element for each plane, is what lies beyond. */
void affine_nearest(const struct affine_map *map, const struct affine_planes *planes, const uint8_t *from,
                    const uint8_t *fill, uint8_t *out);

/* The same of pixels, which are bytes, each the mean of the four around, of which those beyond count as 0; that is then, with `fill` (else
 * NULL), blended with the fill by how much of the four is beyond, as in torchvision. Behind the planes lie AFFINE_BEYOND bytes more. */
void affine_bilinear(const struct affine_map *map, const struct affine_planes *planes, const uint8_t *from,
                     const uint8_t *fill, uint8_t *out);

/* Neighbours in a row of the result that are made of four pixels each: the upper left of them lies at `at` in its plane; the weights, in
 * units of 1 / 2^AFFINE_WEIGHT, are of those to the right and of those below. */
#define AFFINE_RUN 256
struct affine_run {
    uint32_t count;
    uint32_t at[AFFINE_RUN], right[AFFINE_RUN], low[AFFINE_RUN];
};

/* The weight of the pixel to the right of a place, or below it. */
static inline uint32_t affine_weight(int64_t at)
{
    return (uint32_t)((at & (AFFINE_UNIT - 1)) >> (AFFINE_POINT - AFFINE_WEIGHT));
}

/* A pixel made of those around a place, of which some, or all, are beyond the edges; `fill` as above, of this plane. */
uint8_t affine_blend_at_edge(const struct affine_planes *planes, const uint8_t *plane, int64_t x, int64_t y,
                             const uint8_t *fill);

typedef void affine_blend_fn(const struct affine_run *run, const uint8_t *plane, uint32_t width,
                             uint8_t *out);

affine_blend_fn affine_blend_scalar, affine_blend_avx2;

/* That of a variant; the scalar one for what was not built in. */
affine_blend_fn *affine_blend_for(enum cpu_variant variant);

#endif
