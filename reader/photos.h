/* JPEG images that a store keeps as they came, on their way into a batch. */
#ifndef PHOTOS_H
#define PHOTOS_H

#include "reader.h"

/* Fills in and checks what apl_transform has for such images. */
apl_status photos_check(const apl_field *field, apl_transform *t, apl_error *err);

/* Fills in mean and deviation where none were given, from some images of the split "train", or, if there is none, of the split
 * that the subset's first part is of. */
apl_status photos_moments(const struct subset *subset, const apl_field *field, apl_transform *t,
                          apl_error *err);

/* Draws flips and squares of all rows of a batch, before photos_make() of each. */
void photos_place(struct worker *w, const struct job *job, unsigned f);

/* Writes row k of field f, which is `size` bytes of JPEG. Likely errors: APL_E_CORRUPT, APL_E_UNSUPPORTED, APL_E_INVALID (smaller
 * than the crop); they name the record and the field. */
apl_status photos_make(struct worker *w, struct job *job, unsigned f, const struct assembly *assembly,
                       size_t k, const void *bytes, size_t size, apl_error *err);

#endif
