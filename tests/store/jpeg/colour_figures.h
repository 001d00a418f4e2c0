/* Mean and standard deviation of red, green and blue, by the pixels that libjpeg makes of files. */
#ifndef COLOUR_FIGURES_H
#define COLOUR_FIGURES_H

#include "jpegs.h"

#include <math.h>

struct figures {
    double mean[3], std[3];
};

/* By pixels, red, green and blue one after another. */
static inline void add_pixels(double sums[3][3], const uint8_t *rgb, size_t pixels)
{
    for (size_t i = 0; i < 3 * pixels; i++) {
        sums[i % 3][0] += 1;
        sums[i % 3][1] += rgb[i];
        sums[i % 3][2] += (double)rgb[i] * rgb[i];
    }
}

static inline struct figures figures_of(double sums[3][3])
{
    struct figures f;
    for (int c = 0; c < 3; c++) {
        f.mean[c] = sums[c][1] / sums[c][0];
        f.std[c] = sqrt(sums[c][2] / sums[c][0] - f.mean[c] * f.mean[c]);
    }
    return f;
}

static inline void add_file(double sums[3][3], const struct jpeg_bytes *file)
{
    unsigned width, height;
    uint8_t *rgb = jpeg_whole(*file, 8, &width, &height);
    add_pixels(sums, rgb, (size_t)width * height);
    free(rgb);
}

#endif
