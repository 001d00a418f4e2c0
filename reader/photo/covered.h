/* What a plan touches of an image, and at which scale it may be decoded. */
#ifndef COVERED_H
#define COVERED_H

#include "crop.h"

/* The part of the window that the image covers, from its first row and column on. */
struct covered {
    uint32_t left, top, width, height; /* in the scaled image */
    uint32_t right_of, below;          /* columns and rows of the window that come before */
};

struct covered covered_by(const struct crop_plan *plan);

/* The smallest scale that leaves twice the pixels wanted along each side: libjpeg's scaling is no triangle, which shows where it does
 * most of the work. */
unsigned eighths_of(const struct crop_plan *plan);

/* One side of the pixels that results from `from` on are made of: of an image that is scaled but in part, only that part. */
void covered_from(uint32_t box, uint32_t length, uint32_t size, uint32_t from, uint32_t count,
                  uint32_t *begin, uint32_t *extent);

#endif
