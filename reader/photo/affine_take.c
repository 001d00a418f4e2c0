/* Row by row: the columns that come from within the planes, found beforehand, and those around them. See affine_take.h. */
#include "affine_take.h"

#include <string.h>

/* Columns of one row of the result. */
struct columns {
    uint32_t begin, end;
};

static int64_t divided_up(int64_t a, int64_t b)
{
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

static uint32_t column_within(int64_t column, uint32_t width)
{
    return column < 0 ? 0 : column > (int64_t)width ? width : (uint32_t)column;
}

/* The columns where start + step * column lies in 0 ... limit - 1, of those given. */
static struct columns columns_inside(struct columns of, int64_t start, int64_t step, int64_t limit,
                                     uint32_t width)
{
    struct columns c = {0, width};
    if (step == 0)
        c.end = start >= 0 && start < limit ? width : 0;
    else if (step > 0)
        c = (struct columns){column_within(divided_up(-start, step), width),
                             column_within(divided_up(limit - start, step), width)};
    else
        c = (struct columns){column_within(divided_up(start - limit + 1, -step), width),
                             column_within(divided_up(start + 1, -step), width)};
    c.begin = c.begin > of.begin ? c.begin : of.begin;
    c.end = c.end < of.end ? c.end : of.end;
    c.begin = c.begin < c.end ? c.begin : c.end;
    return c;
}

/* Where a row of the result comes from: the position of its first pixel. */
struct source {
    int64_t x, y;
};

static struct source source_of(const struct affine_map *m, uint32_t row)
{
    return (struct source){m->xy * row + m->x0, m->yy * row + m->y0};
}

static struct columns row_inside(const struct affine_map *m, const struct affine_planes *p, struct source s,
                                 int64_t width, int64_t height)
{
    struct columns all = {0, p->width};
    all = columns_inside(all, s.x, m->xx, width * AFFINE_UNIT, p->width);
    return columns_inside(all, s.y, m->yx, height * AFFINE_UNIT, p->width);
}

/* ---------------------------------------------------------------------------------------------- nearest */

static inline void pick(const uint8_t *plane, const uint32_t *at, uint32_t n, size_t element, uint8_t *out)
{
    for (uint32_t i = 0; i < n; i++)
        memcpy(out + i * element, plane + at[i] * element, element);
}

/* With the size known, a copy is one load and one store. */
static void pick_elements(const uint8_t *plane, const uint32_t *at, uint32_t n, size_t element, uint8_t *out)
{
    if (element == 1)
        pick(plane, at, n, 1, out);
    else if (element == 2)
        pick(plane, at, n, 2, out);
    else if (element == 4)
        pick(plane, at, n, 4, out);
    else
        pick(plane, at, n, 8, out);
}

static void fill_elements(const uint8_t *fill, struct columns c, size_t element, uint8_t *row)
{
    static const uint32_t same[AFFINE_RUN];
    if (element == 1)
        memset(row + c.begin, *fill, c.end - c.begin);
    for (uint32_t i = c.begin; element > 1 && i < c.end; i += AFFINE_RUN) {
        uint32_t n = c.end - i < AFFINE_RUN ? c.end - i : AFFINE_RUN;
        pick_elements(fill, same, n, element, row + i * element);
    }
}

static void nearest_row(const struct affine_map *m, const struct affine_planes *p, const uint8_t *from,
                        const uint8_t *fill, uint32_t row, uint8_t *out)
{
    struct source s = source_of(m, row);
    uint32_t at[AFFINE_RUN];
    size_t plane = (size_t)p->width * p->height * p->element;
    uint8_t *to = out + (size_t)row * p->width * p->element;
    s.x += AFFINE_UNIT / 2;
    s.y += AFFINE_UNIT / 2;
    struct columns c = row_inside(m, p, s, p->width, p->height);
    for (unsigned k = 0; k < p->count; k++) {
        fill_elements(fill + k * p->element, (struct columns){0, c.begin}, p->element, to + k * plane);
        fill_elements(fill + k * p->element, (struct columns){c.end, p->width}, p->element, to + k * plane);
    }
    for (uint32_t i = c.begin; i < c.end; i += AFFINE_RUN) {
        uint32_t n = c.end - i < AFFINE_RUN ? c.end - i : AFFINE_RUN;
        int64_t x = s.x + m->xx * i, y = s.y + m->yx * i;
        for (uint32_t j = 0; j < n; j++, x += m->xx, y += m->yx)
            at[j] = (uint32_t)(y >> AFFINE_POINT) * p->width + (uint32_t)(x >> AFFINE_POINT);
        for (unsigned k = 0; k < p->count; k++)
            pick_elements(from + k * plane, at, n, p->element, to + k * plane + i * p->element);
    }
}

void affine_nearest(const struct affine_map *m, const struct affine_planes *p, const uint8_t *from,
                    const uint8_t *fill, uint8_t *out)
{
    for (uint32_t row = 0; row < p->height; row++)
        nearest_row(m, p, from, fill, row, out);
}

/* --------------------------------------------------------------------------------------------- bilinear */

#define UNIT (1 << AFFINE_WEIGHT)
#define ALL  ((int64_t)UNIT * UNIT)

/* The sum of the four pixels around, times their weights, of those that there are. */
struct sum {
    int64_t value, weight;
};

static void sum_add(struct sum *s, const struct affine_planes *p, const uint8_t *plane, int64_t x, int64_t y,
                    int64_t weight)
{
    if (x < 0 || x >= (int64_t)p->width || y < 0 || y >= (int64_t)p->height)
        return;
    s->value += plane[(size_t)y * p->width + (size_t)x] * weight;
    s->weight += weight;
}

uint8_t affine_blend_at_edge(const struct affine_planes *p, const uint8_t *plane, int64_t x, int64_t y,
                             const uint8_t *fill)
{
    int64_t left = x >> AFFINE_POINT, top = y >> AFFINE_POINT;
    int64_t right = affine_weight(x), low = affine_weight(y);
    struct sum s = {0, 0};
    sum_add(&s, p, plane, left, top, (UNIT - right) * (UNIT - low));
    sum_add(&s, p, plane, left + 1, top, right * (UNIT - low));
    sum_add(&s, p, plane, left, top + 1, (UNIT - right) * low);
    sum_add(&s, p, plane, left + 1, top + 1, right * low);
    if (fill)
        s.value = ((s.value - *fill * ALL) * s.weight >> (2 * AFFINE_WEIGHT)) + *fill * ALL;
    return (uint8_t)((s.value + ALL / 2) >> (2 * AFFINE_WEIGHT));
}

static void blend_edges(const struct affine_map *m, const struct affine_planes *p, const uint8_t *from,
                        const uint8_t *fill, struct source s, struct columns c, uint8_t *row)
{
    size_t plane = (size_t)p->width * p->height;
    for (uint32_t i = c.begin; i < c.end; i++)
        for (unsigned k = 0; k < p->count; k++)
            row[k * plane + i] = affine_blend_at_edge(p, from + k * plane, s.x + m->xx * i, s.y + m->yx * i,
                                                      fill ? fill + k : NULL);
}

affine_blend_fn *affine_blend_for(enum cpu_variant variant)
{
#if defined(__x86_64__)
    if (variant == CPU_AVX2 || variant == CPU_AVX512)
        return affine_blend_avx2;
#endif
    (void)variant;
    return affine_blend_scalar;
}

static void place_run(struct affine_run *run, const struct affine_map *m, uint32_t width, struct source s,
                      uint32_t from)
{
    int64_t x = s.x + m->xx * from, y = s.y + m->yx * from;
    for (uint32_t i = 0; i < run->count; i++, x += m->xx, y += m->yx) {
        run->at[i] = (uint32_t)(y >> AFFINE_POINT) * width + (uint32_t)(x >> AFFINE_POINT);
        run->right[i] = affine_weight(x);
        run->low[i] = affine_weight(y);
    }
}

void affine_bilinear(const struct affine_map *m, const struct affine_planes *p, const uint8_t *from,
                     const uint8_t *fill, uint8_t *out)
{
    affine_blend_fn *blend = affine_blend_for(cpu_variant());
    size_t plane = (size_t)p->width * p->height;
    struct affine_run run;
    for (uint32_t row = 0; row < p->height; row++, out += p->width) {
        struct source s = source_of(m, row);
        struct columns c = row_inside(m, p, s, (int64_t)p->width - 1, (int64_t)p->height - 1);
        blend_edges(m, p, from, fill, s, (struct columns){0, c.begin}, out);
        blend_edges(m, p, from, fill, s, (struct columns){c.end, p->width}, out);
        for (uint32_t i = c.begin; i < c.end; i += run.count) {
            run.count = c.end - i < AFFINE_RUN ? c.end - i : AFFINE_RUN;
            place_run(&run, m, p->width, s, i);
            for (unsigned k = 0; k < p->count; k++)
                blend(&run, from + k * plane, p->width, out + k * plane + i);
        }
    }
}
