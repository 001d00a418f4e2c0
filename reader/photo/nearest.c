/* Rows of the nearest elements, by the places of a column and a row in the source: see nearest.h. */
#include "nearest.h"

#include "affine_take.h"

#define BEYOND UINT32_MAX

/* One axis of the image: `length` elements from `from` on are scaled to `size`, of which the window takes `count` from `at` on. */
struct axis {
    uint32_t from, length, size, count;
    int32_t at;
    apl_pad mode;
    bool flip;
};

/* What is seen at a place of an axis that may lie beyond it. */
static int64_t padded_from(int64_t at, uint32_t size, apl_pad mode)
{
    int64_t again = mode == APL_PAD_SYMMETRIC, last = (int64_t)size - 1;
    if (mode == APL_PAD_EDGE)
        return at < 0 ? 0 : at > last ? last : at;
    if (mode != APL_PAD_REFLECT && mode != APL_PAD_SYMMETRIC)
        return at;
    at = at < 0 ? -at - again : at;
    return at <= last ? at : 2 * last + again - at;
}

/* Where each element of the window comes from. */
static void find_places(const struct axis *a, uint32_t *places)
{
    float scale = (float)a->length / (float)a->size;
    for (uint32_t i = 0; i < a->count; i++) {
        int64_t at = padded_from((int64_t)a->at + i, a->size, a->mode);
        uint32_t *place = &places[a->flip ? a->count - 1 - i : i];
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

/* Where the columns and rows of a result come from. */
struct places {
    const uint32_t *columns, *rows;
    uint32_t width, height;
};

/* One plane, of rows of `stride` elements. */
static void place_plane(const struct places *at, const struct nearest_planes *p, uint32_t stride,
                        const uint8_t *plane, uint8_t *out)
{
    bool run = is_run(at->columns, at->width);
    for (uint32_t i = 0; i < at->height; i++, out += at->width * p->element) {
        const uint8_t *from =
            at->rows[i] == BEYOND ? NULL : plane + (size_t)at->rows[i] * stride * p->element;
        if (from && run)
            memcpy(out, from + at->columns[0] * p->element, at->width * p->element);
        else
            take_row(from, p, at->columns, at->width, out);
    }
}

bool nearest_take(struct scratch *scratch, const struct geometry *g, const struct nearest_planes *planes,
                  const uint8_t *source, uint8_t *out)
{
    const struct crop_plan *p = &g->plan;
    size_t element = planes->element;
    uint32_t width = p->window.width, height = p->window.height;
    struct axis across = {p->box.left,    p->box.width,    p->width, width,
                          p->window.left, p->padding.mode, g->flip};
    struct axis down = {p->box.top,    p->box.height,   p->height,       height,
                        p->window.top, p->padding.mode, g->vertical_flip};
    uint32_t *columns = (uint32_t *)scratch_reserve(scratch, ((size_t)width + height) * sizeof *columns);
    if (!columns)
        return false;
    uint32_t *rows = columns + width;
    find_places(&across, columns);
    find_places(&down, rows);
    for (unsigned i = 0; i < planes->count; i++)
        place_plane(&(struct places){columns, rows, width, height}, planes, g->width,
                    source + (size_t)i * g->height * g->width * element,
                    out + (size_t)i * height * width * element);
    return true;
}

/* ---------------------------------------------------------------------------------------------- padding */

/* Those of a window that is no longer scaled. */
static void find_padded(const struct crop_plan *p, uint32_t left, uint32_t top, uint32_t *columns,
                        uint32_t *rows)
{
    const struct axis across = {0 - left,       p->width,        p->width, p->window.width,
                                p->window.left, p->padding.mode, false};
    const struct axis down = {0 - top,       p->height,       p->height, p->window.height,
                              p->window.top, p->padding.mode, false};
    find_places(&across, columns);
    find_places(&down, rows);
}

static uint32_t *padded_places(struct scratch *scratch, const struct crop_plan *p)
{
    return (uint32_t *)scratch_reserve(scratch,
                                       ((size_t)p->window.width + p->window.height) * sizeof(uint32_t));
}

/* The places that there are lie from *from on. */
static void find_extent(const uint32_t *places, uint32_t count, int32_t *from, uint32_t *extent)
{
    uint32_t least = BEYOND, end = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (places[i] == BEYOND)
            continue;
        least = places[i] < least ? places[i] : least;
        end = places[i] >= end ? places[i] + 1 : end;
    }
    *from = least == BEYOND ? 0 : (int32_t)least;
    *extent = least == BEYOND ? 0 : end - least;
}

bool nearest_needed(struct scratch *scratch, const struct crop_plan *plan, struct crop_plan *inner)
{
    uint32_t *columns = padded_places(scratch, plan);
    *inner = *plan;
    if (!columns)
        return false;
    uint32_t *rows = columns + plan->window.width;
    find_padded(plan, 0, 0, columns, rows);
    find_extent(columns, plan->window.width, &inner->window.left, &inner->window.width);
    find_extent(rows, plan->window.height, &inner->window.top, &inner->window.height);
    return true;
}

bool nearest_pad(struct scratch *scratch, const struct crop_plan *plan, const struct crop_plan *inner,
                 unsigned channels, const uint8_t *source, uint8_t *out)
{
    uint32_t *columns = padded_places(scratch, plan);
    size_t from = (size_t)inner->window.width * inner->window.height;
    size_t to = (size_t)plan->window.width * plan->window.height;
    if (!columns)
        return false;
    uint32_t *rows = columns + plan->window.width;
    find_padded(plan, (uint32_t)inner->window.left, (uint32_t)inner->window.top, columns, rows);
    for (unsigned c = 0; c < channels; c++)
        place_plane(&(struct places){columns, rows, plan->window.width, plan->window.height},
                    &(struct nearest_planes){1, 1, &plan->padding.fill[c]}, inner->window.width,
                    source + c * from, out + c * to);
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

void nearest_warp(const struct warp *warp, const struct geometry *g, const struct nearest_planes *p,
                  const uint8_t *window, uint8_t *out)
{
    const struct affine_planes one = {1, g->plan.window.width, g->plan.window.height, p->element};
    size_t plane = (size_t)one.width * one.height * one.element;
    for (unsigned i = 0; i < p->count; i++)
        warp_nearest(warp, &one, window + i * plane, p->fill, out + i * plane);
}
