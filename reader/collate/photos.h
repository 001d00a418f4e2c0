/* Images whose size may be any, and those that are resized, on their way into a batch: JPEG files that a store keeps as they came, and
 * samples. */
#ifndef PHOTOS_H
#define PHOTOS_H

#include "photo_transform.h"
#include "worker.h"

/* Draws flips and squares of all rows of a batch, before photos_make() of each. */
void photos_place(struct worker *w, const struct job *job, unsigned f);

/* Writes row k of a field, which is drawn by work->placements. Likely errors: APL_E_CORRUPT, APL_E_UNSUPPORTED, APL_E_INVALID
 * (smaller than the crop); they name the record and the field. */
apl_status photos_make(struct worker *w, struct job *job, const struct run_work *work, size_t k,
                       const struct photo_value *value, apl_error *err);

#endif
