/* Batches that own their memory. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

void *batch_memory(size_t bytes)
{
    return bytes > SIZE_MAX - 64 ? NULL : aligned_alloc(64, (bytes + 64) & ~(size_t)63);
}

size_t apl_batch_rows(const apl_batch *batch)
{
    return batch ? batch->rows : 0;
}

const uint64_t *apl_batch_ids(const apl_batch *batch)
{
    return batch ? batch->ids : NULL;
}

const uint32_t *apl_batch_copies(const apl_batch *batch)
{
    return batch ? batch->copies : NULL;
}

uint64_t apl_batch_epoch(const apl_batch *batch)
{
    return batch ? batch->epoch : 0;
}

uint64_t apl_batch_position(const apl_batch *batch)
{
    return batch ? batch->position : 0;
}

const uint64_t *apl_batch_skipped(const apl_batch *batch, size_t *count)
{
    if (count)
        *count = batch ? batch->skipped_count : 0;
    return batch ? batch->skipped : NULL;
}

const apl_column *apl_batch_column(const apl_batch *batch, unsigned field)
{
    return batch && field < batch->fields && batch->columns[field].data ? &batch->columns[field] : NULL;
}

const apl_column *apl_batch_part(const apl_batch *batch, unsigned field, apl_part part)
{
    for (unsigned i = 0; batch && i < batch->part_count; i++)
        if (batch->parts[i].field == field && batch->parts[i].part == part)
            return &batch->parts[i].column;
    return NULL;
}

const apl_piece *apl_batch_pieces(const apl_batch *batch, size_t *count)
{
    if (count)
        *count = batch ? batch->piece_count : 0;
    return batch ? batch->pieces : NULL;
}

void batch_set_dims(apl_column *column, size_t rows)
{
    column->dims = column->ndim + 1;
    column->dim[0] = (int64_t)rows;
    memcpy(column->dim + 1, column->shape, column->ndim * sizeof *column->shape);
}

void apl_batch_release(apl_batch *batch)
{
    if (!batch)
        return;
    if (batch->release) {
        batch->release(batch);
        return;
    }
    for (unsigned f = 0; f < batch->fields; f++) {
        free((void *)batch->columns[f].data);
        free((void *)batch->columns[f].offsets);
        free((void *)batch->columns[f].shapes);
    }
    free(batch->ids);
    free(batch);
}
