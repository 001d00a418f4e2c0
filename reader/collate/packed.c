/* Rows of tokens, packed: see packed.h. */
#include "packed.h"

#include "batch_part.h"
#include "collation.h"
#include "delivery.h"
#include "lengths.h"
#include "packing.h"
#include "values.h"

/* The part of a delivery that is in a batch: `tokens` of its value, from `from`; they begin at `at` of the batch. */
struct share {
    uint64_t at, from, tokens;
    bool ends, bad;
};

static struct share share_of(const struct worker *w, const struct job *job, uint32_t k, uint64_t at)
{
    uint32_t nth, copy, index = delivery_block(w->spec, job->deliveries[k], &nth, &copy);
    struct share s = {.at = at, .from = k == 0 ? job->skip : 0};
    uint64_t left = packing_tokens(w->spec, job->deliveries[k]) - s.from;
    s.tokens = left < job->tokens - at ? left : job->tokens - at;
    s.ends = k + 1 < job->rows || !job->more;
    s.bad = standing_block(w->standing, job->epoch, index)->stage == BLOCK_BAD;
    return s;
}

/* ------------------------------------------------------------------------------------------------ pieces */

/* The pieces of a delivery, one in each row that it has tokens in; and the ids of rows that it begins. */
static void list_pieces(const struct worker *w, struct batch_buffer *b, const struct share *s, uint64_t id,
                        uint32_t copy)
{
    uint64_t row = w->spec->options.pack.row, left = s->tokens;
    for (uint64_t at = s->at, from = s->from; left > 0;) {
        uint64_t start = at % row, n = left < row - start ? left : row - start;
        if (start == 0) {
            b->batch.ids[at / row] = id;
            ((uint32_t *)b->batch.copies)[at / row] = copy;
        }
        if (!s->bad)
            b->pieces[b->batch.piece_count++] = (apl_piece){.id = id,
                                                            .offset = from,
                                                            .copy = copy,
                                                            .row = (uint32_t)(at / row),
                                                            .start = (uint32_t)start,
                                                            .length = (uint32_t)n};
        at += n;
        from += n;
        left -= n;
    }
}

/* A delivery that ends here is counted here: if it is left out, after all that are not. */
static void end_delivery(struct batch_buffer *b, const struct share *s, uint64_t id, uint32_t copy,
                         uint32_t number)
{
    if (!s->ends)
        return;
    b->numbers[b->finished++] = number;
    if (s->bad) {
        b->skipped[b->batch.skipped_count++] = id;
        return;
    }
    size_t n = b->finished - b->batch.skipped_count - 1;
    b->ended[n] = id;
    b->ended_copies[n] = copy;
}

void packed_list(const struct worker *w, struct job *job)
{
    struct batch_buffer *b = job->buffer;
    const uint32_t *cumulative = delivery_sample(w->spec, job->epoch);
    uint64_t row = w->spec->options.pack.row, at = 0;
    b->batch.rows = (size_t)((job->tokens + row - 1) / row);
    b->batch.epoch = job->epoch;
    b->batch.position = job->position;
    b->batch.skipped_count = b->batch.piece_count = b->finished = 0;
    for (uint32_t k = 0; k < job->rows; k++) {
        uint32_t nth, copy, index = delivery_block(w->spec, job->deliveries[k], &nth, &copy);
        const struct subset_block *block = &w->spec->subset.block[index];
        uint64_t id = block->first_id + (block->chosen ? block->chosen[nth] : nth);
        struct share s = share_of(w, job, k, at);
        list_pieces(w, b, &s, id, copy);
        end_delivery(b, &s, id, copy, delivery_number(w->spec, cumulative, index, nth, copy));
        at += s.tokens;
    }
}

/* ------------------------------------------------------------------------------------------------ arrays */

/* Rows lie one after another, so that a value that goes on in the next row is copied as one. */
apl_status packed_collate(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    apl_column *column = &job->buffer->batch.columns[f];
    uint64_t row = w->spec->options.pack.row, rows = job->buffer->batch.rows, at = 0;
    column->shape[0] = (int64_t)row;
    batch_set_dims(column, rows);
    size_t unit = lengths_unit(&w->spec->schema->fields[f]);
    column->bytes = rows * row * unit;
    if (!pool_grow(job->buffer, f, column->bytes + 64))
        return fail_nomem(err);
    uint8_t *out = (uint8_t *)column->data;
    size_t elements = unit / apl_dtype_size(column->dtype);
    for (uint32_t k = 0; k < job->rows; k++) {
        struct share s = share_of(w, job, k, at);
        const uint8_t *value = NULL;
        values_expect(w, job, f, k, job->rows);
        if (s.tokens && !s.bad)
            TRY(values_take(w, job, f, k, &value, err));
        if (value)
            memcpy(out + at * unit, value + s.from * unit, s.tokens * unit);
        else
            collation_fill(w->spec, f, out + at * unit, s.tokens * elements);
        at += s.tokens;
    }
    collation_fill(w->spec, f, out + at * unit, (rows * row - at) * elements);
    return APL_OK;
}

/* Four numbers at a time: what is written beside the tokens is four times as much as they are. */
#define LANES 4u
typedef int32_t lanes __attribute__((vector_size(LANES * sizeof(int32_t))));

/* Writes n numbers, which begin with `first`, each `step` above the one before. */
static void write_numbers(int32_t *out, size_t n, int32_t first, int32_t step)
{
    lanes v = {first, first + step, first + 2 * step, first + 3 * step};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES, v += (int32_t)LANES * step)
        memcpy(out + i, &v, sizeof v);
    for (; i < n; i++)
        out[i] = first + (int32_t)i * step;
}

static void clear_tokens(int32_t *segments, int32_t *positions, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    memset(segments + from, 0, (to - from) * sizeof *segments);
    memset(positions + from, 0, (to - from) * sizeof *positions);
}

apl_status packed_parts(const struct worker *w, struct job *job, apl_error *err)
{
    const struct batch_buffer *b = job->buffer;
    uint64_t row = w->spec->options.pack.row, rows = b->batch.rows, at = 0;
    unsigned field = w->spec->options.pack.field;
    int32_t *segments =
        batch_part_make(w->spec, job, field, APL_PART_SEGMENTS, APL_I32, (int64_t)rows, (int64_t)row);
    int32_t *positions =
        batch_part_make(w->spec, job, field, APL_PART_POSITIONS, APL_I32, (int64_t)rows, (int64_t)row);
    if (!segments || !positions)
        return fail_nomem(err);
    for (size_t i = 0, number = 1; i < b->batch.piece_count; i++, number++) {
        const apl_piece *piece = &b->pieces[i];
        if (i == 0 || piece->row != b->pieces[i - 1].row)
            number = 1;
        uint64_t from = piece->row * row + piece->start;
        clear_tokens(segments, positions, at, from);
        write_numbers(segments + from, piece->length, (int32_t)number, 0);
        write_numbers(positions + from, piece->length, 0, 1);
        at = from + piece->length;
    }
    clear_tokens(segments, positions, at, rows * row);
    return APL_OK;
}
