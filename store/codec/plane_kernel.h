/*
 * The body of plane_avx2.c and its siblings, which define PLANE_RESTORE and, by way of a header of vector operations, for a
 * vector of 16 bytes, those of filter_kernel.h and:
 *
 *   vec_end(v, i)         byte i of v in the last place, whatever before it
 *   vec_follow(last, v)   the last byte of `last`, then all of v but its last
 *
 * Pixels of a row wait for each other. But row r can be a pixel behind row r - 1, so that of sixteen rows one vector
 * instruction moves each on by a pixel: a wave, whose step s holds pixel s - r of row r. To the left of a row are zeros,
 * as residuals and as pixels: the first column then comes out as predicted by north.
 */
#include "filter.h"
#include "filter_chain.h"
#include "filter_transpose.h"

#include <stdbool.h>
#include <string.h>

#define ROWS 16

/* Up to ROWS rows of a plane, at least one. */
struct wave {
    uint8_t *first;
    size_t width, rows;
    bool topmost; /* nothing is above */
    struct chain chain;
};

/* The 16 bytes of a row from x on: those that it has, and zeros. */
static vec load_part(const uint8_t *row, size_t width, ptrdiff_t x)
{
    uint8_t bytes[16] = {0};
    ptrdiff_t from = x < 0 ? 0 : x, to = x + 16 < (ptrdiff_t)width ? x + 16 : (ptrdiff_t)width;
    if (from < to)
        memcpy(bytes + (from - x), row + from, (size_t)(to - from));
    return vec_load(bytes);
}

static void store_part(uint8_t *row, size_t width, ptrdiff_t x, vec v)
{
    uint8_t bytes[16];
    ptrdiff_t from = x < 0 ? 0 : x, to = x + 16 < (ptrdiff_t)width ? x + 16 : (ptrdiff_t)width;
    vec_store(bytes, v);
    if (from < to)
        memcpy(row + from, bytes + (from - x), (size_t)(to - from));
}

/* Sixteen steps, of which v has the residuals row by row, and `above` the pixels above the first row; gives the pixels in v. */
static inline __attribute__((always_inline)) void take_steps(struct chain *c, vec above, vec v[16])
{
    transpose(v);
#define STEP(i) v[i] = advance(c, vec_follow(vec_end(above, i), c->west), v[i]);
    SIXTEEN(STEP)
#undef STEP
    transpose(v);
}

/* The steps from `at` on, where each row has all sixteen pixels. */
static void take_whole(struct wave *w, size_t at)
{
    vec v[16];
    uint8_t *row = w->first + at;
    size_t next = w->width - 1; /* a row on, and a pixel back */
#define LOAD(i) v[i] = vec_load(row + (i)*next);
    SIXTEEN(LOAD)
#undef LOAD
    take_steps(&w->chain, w->topmost ? vec_fill(FILTER_MIDDLE) : vec_load(row - w->width), v);
#define STORE(i) vec_store(row + (i)*next, v[i]);
    SIXTEEN(STORE)
#undef STORE
}

/* The same where not every row has. */
static void take_part(struct wave *w, size_t at)
{
    vec v[16];
    for (size_t r = 0; r < ROWS; r++)
        v[r] = r < w->rows ? load_part(w->first + r * w->width, w->width, (ptrdiff_t)at - (ptrdiff_t)r)
                           : vec_fill(0);
    vec above =
        w->topmost ? vec_fill(FILTER_MIDDLE) : load_part(w->first - w->width, w->width, (ptrdiff_t)at);
    take_steps(&w->chain, above, v);
    for (size_t r = 0; r < w->rows; r++)
        store_part(w->first + r * w->width, w->width, (ptrdiff_t)at - (ptrdiff_t)r, v[r]);
}

static void restore_rows(struct wave *w)
{
    w->chain.west = w->chain.northwest = vec_fill(0);
    for (size_t at = 0; at < w->width + w->rows - 1; at += 16)
        if (w->rows == ROWS && at >= ROWS && at + 16 <= w->width)
            take_whole(w, at);
        else
            take_part(w, at);
}

void PLANE_RESTORE(uint8_t *plane, size_t width, size_t height)
{
    for (size_t y = 0; y < height; y += ROWS) {
        struct wave w = {.first = plane + y * width,
                         .width = width,
                         .rows = height - y < ROWS ? height - y : ROWS,
                         .topmost = y == 0};
        restore_rows(&w);
    }
}
