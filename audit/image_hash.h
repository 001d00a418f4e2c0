/*
 * A perceptual hash: images that look alike have hashes that differ in few bits.
 *
 * The luma of each pixel, (77 R + 150 G + 29 B + 128) >> 8 of three or four channels, of which the last is alpha, or else the first
 * channel as it is, is averaged over the cells of a grid that
 * divides the image evenly, pixels on a border in proportion. Of 9 x 8 cells, bit 8 y + x says whether cell (x + 1, y) is
 * brighter than cell (x, y); of 8 x 9 cells, bit 64 + 8 y + x whether cell (x, y + 1) is brighter than cell (x, y). All of it is
 * done in whole numbers.
 */
#ifndef IMAGE_HASH_H
#define IMAGE_HASH_H

#include "apl.h"

#include <stdbool.h>

#define PICTURE_BITS 128

struct image_hash {
    uint64_t across, down;
};

/* Where the pixels are: channel c of pixel (x, y) is at c * channel_step + (y * width + x) * pixel_step. */
struct image_layout {
    uint32_t width, height, channels;
    size_t channel_step, pixel_step;
};

/* The layout of a value of that shape and form, as apl_field_form() has it of its field. False: it is no image, or an empty one, or has
 * more than 2^32 pixels. */
bool image_layout(apl_form form, const int64_t *shape, struct image_layout *layout);

struct image_hash image_hash(const uint8_t *pixels, const struct image_layout *layout);

/* May the field's values be images, by its type and shape? */
bool images_are_pixels(const apl_field *field);

/* The hashes of all records' images, by id. Where a value is not an image, its hash is 0 and `is_image` too. */
apl_status images_hash(apl_store *store, unsigned field, struct image_hash *hashes, uint8_t *is_image,
                       apl_error *err);

#endif
