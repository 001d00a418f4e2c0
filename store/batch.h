/* Batches: one contiguous array per field, and the ids of the rows. */
#ifndef BATCH_H
#define BATCH_H

#include "apl.h"

struct apl_batch {
    size_t rows;
    uint64_t *ids;
    unsigned fields;
    apl_column columns[APL_MAX_FIELDS]; /* data is NULL for a field that was not asked for */
};

/* Memory for a column's data: aligned to 64 bytes, never of size 0. Freed with free(). */
void *batch_memory(size_t bytes);

#endif
