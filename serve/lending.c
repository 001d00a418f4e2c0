/* Batches on loan: see lending.h. */
#include "lending.h"

#include "pool.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- arrays */

/* Bytes of the arrays of a column. */
static size_t column_arrays(const apl_column *c, size_t rows)
{
    return (c->offsets ? (rows + 1) * sizeof *c->offsets : 0) +
           (c->shapes ? rows * c->ndim * sizeof *c->shapes : 0);
}

static size_t all_arrays(const struct batch_buffer *b)
{
    const apl_batch *batch = &b->batch;
    size_t bytes = batch->rows * (sizeof *batch->ids + sizeof *batch->copies) +
                   batch->skipped_count * sizeof *batch->skipped +
                   batch->piece_count * sizeof *batch->pieces + b->finished * sizeof *b->numbers;
    for (unsigned i = 0; i < batch->fields; i++)
        bytes += batch->columns[i].data ? column_arrays(&batch->columns[i], batch->rows) : 0;
    for (unsigned i = 0; i < batch->part_count; i++)
        bytes += column_arrays(&batch->parts[i].column, batch->rows);
    return bytes;
}

static uint8_t *put(uint8_t *at, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(at, from, bytes);
    return at + bytes;
}

static uint8_t *put_column(uint8_t *at, const apl_column *c, size_t rows)
{
    if (c->offsets)
        at = put(at, c->offsets, (rows + 1) * sizeof *c->offsets);
    return c->shapes ? put(at, c->shapes, rows * c->ndim * sizeof *c->shapes) : at;
}

static void put_arrays(const struct batch_buffer *b, uint8_t *at)
{
    const apl_batch *batch = &b->batch;
    at = put(at, batch->ids, batch->rows * sizeof *batch->ids);
    at = put(at, batch->skipped, batch->skipped_count * sizeof *batch->skipped);
    at = put(at, batch->pieces, batch->piece_count * sizeof *batch->pieces);
    for (unsigned i = 0; i < batch->fields; i++)
        if (batch->columns[i].data)
            at = put_column(at, &batch->columns[i], batch->rows);
    for (unsigned i = 0; i < batch->part_count; i++)
        if (batch->parts[i].column.data)
            at = put_column(at, &batch->parts[i].column, batch->rows);
    at = put(at, b->numbers, b->finished * sizeof *b->numbers);
    put(at, batch->copies, batch->rows * sizeof *batch->copies);
}

/* ---------------------------------------------------------------------------------------------- columns */

static apl_status tell_column(const struct lending *l, struct wire_batch *m, const apl_column *c,
                              unsigned field, unsigned part, apl_error *err)
{
    if (m->columns == WIRE_COLUMNS)
        return fail(err, APL_E_UNSUPPORTED, "a batch of more than %u columns", WIRE_COLUMNS);
    struct wire_column *w = &m->column[m->columns++];
    *w = (struct wire_column){.field = field,
                              .part = part,
                              .dtype = (uint32_t)c->dtype,
                              .ndim = c->ndim,
                              .how = (uint32_t)c->how,
                              .dims = c->dims,
                              .offsets = c->offsets != NULL,
                              .shapes = c->shapes != NULL,
                              .bytes = c->bytes};
    memcpy(w->shape, c->shape, sizeof w->shape);
    memcpy(w->dim, c->dim, sizeof w->dim);
    if (!region_offset(l->region, c->data, c->bytes, &w->data))
        return fail(err, APL_E_IO, "a batch is not in the memory that is lent");
    return APL_OK;
}

static apl_status tell_columns(const struct lending *l, struct wire_batch *m, const apl_batch *b,
                               apl_error *err)
{
    m->columns = 0;
    for (unsigned i = 0; i < b->fields; i++)
        if (b->columns[i].data)
            TRY(tell_column(l, m, &b->columns[i], i, 0, err));
    for (unsigned i = 0; i < b->part_count; i++)
        if (b->parts[i].column.data)
            TRY(tell_column(l, m, &b->parts[i].column, b->parts[i].field, b->parts[i].part + 1, err));
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- lending */

static struct loan *add_loan(struct lending *l)
{
    if (l->count == l->room) {
        size_t room = 2 * l->room + 16;
        struct loan *more = realloc(l->loans, room * sizeof *more);
        if (!more)
            return NULL;
        l->loans = more;
        l->room = room;
    }
    l->loans[l->count] = (struct loan){.token = ++l->last};
    return &l->loans[l->count++];
}

/* The batch is the caller's. */
static struct batch_buffer *end_loan(struct lending *l, size_t i)
{
    struct loan loan = l->loans[i];
    l->loans[i] = l->loans[--l->count];
    region_deallocate(l->region, loan.arrays, loan.bytes);
    return loan.batch;
}

static void release_loan(struct lending *l, size_t i)
{
    apl_batch_release(&end_loan(l, i)->batch);
}

/* The number of the loan of that token; l->count: none. */
static size_t find_loan(const struct lending *l, uint64_t token)
{
    size_t i = 0;
    while (i < l->count && l->loans[i].token != token)
        i++;
    return i;
}

static void tell_batch(struct wire_batch *m, const struct batch_buffer *b, const struct loan *loan,
                       uint64_t end)
{
    m->token = loan->token;
    m->epoch = b->batch.epoch;
    m->position = b->batch.position;
    m->end = end;
    m->rows = b->batch.rows;
    m->skipped = b->batch.skipped_count;
    m->pieces = b->batch.piece_count;
    m->finished = b->finished;
    m->array_bytes = loan->bytes;
    m->delivered = b->tally.delivered;
    m->left_out = b->tally.skipped;
    m->sum[0] = b->tally.sum[0];
    m->sum[1] = b->tally.sum[1];
    m->copies = b->batch.copies != NULL;
    m->has_pieces = b->batch.pieces != NULL;
}

apl_status lending_lend(struct lending *l, struct batch_buffer *b, uint64_t begin, uint64_t end,
                        struct wire_batch *m, apl_error *err)
{
    struct loan *loan = add_loan(l);
    if (!loan)
        return fail_nomem(err);
    loan->batch = b;
    loan->begin = begin;
    loan->end = end;
    loan->bytes = all_arrays(b);
    loan->arrays = region_allocate(l->region, loan->bytes);
    apl_status status = loan->arrays ? tell_columns(l, m, &b->batch, err) : fail_nomem(err);
    if (status != APL_OK) {
        (void)end_loan(l, l->count - 1);
        l->last--;
        return status;
    }
    (void)region_offset(l->region, loan->arrays, loan->bytes, &m->arrays);
    put_arrays(b, loan->arrays);
    tell_batch(m, b, loan, end);
    m->h = wire_header(WIRE_BATCH, wire_batch_size(m->columns));
    return APL_OK;
}

bool lending_return(struct lending *l, uint64_t token)
{
    size_t i = find_loan(l, token);
    if (i == l->count)
        return false;
    release_loan(l, i);
    return true;
}

struct batch_buffer *lending_recall(struct lending *l, uint64_t token, uint64_t *begin, uint64_t *end)
{
    size_t i = find_loan(l, token);
    if (i == l->count)
        return NULL;
    *begin = l->loans[i].begin;
    *end = l->loans[i].end;
    return end_loan(l, i);
}

void lending_close(struct lending *l)
{
    while (l->count > 0)
        release_loan(l, l->count - 1);
    free(l->loans);
    l->loans = NULL;
    l->room = 0;
}
