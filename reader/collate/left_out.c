/* Leaving rows out: see left_out.h. */
#include "left_out.h"

#include <string.h>

/* Moves element `row` behind the others of `rows`. */
static void move_behind(uint32_t *of, uint32_t row, uint32_t rows)
{
    uint32_t moved = of[row];
    memmove(of + row, of + row + 1, (rows - row - 1) * sizeof *of);
    of[rows - 1] = moved;
}

/* ---------------------------------------------------------------------------------------------- leaving out */

bool left_out_drop(const struct spec *spec, struct job *job, uint32_t row, apl_status status)
{
    struct batch_buffer *buffer = job->buffer;
    apl_batch *batch = &buffer->batch;
    uint32_t rows = (uint32_t)batch->rows;
    bool bad = status == APL_E_CORRUPT || status == APL_E_UNSUPPORTED;
    if (!bad || !spec->options.skip_corrupt || spec->options.pack.row)
        return false;
    buffer->skipped[batch->skipped_count++] = batch->ids[row];
    memmove(batch->ids + row, batch->ids + row + 1, (rows - row - 1) * sizeof *batch->ids);
    move_behind((uint32_t *)batch->copies, row, rows);
    move_behind(buffer->numbers, row, rows);
    move_behind(buffer->delivered, row, rows);
    move_behind(job->deliveries, row, rows);
    batch->rows--;
    job->undecodable++;
    return true;
}
