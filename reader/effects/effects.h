/*
 * What a transform changes in the pixels of a crop, once it is padded, cropped and flipped: colours. A function of the pixels, the
 * transform and the draws of the record alone.
 */
#ifndef EFFECTS_H
#define EFFECTS_H

#include "apl.h"
#include "colour.h"
#include "draws.h"
#include "scratch.h"

/* Planes of `height` rows, one after another. Effects may make one plane of three. */
struct image {
    uint8_t *pixels;
    unsigned channels, height, width;
};

static inline size_t image_plane(const struct image *p)
{
    return (size_t)p->height * p->width;
}

/* The working memory of one thread; zeros are an empty one. */
struct effects {
    const struct colour *colour; /* NULL before the first */
    struct scratch plane, rows, copy, field;
};

/* Checks what the transform of an image field asks for, and fills in defaults. `channels` are of its images. */
apl_status effects_check(const char *field, unsigned channels, apl_transform *t, apl_error *err);

/* Does the transform change pixels at all? */
bool effects_any(const apl_transform *t);

/* Changes the pixels of one crop. The only error is APL_E_NOMEM. */
apl_status effects_apply(struct effects *e, const apl_transform *t, const struct effect_draws *draws,
                         struct image *crop, apl_error *err);

void effects_free(struct effects *e);

#endif
