/* Run by run: its places, then each plane. See warp.h. */
#include "warp.h"

#include <stdbool.h>
#include <string.h>

static bool lies_within(const struct affine_planes *p, int64_t x, int64_t y)
{
    return x >= 0 && x < (int64_t)p->width && y >= 0 && y < (int64_t)p->height;
}

static void take_nearest(const struct affine_planes *p, const struct warp_places *places,
                         const uint8_t *plane, const uint8_t *fill, uint8_t *out)
{
    for (uint32_t i = 0; i < places->count; i++) {
        int64_t x = (places->x[i] + AFFINE_UNIT / 2) >> AFFINE_POINT,
                y = (places->y[i] + AFFINE_UNIT / 2) >> AFFINE_POINT;
        bool within = lies_within(p, x, y);
        const uint8_t *at = within ? plane + ((size_t)y * p->width + (size_t)x) * p->element : fill;
        memcpy(out + i * p->element, at, p->element);
    }
}

/* Those of which all four pixels around lie within the plane go the fast way; `edges` lists the others, of which it returns the count. */
static uint32_t sort_places(const struct affine_planes *p, const struct warp_places *places,
                            struct affine_run *run, uint32_t edges[AFFINE_RUN])
{
    uint32_t found = 0;
    run->count = places->count;
    for (uint32_t i = 0; i < places->count; i++) {
        int64_t x = places->x[i] >> AFFINE_POINT, y = places->y[i] >> AFFINE_POINT;
        bool within = lies_within(p, x, y) && lies_within(p, x + 1, y + 1);
        run->at[i] = within ? (uint32_t)y * p->width + (uint32_t)x : 0;
        run->right[i] = affine_weight(places->x[i]);
        run->low[i] = affine_weight(places->y[i]);
        edges[found] = i;
        found += !within;
    }
    return found;
}

/* One pixel wide or high, a plane has no four around: what is made of bytes behind it is made again at the edges. */
static void take_bilinear(const struct affine_planes *p, const struct warp_places *places,
                          const uint8_t *from, const uint8_t *fill, uint8_t *out)
{
    affine_blend_fn *blend = affine_blend_for(cpu_variant());
    struct affine_run run;
    uint32_t edges[AFFINE_RUN], count = sort_places(p, places, &run, edges);
    size_t plane = (size_t)p->width * p->height;
    for (unsigned k = 0; k < p->count; k++) {
        if (count < run.count)
            blend(&run, from + k * plane, p->width, out + k * plane);
        for (uint32_t i = 0; i < count; i++)
            out[k * plane + edges[i]] = affine_blend_at_edge(p, from + k * plane, places->x[edges[i]],
                                                             places->y[edges[i]], fill ? fill + k : NULL);
    }
}

void warp_nearest(const struct warp *w, const struct affine_planes *p, const uint8_t *from,
                  const uint8_t *fill, uint8_t *out)
{
    struct warp_places places;
    size_t plane = (size_t)p->width * p->height * p->element;
    for (uint32_t row = 0; row < p->height; row++)
        for (uint32_t i = 0; i < p->width; i += places.count) {
            places.count = p->width - i < AFFINE_RUN ? p->width - i : AFFINE_RUN;
            w->find(w->map, row, i, &places);
            uint8_t *to = out + ((size_t)row * p->width + i) * p->element;
            for (unsigned k = 0; k < p->count; k++)
                take_nearest(p, &places, from + k * plane, fill + k * p->element, to + k * plane);
        }
}

void warp_bilinear(const struct warp *w, const struct affine_planes *p, const uint8_t *from,
                   const uint8_t *fill, uint8_t *out)
{
    struct warp_places places;
    for (uint32_t row = 0; row < p->height; row++)
        for (uint32_t i = 0; i < p->width; i += places.count) {
            places.count = p->width - i < AFFINE_RUN ? p->width - i : AFFINE_RUN;
            w->find(w->map, row, i, &places);
            take_bilinear(p, &places, from, fill, out + (size_t)row * p->width + i);
        }
}
