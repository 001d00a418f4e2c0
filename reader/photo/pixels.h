/* Pixels whose channels lie side by side, taken apart. */
#ifndef PIXELS_H
#define PIXELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* x * y / 255, rounded. */
static inline uint8_t pixels_scaled(unsigned x, unsigned y)
{
    unsigned product = x * y + 128;
    return (uint8_t)((product + (product >> 8)) >> 8);
}

/* n pixels of red, green and blue; or of cyan, magenta, yellow and black ink, which Adobe's programs, and so all others, store
 * inverted: 255 means no ink. */
static inline void separate_pixels(const uint8_t *pixels, size_t n, bool ink, uint8_t *const rgb[3])
{
    for (size_t x = 0; x < n; x++, pixels += ink ? 4 : 3)
        for (int i = 0; i < 3; i++)
            rgb[i][x] = ink ? (uint8_t)(pixels[3] - pixels_scaled(255u - pixels[i], pixels[3])) : pixels[i];
}

#endif
