/* PNG's filters undone by pixels, against bytes: in plain C, so that it runs where there is no test framework. */
#ifndef PNG_FILTERS_H
#define PNG_FILTERS_H

#include "png_filter.h"
#include "samples.h"

#include <stdio.h>
#include <string.h>

#define FILTERS_ROW  64
#define FILTERS_ROWS 9

/* Rows, each with any filter; behind the last, what may be read but not changed. */
static inline void fill_filtered(uint8_t *to, size_t size, size_t rows, size_t n, int small, uint32_t *state)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(sample_random(state) >> 8) % (small ? 4 : 256);
    for (size_t r = 0; r < rows; r++)
        to[r * (1 + n)] = (uint8_t)((sample_random(state) >> 8) % 5);
}

/* Up to nine rows of up to 64 bytes. Prints what differs; returns how many cases do. */
static inline int compare_png_filters(void)
{
    uint8_t above[FILTERS_ROW + PNG_FILTER_SLACK],
        pixels[FILTERS_ROWS * (1 + FILTERS_ROW) + PNG_FILTER_SLACK], bytes[sizeof pixels];
    uint32_t state = 1;
    int wrong = 0;
    for (unsigned round = 0; round < 4000; round++) {
        size_t step = 1 + round % 4, n = step * (round / 20 % (FILTERS_ROW / step + 1)),
               rows = round / 4 % (FILTERS_ROWS + 1);
        fill_filtered(above, sizeof above, 0, 0, 0, &state);
        fill_filtered(bytes, sizeof bytes, rows, n, round % 3 == 0, &state);
        memcpy(pixels, bytes, sizeof bytes);
        if (png_unfilter(pixels, rows, above, n, step) && png_unfilter_scalar(bytes, rows, above, n, step) &&
            memcmp(pixels, bytes, sizeof bytes) == 0)
            continue;
        fprintf(stderr, "%zu rows of %zu bytes, %zu a pixel, differ\n", rows, n, step);
        wrong++;
    }
    return wrong;
}

#endif
