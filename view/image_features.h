/* What images are compared by: their brightness and colours in 8 x 8 cells. */
#ifndef IMAGE_FEATURES_H
#define IMAGE_FEATURES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define FEATURES 192 /* bytes: 64 of brightness, then two times 64 of colour, at half the weight */

/* Of an image of 8 bits, with 1 or 3 channels, side by side in each pixel. */
void features_of(const uint8_t *pixels, size_t width, size_t height, unsigned channels,
                 uint8_t features[FEATURES]);

/* The sum of absolute differences. */
static inline uint32_t features_distance(const uint8_t *a, const uint8_t *b)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < FEATURES; i++) /* compilers know this for what processors do sixteen at a time */
        sum += (uint32_t)abs(a[i] - b[i]);
    return sum;
}

#endif
