/* Mean and standard deviation of images whose size may be any. */
#ifndef PHOTO_MOMENTS_H
#define PHOTO_MOMENTS_H

#include "photo_transform.h"

/* Fills in mean and standard deviation where none were given: what the stores know of all images of the split "train", or, if there is
 * none, of the split that the subset's part is of; where one knows nothing, from some images of the first part's. */
apl_status photo_moments(const struct subset *subset, const apl_field *field, apl_transform *t,
                         apl_error *err);

#endif
