/* One warp after the other: see warps.h. */
#include "warps.h"

#include "status.h"

#include <string.h>

bool warps_any(const apl_transform *t)
{
    return perspective_any(t) || elastic_any(t);
}

static void add_warp(struct warps *w, struct warp warp, bool elastic)
{
    w->all[w->count] = warp;
    w->elastic[w->count++] = elastic;
}

apl_status warps_draw(struct scratch *scratch, const apl_transform *t, const struct effect_draws *draws,
                      uint32_t height, uint32_t width, struct warps *w, apl_error *err)
{
    struct perspective_corners corners;
    w->count = 0;
    if (perspective_draw(t, draws, height, width, &corners) &&
        perspective_of(&corners, height, width, &w->perspective))
        add_warp(w, perspective_warp(&w->perspective), false);
    if (!elastic_happens(t, draws))
        return APL_OK;
    TRY(elastic_draw(scratch, t, draws, height, width, &w->field, err));
    add_warp(w, elastic_warp(&w->field), true);
    return APL_OK;
}

void warps_apply(const struct warps *w, unsigned which, const apl_transform *t, const struct image *p,
                 uint8_t *copy)
{
    const struct affine_planes planes = {p->channels, p->width, p->height, 1};
    bool elastic = w->elastic[which], filled = elastic ? t->elastic_blend : t->perspective_blend;
    const float *fill = elastic ? t->elastic_fill : t->perspective_fill;
    uint8_t beyond[APL_MAX_CHANNELS];
    for (unsigned c = 0; c < p->channels; c++) {
        beyond[c] = (uint8_t)fill[c];
        filled |= beyond[c] > 0;
    }
    memcpy(copy, p->pixels, p->channels * image_plane(p));
    if ((elastic ? t->elastic_interpolation : t->perspective_interpolation) == APL_BILINEAR)
        warp_bilinear(&w->all[which], &planes, copy, filled ? beyond : NULL, p->pixels);
    else
        warp_nearest(&w->all[which], &planes, copy, beyond, p->pixels);
}
