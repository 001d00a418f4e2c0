/* The classes of records: the values of a field of whole numbers. */
#ifndef CLASSES_H
#define CLASSES_H

#include "subset.h"

/* The field of one whole number a record, by its name; APL_E_NOTFOUND, or APL_E_INVALID if it is no such. */
apl_status classes_field(const apl_store *store, const char *name, unsigned *field, apl_error *err);

/* The value of each record of the subset into values[], in the order of subset_block.first; negative ones as 2^64 more.
 * Reads every block, on all cores. */
apl_status classes_read(const struct subset *subset, unsigned field, uint64_t *values, apl_error *err);

#endif
