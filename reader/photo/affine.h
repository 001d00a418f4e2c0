/* How an image is turned, scaled, sheared or moved: whole numbers, made by operations that IEEE 754 defines to the bit, so that every
 * machine has the same ones. */
#ifndef AFFINE_H
#define AFFINE_H

#include <stdint.h>

#define AFFINE_POINT  30
#define AFFINE_UNIT   ((int64_t)1 << AFFINE_POINT)
#define AFFINE_SHEAR  80.0    /* degrees at most */
#define AFFINE_ZOOM   100.0   /* at most; at least 1 / AFFINE_ZOOM */
#define AFFINE_CENTRE 32768.0 /* pixels from the upper left corner, at most */

/* Where the middle of result pixel (x, y) comes from: xx * x + xy * y + x0, and likewise y; in units of 1 / AFFINE_UNIT. */
struct affine_map {
    int64_t xx, xy, x0, yx, yy, y0;
};

/* torchvision's: x moves by `shear` for each pixel down, or y for each to the right; pixels to the right, or down. */
struct affine_map affine_shear_x(double shear);
struct affine_map affine_shear_y(double shear);
struct affine_map affine_move(int32_t right, int32_t down);

/* As torchvision's affine(): turned clockwise around the centre, sheared, scaled, and moved. */
struct affine_motion {
    double degrees, zoom, shear[2]; /* of x and of y, in degrees */
    double centre[2];               /* x and y, in pixels from the upper left corner */
    int32_t right, down;            /* pixels */
};

struct affine_map affine_of(const struct affine_motion *motion);

/* Where the map takes a point of the image: x and y from its upper left corner, in pixels. */
void affine_point(const struct affine_map *map, const double from[2], double to[2]);

#endif
