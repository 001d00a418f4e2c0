/* Rows that are windows: see windowed.h. */
#include "windowed.h"

#include "delivery.h"
#include "lengths.h"
#include "mix.h"
#include "token_windows.h"

static struct window_walk walk_row(const struct worker *w, const struct job *job, size_t row, uint32_t *index)
{
    struct window_walk walk;
    uint32_t nth, copy;
    *index = delivery_block(w->spec, job->deliveries[row], &nth, &copy);
    windows_begin(w->spec, *index, nth, &walk);
    return walk;
}

void windowed_list(const struct worker *w, struct job *job)
{
    struct batch_buffer *b = job->buffer;
    size_t n = 0;
    for (size_t row = 0; row < b->batch.rows; row++) {
        uint32_t index;
        struct window_walk walk = walk_row(w, job, row, &index);
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
static const uint8_t *own_part(const struct worker *w, const struct job *job, unsigned f, uint32_t index,
                               const struct window_part *part, size_t unit)
{
    const struct subset_block *records = windows_records(&w->spec->options.windows, index);
    const struct raw_column *column = &standing_block(w->standing, job->epoch, index)->ragged[f];
    uint32_t record = records->chosen ? records->chosen[part->nth] : part->nth;
    size_t bytes;
    const uint8_t *value = raw_column_value(column, &w->spec->schema->fields[f], record, &bytes);
    return (part->offset + part->tokens) * unit <= bytes ? value + part->offset * unit : NULL;
}

static apl_status copy_window(const struct worker *w, const struct job *job, unsigned f, size_t row,
                              uint8_t *out, apl_error *err)
{
    const struct windows *windows = &w->spec->options.windows;
    size_t unit = lengths_unit(&w->spec->schema->fields[f]), done = 0;
    uint32_t index;
    struct window_walk walk = walk_row(w, job, row, &index);
    for (struct window_part part; windows_next(&walk, &part); done += part.tokens) {
        const uint8_t *from = part.block == windows->block[index].records
                                  ? own_part(w, job, f, index, &part, unit)
                                  : windows->heads[f][part.block] + (part.before + part.offset) * unit;
        if (!from)
            break;
        memcpy(out + done * unit, from, part.tokens * unit);
    }
    if (done == windows->length)
        return APL_OK;
    fail(err, APL_E_CORRUPT, "field %s: values are shorter than when the reader was opened",
         w->spec->schema->fields[f].name);
    return mix_name_block(w->spec, index, APL_E_CORRUPT, err);
}

apl_status windowed_collate(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    apl_column *column = &job->buffer->batch.columns[f];
    size_t rows = job->buffer->batch.rows,
           row = w->spec->options.windows.length * lengths_unit(&w->spec->schema->fields[f]);
    column->shape[0] = (int64_t)w->spec->options.windows.length;
    batch_set_dims(column, rows);
    column->bytes = rows * row;
    if (!pool_grow(job->buffer, f, column->bytes + 64))
        return fail_nomem(err);
    for (size_t k = 0; k < rows; k++)
        TRY(copy_window(w, job, f, k, (uint8_t *)column->data + k * row, err));
    return APL_OK;
}
