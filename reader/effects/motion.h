/* A random affine map of a crop: torchvision's RandomAffine and RandomRotation. */
#ifndef MOTION_H
#define MOTION_H

#include "affine.h"
#include "effects.h"

/* Does the transform move pixels so? */
bool motion_any(const apl_transform *t);

/* Checks what is asked for, and fills in defaults. */
apl_status motion_check(const char *field, unsigned channels, apl_transform *t, apl_error *err);

/* Draws the map of a crop of this size; false: it stays as it is. */
bool motion_draw(const apl_transform *t, const struct effect_draws *draws, uint32_t height, uint32_t width,
                 struct affine_map *map);

/* Resamples an image by a map; `copy` has room for it and for AFFINE_BEYOND bytes more. Beyond its edges lies `fill`, for each channel,
 * and, if `filled`, pixels at the edges are blended with that. */
void motion_apply(const struct affine_map *map, const float *fill, bool bilinear, bool filled,
                  const struct image *crop, uint8_t *copy);

#endif
