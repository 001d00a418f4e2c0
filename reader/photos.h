/* Images whose size may be any, and those that are resized, on their way into a batch: JPEG files that a store keeps as they came, and
 * samples. */
#ifndef PHOTOS_H
#define PHOTOS_H

#include "reader.h"

/* An image as it lies in a store: a file, an indexed image, or samples of a shape. */
struct photo_value {
    const void *data;
    size_t bytes;
    bool is_indexed;
    uint32_t shape[3]; /* of samples */
};

/* Are a field's images made here under this transform, or only assembled? */
bool photos_makes(const apl_field *field, const apl_transform *t);

/* The shape of a value of a field of fixed shape. */
void photos_fixed_shape(const apl_field *field, struct photo_value *value);

/* Fills in and checks what apl_transform has for such images. */
apl_status photos_check(const apl_field *field, apl_transform *t, apl_error *err);

/* Fills in mean and standard deviation where none were given: what the stores know of all images of the split "train", or, if there is
 * none, of the split that the subset's part is of; where one knows nothing, from some images of the first part's. */
apl_status photos_moments(const struct subset *subset, const apl_field *field, apl_transform *t,
                          apl_error *err);

/* Draws flips and squares of all rows of a batch, before photos_make() of each. */
void photos_place(struct worker *w, const struct job *job, unsigned f);

/* Writes row k of a field, which is drawn by work->placements. Likely errors: APL_E_CORRUPT, APL_E_UNSUPPORTED, APL_E_INVALID
 * (smaller than the crop); they name the record and the field. */
apl_status photos_make(struct worker *w, struct job *job, const struct run_work *work, size_t k,
                       const struct photo_value *value, apl_error *err);

#endif
