/* Changing the size and depth of images. */
#ifndef IMAGE_SCALE_H
#define IMAGE_SCALE_H

#include "image.h"

/* In place: 8 bits a sample, 1 or 3 channels. Alpha is dropped, as by the reader; of 16 bits, the largest value becomes 255. */
void image_simplify(struct image *image);

/* An image of 8 bits to one of at most width x height pixels: each is the mean of those that it covers. Sides that are no longer than that
 * stay. False: out of memory. */
bool image_shrink(const struct image *from, size_t width, size_t height, struct image *to);

/* Each pixel becomes times x times; false: out of memory. */
bool image_enlarge(const struct image *from, size_t times, struct image *to);

/* The largest sides of that proportion, none below 1, within a box; never larger than they were. */
void image_fit(size_t *width, size_t *height, size_t box_width, size_t box_height);

#endif
