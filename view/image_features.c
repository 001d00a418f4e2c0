/* Brightness and colours in cells: see image_features.h. */
#include "image_features.h"

#define CELLS 8

/* Where cell i begins and ends along a side: at least a pixel. */
static void cell_range(size_t i, size_t side, size_t range[2])
{
    range[0] = i * side / CELLS;
    range[1] = (i + 1) * side / CELLS;
    range[1] += range[1] == range[0];
}

static void cell_mean(const uint8_t *pixels, size_t width, const size_t x[2], const size_t y[2],
                      unsigned channels, int mean[3])
{
    uint64_t sum[3] = {0}, n = (uint64_t)(x[1] - x[0]) * (y[1] - y[0]);
    for (size_t row = y[0]; row < y[1]; row++)
        for (size_t column = x[0]; column < x[1]; column++)
            for (unsigned c = 0; c < 3; c++)
                sum[c] += pixels[(row * width + column) * channels + (channels == 3 ? c : 0)];
    for (unsigned c = 0; c < 3; c++)
        mean[c] = (int)((sum[c] + n / 2) / n);
}

void features_of(const uint8_t *pixels, size_t width, size_t height, unsigned channels,
                 uint8_t features[FEATURES])
{
    size_t x[2], y[2];
    int mean[3];
    for (unsigned i = 0; i < CELLS * CELLS; i++) {
        cell_range(i / CELLS, height, y);
        cell_range(i % CELLS, width, x);
        cell_mean(pixels, width, x, y, channels, mean);
        int luma = (77 * mean[0] + 150 * mean[1] + 29 * mean[2] + 128) >> 8;
        features[i] = (uint8_t)luma;
        features[64 + i] = (uint8_t)((mean[0] - luma + 255) / 4);
        features[128 + i] = (uint8_t)((mean[2] - luma + 255) / 4);
    }
}
