/* Pictures as files. */
#ifndef IMAGE_H
#define IMAGE_H

#include "value.h"

/* Pixels as files want them: row after row, the channels of a pixel side by side. */
struct image {
    size_t width, height;
    unsigned channels; /* 1: grey; 3: red, green, blue */
    uint8_t *pixels;
};

/* Can values of this field be pictures? u8 of height x width, or with 1 or 3 channels in front or behind. */
bool field_is_picture(const apl_field *field);

/* Bytes that were made; data is NULL if memory ran out. */
struct bytes {
    uint8_t *data;
    size_t size;
};

/* All values side by side, left to right, in rows of as many as `across`. Returns NULL, or why they make no
 * picture. */
const char *image_make(struct image *image, const struct value *values, size_t count, size_t across);
void image_free(struct image *image);

struct bytes image_png(const struct image *image);
struct bytes image_ppm(const struct image *image); /* PGM where it is grey */

const char *image_libpng_version(void);

#endif
