/* A crop as if drawn on rubber: torchvision's ElasticTransform. Every pixel is moved by smoothed noise. */
#ifndef ELASTIC_H
#define ELASTIC_H

#include "effects.h"
#include "warp.h"

#define ELASTIC_ALPHA 32768.0 /* at most */
#define ELASTIC_SIGMA 100.0   /* at most */

/* By how many pixels each pixel of the result looks to the right, and down: planes as large as the crop. */
struct elastic {
    const float *right, *down;
    uint32_t width, height;
};

/* Does the transform ask for it? */
bool elastic_any(const apl_transform *t);

/* Checks what is asked for, and fills in defaults. */
apl_status elastic_check(const char *field, unsigned channels, apl_transform *t, apl_error *err);

/* Is it done to the crop of these draws? */
bool elastic_happens(const apl_transform *t, const struct effect_draws *draws);

/* Draws how a crop of this size is bent; the planes lie in `scratch`. The only error is APL_E_NOMEM. */
apl_status elastic_draw(struct scratch *scratch, const apl_transform *t, const struct effect_draws *draws,
                        uint32_t height, uint32_t width, struct elastic *field, apl_error *err);

/* Of `field`, which must stay. */
struct warp elastic_warp(const struct elastic *field);

#endif
