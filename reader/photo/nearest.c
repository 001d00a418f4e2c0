/* Rows of the nearest elements, by the places of a column and a row in the source: see nearest.h. */
#include "nearest.h"

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
static inline void take_elements(const uint8_t *row, const uint32_t *places, uint32_t count, size_t element,
                                 uint8_t *out)
{
    static const uint8_t none[8] = {0};
    for (uint32_t i = 0; i < count; i++)
        memcpy(out + i * element, places[i] == BEYOND ? none : row + places[i] * element, element);
}

static void take_row(const uint8_t *row, const uint32_t *places, uint32_t count, size_t element, uint8_t *out)
{
    if (element == 1)
        take_elements(row, places, count, 1, out);
    else if (element == 2)
        take_elements(row, places, count, 2, out);
    else if (element == 4)
        take_elements(row, places, count, 4, out);
    else
        take_elements(row, places, count, 8, out);
}

bool nearest_take(struct scratch *scratch, const struct geometry *g, const uint8_t *source, unsigned planes,
                  size_t element, uint8_t *out)
{
    const struct crop_plan *p = &g->plan;
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
    for (size_t i = 0; i < (size_t)planes * height; i++, out += width * element) {
        uint32_t row = rows[i % height];
        const uint8_t *from = source + (i / height * g->height + row) * g->width * element;
        if (row == BEYOND)
            memset(out, 0, width * element);
        else if (run)
            memcpy(out, from + columns[0] * element, width * element);
        else
            take_row(from, columns, width, element, out);
    }
    return true;
}
