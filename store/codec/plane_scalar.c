/* A plane restored, in plain C. */
#include "filter.h"

/* Rows that are restored at once, each a pixel behind the one above: chains that do not wait for each other. */
#define ROWS 4

/* Where they stand. */
struct skewed_rows {
    uint8_t *first;
    size_t width;
    uint8_t west[ROWS], northwest[ROWS];
};

/* Pixel x of row r, whose north is the pixel that the row above has come to. */
static inline void restore_skewed(struct skewed_rows *s, unsigned r, size_t x)
{
    uint8_t *at = s->first + r * s->width + x, north = r ? s->west[r - 1] : at[-(ptrdiff_t)s->width];
    s->west[r] = *at = (uint8_t)(*at + filter_med(s->west[r], north, s->northwest[r]));
    s->northwest[r] = north;
}

/* A step of those rows that have such a pixel. Of the first column, west and northwest are north. */
static void restore_where_any(struct skewed_rows *s, size_t step)
{
    for (unsigned r = ROWS; r-- > 0;) {
        if (step < r || step - r >= s->width)
            continue;
        if (step == r)
            s->west[r] = s->northwest[r] = r ? s->west[r - 1] : s->first[-(ptrdiff_t)s->width];
        restore_skewed(s, r, step - r);
    }
}

/* The steps of which all rows have a pixel. Those are in registers, as nothing is told where the copy is. */
static void restore_all(struct skewed_rows *rows, size_t from, size_t to)
{
    struct skewed_rows s = *rows;
    for (size_t step = from; step < to; step++) {
        restore_skewed(&s, 3, step - 3);
        restore_skewed(&s, 2, step - 2);
        restore_skewed(&s, 1, step - 1);
        restore_skewed(&s, 0, step);
    }
    *rows = s;
}

static void restore_skewed_rows(uint8_t *first, size_t width)
{
    struct skewed_rows s = {.first = first, .width = width};
    size_t step = 0;
    for (; step < ROWS; step++)
        restore_where_any(&s, step);
    if (step < width) {
        restore_all(&s, step, width);
        step = width;
    }
    for (; step < width + ROWS - 1; step++)
        restore_where_any(&s, step);
}

static void restore_last_row(uint8_t *row, size_t width)
{
    const uint8_t *above = row - width;
    uint8_t west = above[0], northwest = above[0];
    for (size_t x = 0; x < width; x++) {
        uint8_t north = above[x];
        west = row[x] = (uint8_t)(row[x] + filter_med(west, north, northwest));
        northwest = north;
    }
}

void plane_restore_scalar(uint8_t *plane, size_t width, size_t height)
{
    uint8_t west = FILTER_MIDDLE;
    size_t y = 1;
    for (size_t x = 0; x < width; x++)
        west = plane[x] = (uint8_t)(plane[x] + west);
    for (; y + ROWS <= height; y += ROWS)
        restore_skewed_rows(plane + y * width, width);
    for (; y < height; y++)
        restore_last_row(plane + y * width, width);
}
