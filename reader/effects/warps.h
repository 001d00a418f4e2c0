/* What moves the pixels of a crop otherwise than by an affine map, one after the other, as it is drawn: a perspective, and rubber. Used for
 * images, and for the masks and boxes that follow them. */
#ifndef WARPS_H
#define WARPS_H

#include "elastic.h"
#include "perspective.h"

#define WARPS_MOST 2

struct warps {
    unsigned count;
    struct warp all[WARPS_MOST];
    bool elastic[WARPS_MOST]; /* or a perspective */
    struct perspective perspective;
    struct elastic field;
};

/* Does the transform ask for any? */
bool warps_any(const apl_transform *t);

/* Draws those of a crop of this size into `warps`, which must stay where it is; what is large lies in `scratch`. The only error is
 * APL_E_NOMEM. */
apl_status warps_draw(struct scratch *scratch, const apl_transform *t, const struct effect_draws *draws,
                      uint32_t height, uint32_t width, struct warps *warps, apl_error *err);

/* Resamples an image by one of them; `copy` has room for it and for AFFINE_BEYOND bytes more. */
void warps_apply(const struct warps *warps, unsigned which, const apl_transform *t, const struct image *crop,
                 uint8_t *copy);

#endif
