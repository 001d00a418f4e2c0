/* Boxes of an image that was turned or resized when it came in. */
#ifndef BOXES_MOVED_H
#define BOXES_MOVED_H

#include "image_maker.h"

/* Moves n boxes of four numbers each, APL_F32 or APL_F64, from where they lie in the image's file to where they lie in the image that was made
 * of it. */
void boxes_move(const struct made_image *image, apl_form form, apl_dtype dtype, uint8_t *boxes, size_t n);

#endif
