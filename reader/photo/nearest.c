/* Rows of the nearest elements, by the places of a column and a row in the source: see nearest.h. */
#include "nearest.h"

#include "affine_take.h"

#define BEYOND UINT32_MAX

/* One axis of the image: `length` elements from `from` on are scaled to `size`, of which the window takes `count` from `at` on. */
struct axis {
    uint32_t from, length, size, count;
    int32_t at;
    bool reflect, flip;
};

/* Where the edge is not repeated. */
static int64_t reflected(int64_t at, uint32_t size)
{
    at = at < 0 ? -at : at;
    return at < size ? at : 2 * ((int64_t)size - 1) - at;
}

/* Where each element of the window comes from. */
static void find_places(const struct axis *a, uint32_t *places)
{
    float scale = (float)a->length / (float)a->size;
    for (uint32_t i = 0; i < a->count; i++) {
        int64_t at = (int64_t)a->at + i;
        uint32_t *place = &places[a->flip ? a->count - 1 - i : i];
        if (a->reflect)
            at = reflected(at, a->size);
        *place = BEYOND;
        if (at < 0 || at >= a->size)
            continue;
        uint32_t nearest = a->length == a->size ? (uint32_t)at : (uint32_t)((float)at * scale);
        *place = a->from + (nearest < a->length ? nearest : a->length - 1);
    }
}

/* Are they neighbours, from left to right? */
static bool is_run(const uint32_t *places, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (places[i] == BEYOND || places[i] != places[0] + i)
            return false;
    return true;
}

/* With the size known, a copy is one load and one store. */
static inline void take_elements(const uint8_t *row, const uint8_t *fill, const uint32_t *places,
                                 uint32_t count, size_t element, uint8_t *out)
{
    for (uint32_t i = 0; i < count; i++)
        memcpy(out + i * element, places[i] == BEYOND ? fill : row + places[i] * element, element);
}

/* row: NULL: it lies beyond. */
static void take_row(const uint8_t *row, const struct nearest_planes *p, const uint32_t *places,
                     uint32_t count, uint8_t *out)
{
    static const uint32_t first[1];
    for (uint32_t i = 0; !row && i < count; i++)
        take_elements(p->fill, p->fill, first, 1, p->element, out + i * p->element);
    if (!row)
        return;
    if (p->element == 1)
        take_elements(row, p->fill, places, count, 1, out);
    else if (p->element == 2)
        take_elements(row, p->fill, places, count, 2, out);
    else if (p->element == 4)
        take_elements(row, p->fill, places, count, 4, out);
    else
        take_elements(row, p->fill, places, count, 8, out);
}

bool nearest_take(struct scratch *scratch, const struct geometry *g, const struct nearest_planes *planes,
                  const uint8_t *source, uint8_t *out)
{
    const struct crop_plan *p = &g->plan;
    size_t element = planes->element;
    uint32_t width = p->window.width, height = p->window.height;
    struct axis across = {p->box.left, p->box.width, p->width, width, p->window.left, g->reflect, g->flip};
    struct axis down = {p->box.top,    p->box.height, p->height,       height,
                        p->window.top, g->reflect,    g->vertical_flip};
    uint32_t *columns = (uint32_t *)scratch_reserve(scratch, ((size_t)width + height) * sizeof *columns);
    if (!columns)
        return false;
    uint32_t *rows = columns + width;
    find_places(&across, columns);
    find_places(&down, rows);
    bool run = is_run(columns, width);
    for (size_t i = 0; i < (size_t)planes->count * height; i++, out += width * element) {
        uint32_t row = rows[i % height];
        const uint8_t *plane = source + i / height * g->height * g->width * element;
        const uint8_t *from = row == BEYOND ? NULL : plane + (size_t)row * g->width * element;
        if (from && run)
            memcpy(out, from + columns[0] * element, width * element);
        else
            take_row(from, planes, columns, width, out);
    }
    return true;
}

void nearest_move(const struct geometry *g, const struct nearest_planes *p, const uint8_t *window,
                  uint8_t *out)
{
    const struct affine_planes one = {1, g->plan.window.width, g->plan.window.height, p->element};
    size_t plane = (size_t)one.width * one.height * one.element;
    for (unsigned i = 0; i < p->count; i++)
        affine_nearest(&g->map, &one, window + i * plane, p->fill, out + i * plane);
}
