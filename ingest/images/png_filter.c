/* PNG's filters undone, by bytes, and which variant by pixels: see png_filter.h. */
#include "png_filter.h"

#include "cpu.h"
#include "png_samples.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ by bytes */

static int nearest_of(int left, int up, int corner)
{
    int to_left = abs(up - corner), to_up = abs(left - corner), to_corner = abs(left + up - 2 * corner);
    if (to_left <= to_up && to_left <= to_corner)
        return left;
    return to_up <= to_corner ? up : corner;
}

static bool unfilter_row(unsigned kind, uint8_t *row, const uint8_t *above, size_t n, size_t step)
{
    for (size_t i = 0; kind != PNG_NONE && i < n; i++) {
        int left = i < step ? 0 : row[i - step], corner = i < step ? 0 : above[i - step], up = above[i];
        int is = kind == PNG_SUB       ? left
                 : kind == PNG_UP      ? up
                 : kind == PNG_AVERAGE ? (left + up) / 2
                                       : nearest_of(left, up, corner);
        row[i] = (uint8_t)(row[i] + is);
    }
    return kind < PNG_FILTERS;
}

bool png_unfilter_scalar(uint8_t *filtered, size_t rows, const uint8_t *above, size_t n, size_t step)
{
    for (; rows > 0; rows--, filtered += 1 + n) {
        if (!unfilter_row(filtered[0], filtered + 1, above, n, step))
            return false;
        above = filtered + 1;
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------- by pixels */

typedef void unfilter_four_fn(uint8_t *filtered, const uint8_t *above, size_t n, size_t step);

/* NULL: this machine has none. */
static unfilter_four_fn *unfilter_four_for(enum cpu_variant variant)
{
#if defined(__x86_64__)
    return variant == CPU_SCALAR ? png_unfilter_four_pair : png_unfilter_four_avx2;
#elif defined(PNG_SAMPLES)
    (void)variant;
    return png_unfilter_four_pair;
#else
    (void)variant;
    return NULL;
#endif
}

static bool filters_exist(const uint8_t *filtered, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++)
        if (filtered[r * (1 + n)] >= PNG_FILTERS)
            return false;
    return true;
}

bool png_unfilter(uint8_t *filtered, size_t rows, const uint8_t *above, size_t n, size_t step)
{
    unfilter_four_fn *four = unfilter_four_for(cpu_variant());
    if (!filters_exist(filtered, rows, n))
        return false;
    for (; four && rows >= PNG_FILTER_ROWS; rows -= PNG_FILTER_ROWS) {
        four(filtered, above, n, step);
        filtered += PNG_FILTER_ROWS * (1 + n);
        above = filtered - n;
    }
    return png_unfilter_scalar(filtered, rows, above, n, step);
}
