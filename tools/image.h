/* Images as files. */
#ifndef IMAGE_H
#define IMAGE_H

#include "value.h"

/* Pixels in the order of image files: row after row, the channels of a pixel side by side. */
struct image {
    size_t width, height;
    unsigned channels; /* 1: grey; 3: red, green, blue */
    uint8_t *pixels;
};

/* Can values of this field be images? u8, height x width, or with 1 or 3 channels before or after that. */
bool field_is_image(const apl_field *field);

/* An encoded file; data is NULL if memory ran out. */
struct bytes {
    uint8_t *data;
    size_t size;
};

/* Tiles the values left to right, `across` in a row. Returns NULL, or why they make no image. */
const char *image_make(struct image *image, const struct value *values, size_t count, size_t across);
void image_free(struct image *image);

struct bytes image_png(const struct image *image);
struct bytes image_ppm(const struct image *image); /* PGM where it is grey */

const char *image_libpng_version(void);

#endif
