/* PNG's filters undone, by bytes and by pixels of four rows: see png_filter.h. */
#include "png_filter.h"

#include "png_samples.h"

#include <stdlib.h>

enum filter_kind { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH, FILTERS };

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
    for (size_t i = 0; kind != FILTER_NONE && i < n; i++) {
        int left = i < step ? 0 : row[i - step], corner = i < step ? 0 : above[i - step], up = above[i];
        int is = kind == FILTER_SUB       ? left
                 : kind == FILTER_UP      ? up
                 : kind == FILTER_AVERAGE ? (left + up) / 2
                                          : nearest_of(left, up, corner);
        row[i] = (uint8_t)(row[i] + is);
    }
    return kind < FILTERS;
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

#ifdef PNG_SAMPLES

/*
 * Each pixel waits for the one to its left: what counts is how long one takes, not how many samples it has. So four rows go
 * together, each a pixel behind the one above it, two of them in a vector. Rows may have any filters: all but the average
 * are what Paeth's gives if neighbours are taken as 0.
 */
struct pair {
    samples left, up, corner, average; /* which rows' filters look at that neighbour; which are averages */
    samples pixels, north;             /* that were last, and those above them */
};

static void begin_pair(struct pair *p, unsigned first, unsigned second)
{
    static const struct {
        bool left, up, corner, average;
    } of[FILTERS] = {[FILTER_SUB] = {.left = true},
                     [FILTER_UP] = {.up = true},
                     [FILTER_AVERAGE] = {.average = true},
                     [FILTER_PAETH] = {.left = true, .up = true, .corner = true}};
    p->left = samples_mask(of[first].left, of[second].left);
    p->up = samples_mask(of[first].up, of[second].up);
    p->corner = samples_mask(of[first].corner, of[second].corner);
    p->average = samples_mask(of[first].average, of[second].average);
    p->pixels = p->north = samples_mask(false, false);
}

static inline void advance_pair(struct pair *p, samples north, samples filtered)
{
    samples left = samples_and(p->pixels, p->left), up = samples_and(north, p->up),
            corner = samples_and(p->north, p->corner);
    samples across = samples_difference(up, corner), down = samples_difference(left, corner);
    samples to_left = samples_magnitude(across), to_up = samples_magnitude(down),
            to_corner = samples_magnitude(samples_sum(across, down));
    samples least = samples_least(to_corner, samples_least(to_left, to_up));
    samples nearest = samples_either(samples_equal(least, to_left), left,
                                     samples_either(samples_equal(least, to_up), up, corner));
    samples average = samples_average(p->pixels, north);
    p->pixels = samples_add(samples_either(p->average, average, nearest), filtered);
    p->north = north;
}

/* Four rows, and where they stand. */
struct four {
    uint8_t *row[PNG_FILTER_ROWS];
    const uint8_t *above;
    size_t width; /* in pixels */
    struct pair upper, lower;
};

/* Row r's pixel in this step, or 0. */
static inline uint32_t filtered_pixel(const struct four *f, size_t r, size_t at, size_t step, bool all)
{
    return all || at - r < f->width ? four_bytes(f->row[r] + (at - r) * step) : 0;
}

static inline void put_pixel(const struct four *f, size_t r, size_t at, size_t step, bool all, uint64_t pixel)
{
    uint32_t bytes = (uint32_t)pixel;
    if (all || at - r < f->width)
        memcpy(f->row[r] + (at - r) * step, &bytes, step);
}

#define INLINE static inline __attribute__((always_inline))

/* Step `at`: of which all rows have a pixel, or not. */
INLINE void advance_rows(struct four *f, size_t at, size_t step, bool all)
{
    samples above = samples_of(all || at < f->width ? four_bytes(f->above + at * step) : 0, 0);
    samples to_upper = samples_firsts(above, f->upper.pixels),
            to_lower = samples_between(f->upper.pixels, f->lower.pixels);
    advance_pair(&f->upper, to_upper,
                 samples_of(filtered_pixel(f, 0, at, step, all), filtered_pixel(f, 1, at, step, all)));
    advance_pair(&f->lower, to_lower,
                 samples_of(filtered_pixel(f, 2, at, step, all), filtered_pixel(f, 3, at, step, all)));
    uint64_t upper = samples_bytes(f->upper.pixels), lower = samples_bytes(f->lower.pixels);
    put_pixel(f, 0, at, step, all, upper);
    put_pixel(f, 1, at, step, all, upper >> 32);
    put_pixel(f, 2, at, step, all, lower);
    put_pixel(f, 3, at, step, all, lower >> 32);
}

INLINE void unfilter_four(struct four *rows, size_t step)
{
    struct four f = *rows; /* in registers, as nothing is told where the copy is */
    size_t at = 0, before = PNG_FILTER_ROWS - 1;
    for (; at < before; at++)
        advance_rows(&f, at, step, false);
    for (; at < f.width; at++)
        advance_rows(&f, at, step, true);
    for (; at < f.width + before; at++)
        advance_rows(&f, at, step, false);
}

/* false: not these. */
static bool begin_four(struct four *f, uint8_t *filtered, const uint8_t *above, size_t n, size_t step)
{
    unsigned kind[PNG_FILTER_ROWS];
    for (size_t r = 0; r < PNG_FILTER_ROWS; r++, filtered += 1 + n) {
        kind[r] = filtered[0];
        f->row[r] = filtered + 1;
        if (kind[r] >= FILTERS)
            return false;
    }
    f->above = above;
    f->width = n / step;
    begin_pair(&f->upper, kind[0], kind[1]);
    begin_pair(&f->lower, kind[2], kind[3]);
    return true;
}

bool png_unfilter(uint8_t *filtered, size_t rows, const uint8_t *above, size_t n, size_t step)
{
    struct four f;
    for (; rows >= PNG_FILTER_ROWS; rows -= PNG_FILTER_ROWS) {
        if (!begin_four(&f, filtered, above, n, step))
            return false;
        if (step == 1)
            unfilter_four(&f, 1);
        else if (step == 2)
            unfilter_four(&f, 2);
        else if (step == 3)
            unfilter_four(&f, 3);
        else
            unfilter_four(&f, 4);
        above = f.row[PNG_FILTER_ROWS - 1];
        filtered += PNG_FILTER_ROWS * (1 + n);
    }
    return png_unfilter_scalar(filtered, rows, above, n, step);
}

#else

bool png_unfilter(uint8_t *filtered, size_t rows, const uint8_t *above, size_t n, size_t step)
{
    return png_unfilter_scalar(filtered, rows, above, n, step);
}

#endif
