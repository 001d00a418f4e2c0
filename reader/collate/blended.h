/* Batches whose images are mixed with each other, and their labels: see blending.h. */
#ifndef BLENDED_H
#define BLENDED_H

#include "worker.h"

/* Does the field hold the labels that are mixed? Its column is made with the images. */
static inline bool blended_is_label(const struct worker *w, unsigned field)
{
    return w->spec->options.blending.any && w->spec->options.blending.label == field;
}

/* Mixes the images of a batch, whose columns have been made, and makes the column of its labels; nothing where that is not asked
 * for. The error of a label that is no class names the record. */
apl_status blended_make(struct worker *w, struct job *job, apl_error *err);

#endif
