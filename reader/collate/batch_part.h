/* The arrays that a collation adds to a batch. */
#ifndef BATCH_PART_H
#define BATCH_PART_H

#include "worker.h"

/* Describes the array of a part, of shape {rows, more} (or {rows} where more is negative), and makes room for it. NULL: out of
 * memory. */
void *batch_part_make(const struct spec *spec, struct job *job, unsigned field, apl_part part,
                      apl_dtype dtype, int64_t rows, int64_t more);

#endif
