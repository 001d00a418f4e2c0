/* Boxes around things in an image, which follow it: as torchvision's v2 has them, in single precision. Pure functions. */
#ifndef BOXES_H
#define BOXES_H

#include "geometry.h"
#include "warp.h"

#include <stddef.h>

#define BOX_NUMBERS 4

/* n boxes of BOX_NUMBERS numbers each, moved and scaled as the image, clamped to what was taken of it, and flipped as it; if all of
 * it was taken and it is `warped` thereafter, boxes_warp() clamps them. `out` may be `boxes`. */
void boxes_follow(const struct geometry *geometry, apl_form form, bool warped, const float *boxes, size_t n,
                  float *out);

/* n boxes, moved as an image of this size is; of each comes out the upright one around it, clamped to the image. */
void boxes_warp(const struct warp *warp, uint32_t width, uint32_t height, apl_form form, float *boxes,
                size_t n);

/* Does a box, once it has followed, lie within the window and have sides of at least `size`, and at least `area`? */
bool boxes_keep(const struct geometry *geometry, apl_form form, double size, double area,
                const float box[BOX_NUMBERS]);

#endif
