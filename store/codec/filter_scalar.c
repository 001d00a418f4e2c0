/* The kernels in plain C: the reference, and what machines without the others run. */
#include "filter.h"

static void subtract(uint8_t *to, const uint8_t *a, const uint8_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(a[i] - b[i] + FILTER_MIDDLE);
}

static void add_back(uint8_t *to, const uint8_t *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(to[i] + a[i] - FILTER_MIDDLE);
}

static uint8_t predict(const uint8_t *at, size_t x, size_t y, size_t width)
{
    if (x == 0)
        return y ? at[-(ptrdiff_t)width] : FILTER_MIDDLE;
    if (y == 0)
        return at[-1];
    return filter_med(at[-1], at[-(ptrdiff_t)width], at[-(ptrdiff_t)width - 1]);
}

static uint64_t residuals(uint8_t *to, const uint8_t *plane, size_t width, size_t height)
{
    uint64_t activity = 0;
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            size_t i = y * width + x;
            uint8_t r = (uint8_t)(plane[i] - predict(plane + i, x, y, width));
            to[i] = r;
            activity += filter_activity(r);
        }
    }
    return activity;
}

/* Moves all ways of a pixel on. */
static void restore_pixel(uint8_t *at, const uint8_t *west, const uint8_t *north, const uint8_t *northwest)
{
    for (size_t w = 0; w < WAYS; w++)
        at[w] = (uint8_t)(at[w] + filter_med(west[w], north[w], northwest[w]));
}

static void restore(uint8_t *group, size_t width, size_t height)
{
    for (size_t y = 0; y < height; y++) {
        uint8_t *row = group + y * width * WAYS;
        const uint8_t *above = row - width * WAYS;
        restore_pixel(row, above, above, above);
        for (size_t at = WAYS; at < width * WAYS; at += WAYS)
            restore_pixel(row + at, row + at - WAYS, above + at, above + at - WAYS);
    }
}

static void interleave(uint8_t *group, const uint8_t *const from[WAYS], size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t w = 0; w < WAYS; w++)
            group[i * WAYS + w] = from[w][i];
}

static void separate(uint8_t *const to[WAYS], const uint8_t *const *plus, const uint8_t *group, size_t n)
{
    for (size_t w = 0; w < WAYS; w++)
        for (size_t i = 0; i < n; i++)
            to[w][i] = (uint8_t)(group[i * WAYS + w] + (plus ? plus[w][i] - FILTER_MIDDLE : 0));
}

const struct filter filter_scalar = {subtract,   add_back, residuals, restore, plane_restore_scalar,
                                     interleave, separate};
