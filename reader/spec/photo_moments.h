/* Mean and standard deviation of images whose size may be any. */
#ifndef PHOTO_MOMENTS_H
#define PHOTO_MOMENTS_H

#include "photo_transform.h"

/* Fills in mean and standard deviation where none were given: those over all pixels of the images of each part's split "train", which
 * each has. What a store knows of them is taken; if one knows nothing, some of its
 * images are decoded, about PHOTO_MOMENT_IMAGES of all parts together, evenly spaced. Those that cannot be decoded do not count: the
 * reader reports them when it gets there. Likely errors: APL_E_NOTFOUND (no image counts). */
#define PHOTO_MOMENT_IMAGES 256
apl_status photo_moments(const struct subset *subset, const apl_field *field, apl_transform *t,
                         apl_error *err);

#endif
