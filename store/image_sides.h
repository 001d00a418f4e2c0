/* The height and width that the header of an image file states, without decoding it. */
#ifndef IMAGE_SIDES_H
#define IMAGE_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a JPEG or PNG file; false: it is neither, or ends before. */
bool image_sides(const void *file, size_t size, int64_t sides[2]);

#endif
