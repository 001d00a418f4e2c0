/* What is to be done to images, checked against a store and completed. */
#ifndef TRANSFORM_H
#define TRANSFORM_H

#include "spec.h"

/* Are images padded on some side, other than by the crop? */
static inline bool transform_pads(const apl_transform *t)
{
    return t->pads[0] || t->pads[1] || t->pads[2] || t->pads[3];
}

/* Takes transform i of a caller's array, with the defaults for what the caller's version does not have. */
apl_status transform_take(apl_transform *t, const apl_transform *theirs, size_t i, apl_error *err);

/* Hands the completed transform back to the caller, who took it for one of the size it says. */
void transform_give(apl_transform *theirs, const apl_transform *t);

/* Finds the field that the transform is for, among those wanted (NULL: all), and fills in its name, the sizes
 * of the crop and the dtype. Says what cannot be. */
apl_status transform_geometry(const struct schema *schema, const bool *wanted, apl_transform *t,
                              unsigned *field, apl_error *err);

/* Fills in mean and standard deviation where they are needed and none were given: those of all records that are in the split "train"
 * of the subset's stores, or those that its one store without such a split has kept. After transform_geometry(). Likely errors:
 * APL_E_NOTFOUND (a store has neither). */
apl_status transform_moments(const struct subset *subset, const apl_field *field, apl_transform *t,
                             apl_error *err);

/* Completes a caller's transform for what is read. */
apl_status transform_complete(const struct spec *spec, apl_transform *transform, apl_error *err);

#endif
