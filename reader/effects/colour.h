/* Colours of planes of red, green and blue, changed in place. Pure functions; every variant gives the bytes of colour_pixel.h. */
#ifndef COLOUR_H
#define COLOUR_H

#include "cpu.h"

#include <stddef.h>
#include <stdint.h>

#define COLOUR_POINT 16
#define COLOUR_UNIT  (1 << COLOUR_POINT)
#define COLOUR_MOST  100 /* the largest factor: products stay within 32 bits */
#define HUE_POINT    15
#define HUE_SEXTANT  (1 << HUE_POINT)

struct colour {
    /* value * factor + shift of n values, truncated to 0 ... 255; in units of 1 / COLOUR_UNIT. */
    void (*line)(uint8_t *values, size_t n, int32_t factor, int32_t shift);
    uint64_t (*sum)(const uint8_t *values, size_t n);
    /* The grey of n pixels; `grey` may be a plane of them. */
    void (*grey)(const uint8_t *const rgb[3], size_t n, uint8_t *grey);
    /* Blends n pixels with their greys. */
    void (*saturate)(uint8_t *const rgb[3], size_t n, int32_t factor);
    /* Turns the hue of n pixels by 0 ... 6 * HUE_SEXTANT - 1. */
    void (*turn)(uint8_t *const rgb[3], size_t n, int32_t turn);
};

/* That of a variant; the plain one for what was not built in. */
const struct colour *colour_for(enum cpu_variant variant);

/* On arm64, whose plain instruction set has vectors, the plain one is the fast one. */
extern const struct colour colour_scalar, colour_avx2, colour_avx512;

#endif
