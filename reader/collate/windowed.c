/* Rows that are windows: see windowed.h. */
#include "windowed.h"

#include "delivery.h"
#include "lengths.h"
#include "mix.h"
#include "token_windows.h"

static struct window_walk walk_row(const apl_reader *r, const struct job *job, size_t row, uint32_t *index)
{
    struct window_walk walk;
    uint32_t nth, copy;
    *index = delivery_block(&r->spec, job->deliveries[row], &nth, &copy);
    windows_begin(&r->spec, *index, nth, &walk);
    return walk;
}

void windowed_list(const apl_reader *r, struct job *job)
{
    struct batch_buffer *b = job->buffer;
    size_t n = 0;
    for (size_t row = 0; row < b->batch.rows; row++) {
        uint32_t index;
        struct window_walk walk = walk_row(r, job, row, &index);
        for (struct window_part part; windows_next(&walk, &part); n++)
            b->pieces[n] = (apl_piece){.id = part.id,
                                       .offset = part.offset,
                                       .copy = b->batch.copies[row],
                                       .row = (uint32_t)row,
                                       .start = part.start,
                                       .length = part.tokens};
    }
    b->batch.piece_count = n;
}

/* A part that is of the window's own block: from the value, which may be shorter than when the reader was opened if the file has
 * been changed since. NULL: it is. */
static const uint8_t *own_part(const apl_reader *r, const struct job *job, unsigned f, uint32_t index,
                               const struct window_part *part, size_t unit)
{
    const struct subset_block *records = windows_records(&r->spec.options.windows, index);
    const struct raw_column *column = &cache_block(&r->cache, job->epoch, index)->ragged[f];
    uint32_t record = records->chosen ? records->chosen[part->nth] : part->nth;
    size_t bytes;
    const uint8_t *value = raw_column_value(column, &r->spec.schema->fields[f], record, &bytes);
    return (part->offset + part->tokens) * unit <= bytes ? value + part->offset * unit : NULL;
}

static apl_status copy_window(const apl_reader *r, const struct job *job, unsigned f, size_t row,
                              uint8_t *out, apl_error *err)
{
    const struct windows *w = &r->spec.options.windows;
    size_t unit = lengths_unit(&r->spec.schema->fields[f]), done = 0;
    uint32_t index;
    struct window_walk walk = walk_row(r, job, row, &index);
    for (struct window_part part; windows_next(&walk, &part); done += part.tokens) {
        const uint8_t *from = part.block == w->block[index].records
                                  ? own_part(r, job, f, index, &part, unit)
                                  : w->heads[f][part.block] + (part.before + part.offset) * unit;
        if (!from)
            break;
        memcpy(out + done * unit, from, part.tokens * unit);
    }
    if (done == w->length)
        return APL_OK;
    fail(err, APL_E_CORRUPT, "field %s: values are shorter than when the reader was opened",
         r->spec.schema->fields[f].name);
    return mix_name_block(&r->spec, index, APL_E_CORRUPT, err);
}

apl_status windowed_collate(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    const apl_reader *r = w->reader;
    apl_column *column = &job->buffer->batch.columns[f];
    size_t rows = job->buffer->batch.rows,
           row = r->spec.options.windows.length * lengths_unit(&r->spec.schema->fields[f]);
    column->shape[0] = (int64_t)r->spec.options.windows.length;
    batch_set_dims(column, rows);
    column->bytes = rows * row;
    if (!pool_grow(job->buffer, f, column->bytes + 64))
        return fail_nomem(err);
    for (size_t k = 0; k < rows; k++)
        TRY(copy_window(r, job, f, k, (uint8_t *)column->data + k * row, err));
    return APL_OK;
}
