/*
 * The kernels, for the instruction set of the file that includes this: loops over blocks of a fixed number of pixels, which the
 * compiler makes vectors of. The last pixels of a row are worked on in a block of their own.
 */
#include "colour_pixel.h"

#include <string.h>

#define BLOCK 64

struct block {
    uint8_t plane[3][BLOCK];
};

static size_t block_load(struct block *block, const uint8_t *const *planes, int count, size_t from, size_t n)
{
    size_t left = n - from < BLOCK ? n - from : BLOCK;
    for (int c = 0; c < count; c++) {
        if (left < BLOCK)
            memset(block->plane[c], 0, BLOCK);
        memcpy(block->plane[c], planes[c] + from, left);
    }
    return left;
}

static void line_block(uint8_t *restrict values, int32_t factor, int32_t shift)
{
    for (int i = 0; i < BLOCK; i++)
        values[i] = colour_line(values[i], factor, shift);
}

static void line(uint8_t *values, size_t n, int32_t factor, int32_t shift)
{
    size_t i = 0;
    uint8_t last[BLOCK] = {0};
    for (; i + BLOCK <= n; i += BLOCK)
        line_block(values + i, factor, shift);
    memcpy(last, values + i, n - i);
    line_block(last, factor, shift);
    memcpy(values + i, last, n - i);
}

static uint32_t sum_block(const uint8_t *restrict values)
{
    uint32_t sum = 0;
    for (int i = 0; i < BLOCK; i++)
        sum += values[i];
    return sum;
}

static uint64_t sum(const uint8_t *values, size_t n)
{
    uint64_t all = 0;
    for (; n >= BLOCK; n -= BLOCK, values += BLOCK)
        all += sum_block(values);
    while (n > 0)
        all += values[--n];
    return all;
}

static void grey(const uint8_t *const rgb[3], size_t n, uint8_t *to)
{
    struct block b;
    uint8_t out[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t count = block_load(&b, rgb, 3, i, n);
        for (int k = 0; k < BLOCK; k++)
            out[k] = (uint8_t)colour_grey(b.plane[0][k], b.plane[1][k], b.plane[2][k]);
        memcpy(to + i, out, count);
    }
}

static void saturate_block(struct block *restrict b, int32_t factor)
{
    for (int k = 0; k < BLOCK; k++) {
        int32_t red = b->plane[0][k], green = b->plane[1][k], blue = b->plane[2][k];
        int32_t lightness = colour_grey(red, green, blue);
        b->plane[0][k] = colour_saturated(red, lightness, factor);
        b->plane[1][k] = colour_saturated(green, lightness, factor);
        b->plane[2][k] = colour_saturated(blue, lightness, factor);
    }
}

static void turn_block(struct block *restrict b, int32_t turn)
{
    for (int k = 0; k < BLOCK; k++) {
        int32_t red = b->plane[0][k], green = b->plane[1][k], blue = b->plane[2][k];
        int32_t most = red > green ? red : green, least = red < green ? red : green;
        most = most > blue ? most : blue;
        least = least < blue ? least : blue;
        int32_t range = most - least, at = colour_position(red, green, blue, most, range) + turn;
        at += -(at < 0) & (6 * HUE_SEXTANT);
        at -= -(at >= 6 * HUE_SEXTANT) & (6 * HUE_SEXTANT);
        b->plane[0][k] = colour_at(at + 5 * HUE_SEXTANT, most, range);
        b->plane[1][k] = colour_at(at + 3 * HUE_SEXTANT, most, range);
        b->plane[2][k] = colour_at(at + 1 * HUE_SEXTANT, most, range);
    }
}

static void saturate(uint8_t *const rgb[3], size_t n, int32_t factor)
{
    struct block b;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t count = block_load(&b, (const uint8_t *const *)rgb, 3, i, n);
        saturate_block(&b, factor);
        for (int c = 0; c < 3; c++)
            memcpy(rgb[c] + i, b.plane[c], count);
    }
}

static void turn(uint8_t *const rgb[3], size_t n, int32_t by)
{
    struct block b;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t count = block_load(&b, (const uint8_t *const *)rgb, 3, i, n);
        turn_block(&b, by);
        for (int c = 0; c < 3; c++)
            memcpy(rgb[c] + i, b.plane[c], count);
    }
}

const struct colour COLOUR_NAME = {line, sum, grey, saturate, turn};
