/*
 * What the kernels do to a pixel: the definition. torchvision's adjust_brightness(), adjust_contrast(), adjust_saturation(),
 * adjust_hue() and rgb_to_grayscale() of u8, which truncate, in whole numbers.
 */
#ifndef COLOUR_PIXEL_H
#define COLOUR_PIXEL_H

#include "colour.h"

static inline int32_t colour_byte(int32_t value)
{
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

/* What the rounding of a factor takes from a value at most: results that are whole with the factor itself stay so. */
#define COLOUR_SLACK 128

/* value * factor + shift, in units of 1 / COLOUR_UNIT. */
static inline uint8_t colour_line(int32_t value, int32_t factor, int32_t shift)
{
    return (uint8_t)colour_byte((value * factor + shift + COLOUR_SLACK) >> COLOUR_POINT);
}

/* 0.2989 red + 0.587 green + 0.114 blue, truncated. */
static inline int32_t colour_grey(int32_t red, int32_t green, int32_t blue)
{
    return (red * 1253677 + green * 2462057 + blue * 478151) >> 22;
}

/* Blended with its grey: the factor 0 gives grey, COLOUR_UNIT the pixel itself. */
static inline uint8_t colour_saturated(int32_t value, int32_t grey, int32_t factor)
{
    return colour_line(value, factor, grey * (COLOUR_UNIT - factor));
}

/* The hue of a pixel as a position on a circle of six sextants of HUE_SEXTANT each: 0 is red, 2 sextants green, 4 blue. It may
 * lie up to one sextant below 0. The quotient of two floats is the same on every machine; without branches, so that there are vectors of it. */
static inline int32_t colour_position(int32_t red, int32_t green, int32_t blue, int32_t most, int32_t range)
{
    int32_t is_red = -(most == red), is_green = -(most == green) & ~is_red, is_blue = ~(is_red | is_green);
    int32_t difference = (is_red & (green - blue)) | (is_green & (blue - red)) | (is_blue & (red - green));
    int32_t begin = (is_green & (2 * HUE_SEXTANT)) | (is_blue & (4 * HUE_SEXTANT));
    return begin + (int32_t)((float)(difference * HUE_SEXTANT) / (float)(range + (range == 0)));
}

/* One of the colours of a hue that is `at` sextants from the place where it has none: `most`, less what it lacks of it. */
static inline uint8_t colour_at(int32_t at, int32_t most, int32_t range)
{
    at -= -(at >= 6 * HUE_SEXTANT) & (6 * HUE_SEXTANT);
    int32_t lacks = at < 4 * HUE_SEXTANT - at ? at : 4 * HUE_SEXTANT - at;
    lacks = lacks > HUE_SEXTANT ? HUE_SEXTANT : lacks < 0 ? 0 : lacks;
    int32_t value = most * HUE_SEXTANT - range * lacks;
    return (uint8_t)((value + (value >> 8) + (value >> 16)) >> HUE_POINT); /* 255 becomes all but 256 */
}

#endif
