/* The classes and the weights of records: the values of a field of numbers. */
#ifndef CLASSES_H
#define CLASSES_H

#include "subset.h"

/* The value that each record of the subset has of the field of that name into values[], in the order of
 * subset_block.first; negative ones as 2^64 more. Reads every block, on all cores. APL_E_NOTFOUND where a
 * store has no such field, APL_E_INVALID where it is not one of one whole number a record. */
apl_status classes_read(const struct subset *subset, const char *field, uint64_t *values, apl_error *err);

/* The same for a field of weights, whose values may be f32 and f64 too. */
apl_status field_weights_read(const struct subset *subset, const char *field, double *weights,
                              apl_error *err);

#endif
