/*
 * A perceptual hash: pictures that look alike have hashes that differ in few bits.
 *
 * The luma of each pixel, (77 R + 150 G + 29 B + 128) >> 8 (or the one channel as it is), is averaged over the cells of a grid that
 * divides the picture evenly, pixels on a border in proportion. Of 9 x 8 cells, bit 8 y + x tells whether cell (x + 1, y) is
 * brighter than cell (x, y); of 8 x 9 cells, bit 64 + 8 y + x whether cell (x, y + 1) is brighter than cell (x, y). All of it is
 * done in whole numbers.
 */
#ifndef PICTURES_H
#define PICTURES_H

#include "apl.h"

#include <stdbool.h>

#define PICTURE_BITS 128

struct picture_hash {
    uint64_t across, down;
};

/* Where the pixels are: channel c of pixel (x, y) is at c * channel_step + (y * width + x) * pixel_step. */
struct picture_layout {
    uint32_t width, height, channels; /* 1 or 3 */
    size_t channel_step, pixel_step;
};

/* The layout of a value of that shape: height x width, or with 1 or 3 channels before or behind. False: it is no picture, or an
 * empty one, or has more than 2^32 pixels. */
bool picture_layout(const int64_t *shape, unsigned ndim, struct picture_layout *layout);

struct picture_hash picture_hash(const uint8_t *pixels, const struct picture_layout *layout);

/* The first input of bytes that can be a picture; -1: there is none. */
int pictures_field(const apl_store *store);

/* The hashes of all records' pictures, by id. Where a value is not a picture, its hash is 0 and `is_picture` too. */
apl_status pictures_hash(apl_store *store, unsigned field, struct picture_hash *hashes, uint8_t *is_picture,
                         apl_error *err);

#endif
