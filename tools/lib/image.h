/* Images as files. */
#ifndef IMAGE_H
#define IMAGE_H

#include "value.h"

/* Pixels in the order of image files: row after row, the channels of a pixel side by side. */
struct image {
    size_t width, height;
    unsigned channels; /* 1: grey; 2: and alpha; 3: red, green, blue; 4: and alpha */
    unsigned depth;    /* bytes of a sample, 1 or 2; in the order of this machine */
    uint8_t *pixels;
};

/* Can files of images be made of the field's values? Of those that are images by apl_field_form(), and have 1 to 4 channels. */
bool field_is_image(const apl_field *field);

/* Do the channels of such a field come last? */
bool image_has_channels_last(const apl_field *field);

/* May its channels come first, as they are taken to, and last as well, by its shape? Of squares whose channels come first, it is clear. */
bool image_layout_unclear(const apl_field *field);

/* The size of an image, in pixels. */
struct image_size {
    uint32_t width, height, channels;
};

/* That of a value of such a field, by its shape; false: it is not an image. */
bool image_value_size(const apl_field *field, const struct value *value, struct image_size *size);

/* An encoded file; data is NULL if memory ran out. */
struct bytes {
    uint8_t *data;
    size_t size;
};

/* Tiles the values of the field left to right, `across` in a row. Returns NULL, or why they make no image. */
const char *image_make(struct image *image, const apl_field *field, const struct value *values, size_t count,
                       size_t across);
void image_free(struct image *image);

struct bytes image_png(const struct image *image);

/* Of 8 bits, with 1 or 3 channels. */
struct bytes image_jpeg(const struct image *image, int quality);

/* Decodes a file of PNG to 8 bits, grey or RGB, on white. Returns NULL, or why it cannot be. */
const char *image_read_png(struct image *image, const void *file, size_t bytes);

/* Grey or RGB of one byte a sample: that is what PGM and PPM hold here. */
bool image_fits_ppm(const struct image *image);
struct bytes image_ppm(const struct image *image);

const char *image_libpng_version(void);

#endif
