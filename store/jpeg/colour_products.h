/*
 * Products of luma and chroma over all pixels of an MCU, from its coefficients: the DCT is orthonormal, so that of two blocks of the
 * same pixels the sum of the products of their pixels is that of the products of their coefficients. Chroma of half the resolution is
 * repeated, which is a linear function of its coefficients. Products of means say little of an image with sharp colours.
 */
#ifndef COLOUR_PRODUCTS_H
#define COLOUR_PRODUCTS_H

#include "blocks.h"

#define COEFFICIENTS_SIDE 8 /* of a block */

/* A block's coefficients that are not 0, and the first, dequantised. */
struct coefficients {
    unsigned count, rows;        /* rows: bit r: there are some in row r */
    uint32_t squares;            /* their sum */
    uint8_t at[BLOCK_VALUES];    /* in row * 8 + column; 0 comes first */
    int16_t value[BLOCK_VALUES]; /* at least -2047, at most 2047 */
};

/* An MCU of three components. */
struct mcu {
    unsigned across, down; /* blocks of luma: 1 or 2 */
    struct coefficients luma[4], chroma[2];
};

/* Of luma and blue, and luma and red, over the pixels of luma; of blue and red over those of their blocks. docs/FORMAT.md (PRODUCTS)
 * says how they are rounded. */
typedef void colour_products_fn(const struct mcu *mcu, int64_t of[3]);

/* That of a variant; the scalar one for what was not built in. All give the same. */
colour_products_fn *colour_products_for(enum cpu_variant variant);
extern colour_products_fn *const colour_products_scalar, *const colour_products_avx2;

#endif
