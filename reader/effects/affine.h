/* A picture sheared, moved or turned: one resampling, of the nearest pixel or of the four around. */
#ifndef AFFINE_H
#define AFFINE_H

#include "effects.h"

#define AFFINE_POINT 30
#define AFFINE_UNIT  ((int64_t)1 << AFFINE_POINT)

/* Where the middle of result pixel (x, y) comes from: xx * x + xy * y + x0, and likewise y; in units of 1 / AFFINE_UNIT. */
struct affine_map {
    int64_t xx, xy, x0, yx, yy, y0;
};

/* torchvision's: x moves by `shear` for each pixel down, or y for each to the right; pixels to the right, or down; degrees
 * counterclockwise around the middle. */
struct affine_map affine_shear_x(double shear);
struct affine_map affine_shear_y(double shear);
struct affine_map affine_move(int32_t right, int32_t down);
struct affine_map affine_turn(double degrees, const struct picture *p);

/* Takes the pixels of `from`, a copy of the picture; `fill`, for each channel, is what lies beyond its edges. */
void affine_apply(const struct affine_map *map, const uint8_t *from, const float *fill, bool bilinear,
                  const struct picture *p);

#endif
