/*
 * PNG's filters undone in four rows at once: the body of png_filter_pair.c and png_filter_avx2.c, which define PNG_UNFILTER_FOUR
 * and, by way of a header, the type `rows`: a pixel of each of four rows, each of its up to four samples in 16 bits; and of it:
 *
 *   rows_from(a, b, c, d)        from the bytes of four pixels
 *   rows_bytes(v, upper, lower)  back to these: the first and second, the third and fourth
 *   rows_mask(a, b, c, d)        all bits of a pixel, or none
 *   rows_follow(above, v)        a pixel, given by its bytes, then those of all rows but the last
 *   rows_add(a, b)               sums of samples mod 256
 *   rows_and, rows_either(mask, a, b), rows_average, rows_difference, rows_sum, rows_magnitude, rows_least, rows_equal
 *                                of 16 bits with a sign; either: a where the mask's bits are set, b elsewhere
 *
 * Each pixel waits for the one to its left: what counts is how long one takes, not how many samples it has. So each row is a pixel behind
 * the one above it. Rows may have any filters: all but the average are what Paeth's gives if neighbours are taken as 0.
 */
#include "png_filter.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Four rows, and where they stand. */
struct four {
    uint8_t *row[PNG_FILTER_ROWS];
    const uint8_t *above;
    size_t width;                   /* in pixels */
    rows left, up, corner, average; /* which rows' filters look at that neighbour; which are averages */
    rows pixels, north;             /* that were last, and those above them */
};

INLINE uint32_t four_bytes(const uint8_t *at)
{
    uint32_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* Row r's pixel in this step, or 0. */
INLINE uint32_t filtered_pixel(const struct four *f, size_t r, size_t at, size_t step, bool all)
{
    return all || at - r < f->width ? four_bytes(f->row[r] + (at - r) * step) : 0;
}

INLINE void put_pixel(const struct four *f, size_t r, size_t at, size_t step, bool all, uint64_t pixel)
{
    uint32_t bytes = (uint32_t)pixel;
    if (all || at - r < f->width)
        memcpy(f->row[r] + (at - r) * step, &bytes, step);
}

INLINE rows predict(const struct four *f, rows north)
{
    rows left = rows_and(f->pixels, f->left), up = rows_and(north, f->up),
         corner = rows_and(f->north, f->corner);
    rows across = rows_difference(up, corner), down = rows_difference(left, corner);
    rows to_left = rows_magnitude(across), to_up = rows_magnitude(down),
         to_corner = rows_magnitude(rows_sum(across, down));
    rows least = rows_least(to_corner, rows_least(to_left, to_up));
    rows nearest =
        rows_either(rows_equal(least, to_left), left, rows_either(rows_equal(least, to_up), up, corner));
    return rows_either(f->average, rows_average(f->pixels, north), nearest);
}

/* Step `at`: of which all rows have a pixel, or not. */
INLINE void advance_four(struct four *f, size_t at, size_t step, bool all)
{
    uint64_t upper, lower;
    rows north = rows_follow(all || at < f->width ? four_bytes(f->above + at * step) : 0, f->pixels);
    rows filtered = rows_from(filtered_pixel(f, 0, at, step, all), filtered_pixel(f, 1, at, step, all),
                              filtered_pixel(f, 2, at, step, all), filtered_pixel(f, 3, at, step, all));
    f->pixels = rows_add(predict(f, north), filtered);
    f->north = north;
    rows_bytes(f->pixels, &upper, &lower);
    put_pixel(f, 0, at, step, all, upper);
    put_pixel(f, 1, at, step, all, upper >> 32);
    put_pixel(f, 2, at, step, all, lower);
    put_pixel(f, 3, at, step, all, lower >> 32);
}

INLINE void unfilter_steps(const struct four *of, size_t step)
{
    struct four f = *of; /* in registers, as nothing is told where the copy is */
    size_t at = 0, before = PNG_FILTER_ROWS - 1;
    for (; at < before; at++)
        advance_four(&f, at, step, false);
    for (; at < f.width; at++)
        advance_four(&f, at, step, true);
    for (; at < f.width + before; at++)
        advance_four(&f, at, step, false);
}

static void begin_four(struct four *f, uint8_t *filtered, const uint8_t *above, size_t n, size_t step)
{
    unsigned kind[PNG_FILTER_ROWS];
    for (size_t r = 0; r < PNG_FILTER_ROWS; r++, filtered += 1 + n) {
        kind[r] = filtered[0];
        f->row[r] = filtered + 1;
    }
    f->above = above;
    f->width = n / step;
#define MASK(is) rows_mask(is(kind[0]), is(kind[1]), is(kind[2]), is(kind[3]))
#define LEFT(k)  ((k) == PNG_SUB || (k) == PNG_PAETH)
#define UP(k)    ((k) == PNG_UP || (k) == PNG_PAETH)
#define BOTH(k)  ((k) == PNG_PAETH)
#define MEAN(k)  ((k) == PNG_AVERAGE)
    f->left = MASK(LEFT);
    f->up = MASK(UP);
    f->corner = MASK(BOTH);
    f->average = MASK(MEAN);
    f->pixels = f->north = rows_mask(false, false, false, false);
}

void PNG_UNFILTER_FOUR(uint8_t *filtered, const uint8_t *above, size_t n, size_t step)
{
    struct four f;
    begin_four(&f, filtered, above, n, step);
    if (step == 1)
        unfilter_steps(&f, 1);
    else if (step == 2)
        unfilter_steps(&f, 2);
    else if (step == 3)
        unfilter_steps(&f, 3);
    else
        unfilter_steps(&f, 4);
}
