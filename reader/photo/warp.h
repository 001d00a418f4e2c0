/* Planes that are resampled by any map: of each pixel of the result it says where in the plane it comes from. Pure functions; whole
 * numbers from the places on, and the kernels of affine_take.h, so that every variant gives the same bytes. */
#ifndef WARP_H
#define WARP_H

#include "affine_take.h"

/* Where `count` neighbours of a row come from: their middles, in units of 1 / AFFINE_UNIT from the middle of the first pixel. */
struct warp_places {
    uint32_t count;
    int64_t x[AFFINE_RUN], y[AFFINE_RUN];
};

/* Finds the places of the result's pixels from (column, row) on; `count` is given. */
typedef void warp_find_fn(const void *map, uint32_t row, uint32_t column, struct warp_places *places);

/* Where a corner of a box goes: x and y from the upper left corner of the image, in pixels. */
typedef void warp_point_fn(const void *map, const double from[2], double to[2]);

struct warp {
    warp_find_fn *find;
    warp_point_fn *point;
    const void *map; /* what they are given */
};

/* A place in pixels, in those units. What is further away than a pixel from a plane of this side, or no number, is beyond it. */
static inline int64_t warp_place(double at, uint32_t side)
{
    double within = at > -2 ? at < (double)side + 1 ? at : (double)side + 1 : -2;
    return (int64_t)((within + 2) * (double)AFFINE_UNIT) - 2 * AFFINE_UNIT;
}

/* As affine_nearest() and affine_bilinear(). */
void warp_nearest(const struct warp *warp, const struct affine_planes *planes, const uint8_t *from,
                  const uint8_t *fill, uint8_t *out);
void warp_bilinear(const struct warp *warp, const struct affine_planes *planes, const uint8_t *from,
                   const uint8_t *fill, uint8_t *out);

#endif
