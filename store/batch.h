/* Batches: one contiguous array per field, and the ids of the rows. */
#ifndef BATCH_H
#define BATCH_H

#include "apl.h"

/* An array that a batch has beside the columns of its fields. */
struct batch_part {
    unsigned field;
    apl_part part;
    apl_column column;
};

struct apl_batch {
    /* Gives the batch back to where it came from; NULL: the batch owns its memory. */
    void (*release)(apl_batch *batch);
    uint64_t epoch, position; /* of a reader's batch: where its first row stands in the epoch's order */
    const uint32_t *copies;   /* of each row, or NULL */
    const uint64_t *skipped;  /* ids of rows that were left out */
    size_t skipped_count;
    size_t rows;
    uint64_t *ids;
    unsigned fields;
    apl_column columns[APL_MAX_FIELDS]; /* data is NULL for a field that was not asked for */
    unsigned part_count;
    struct batch_part *parts; /* of a reader's batch */
    const apl_piece *pieces;  /* of a packed batch */
    size_t piece_count;
};

/* Writes down the shape of a column's data as one array: rows, then the shape of each. */
void batch_set_dims(apl_column *column, size_t rows);

/* Memory for a column's data: aligned to 64 bytes, never of size 0. Freed with free(). */
void *batch_memory(size_t bytes);

#endif
