/* From what a server says of a batch to the batch: see receive.h. */
#include "receive.h"

#include "region.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------ holding and leaving */

static void hold_batch(struct link *l, struct received *b)
{
    pthread_mutex_lock(&l->lock);
    l->holders++;
    b->next = l->held;
    if (l->held)
        l->held->previous = b;
    l->held = b;
    pthread_mutex_unlock(&l->lock);
}

/* With the lock held. */
static void forget_batch(struct link *l, const struct received *b)
{
    if (b->previous)
        b->previous->next = b->next;
    else
        l->held = b->next;
    if (b->next)
        b->next->previous = b->previous;
}

static bool own_columns(const struct received *b, bool writable)
{
    const apl_batch *batch = &b->buffer.batch;
    bool own = true;
    for (unsigned f = 0; own && f < batch->fields; f++)
        own = region_own(batch->columns[f].data, batch->columns[f].bytes, writable);
    for (unsigned i = 0; own && i < batch->part_count; i++)
        own = region_own(batch->parts[i].column.data, batch->parts[i].column.bytes, writable);
    return own;
}

/* In a child of fork(), batches are the parent's, and the connection goes on. */
void link_leave(struct link *l)
{
    bool own = true;
    pthread_mutex_lock(&l->lock);
    for (const struct received *b = l->pid == (int)getpid() ? l->held : NULL; own && b; b = b->next)
        own = own_columns(b, l->writable);
    if (own) {
        close(l->fd);
        l->fd = -1;
    }
    pthread_mutex_unlock(&l->lock);
}

/* -------------------------------------------------------------------------------------------------- releasing */

/* Before the server writes there again. */
static void forget_written(const struct received *b)
{
    const apl_batch *batch = &b->buffer.batch;
    for (unsigned f = 0; f < batch->fields; f++)
        region_forget(batch->columns[f].data, batch->columns[f].bytes);
    for (unsigned i = 0; i < batch->part_count; i++)
        region_forget(batch->parts[i].column.data, batch->parts[i].column.bytes);
}

static void free_batch(struct received *b)
{
    free(b->buffer.batch.parts);
    free(b->arrays);
    free(b);
}

/* In a child of fork(), the connection is the parent's. */
static void release_received(apl_batch *batch)
{
    struct received *b = (struct received *)batch;
    struct link *l = b->link;
    if (l->pid != (int)getpid())
        return;
    if (l->writable)
        forget_written(b);
    pthread_mutex_lock(&l->lock);
    l->lent -= b->token <= l->taken; /* one that was never handed out does not count */
    link_give_back(l, b->token);
    forget_batch(l, b);
    pthread_mutex_unlock(&l->lock);
    free_batch(b);
    link_drop(l);
}

/* --------------------------------------------------------------------------------------------------- checking */

static apl_status impossible(apl_error *err, const char *what)
{
    return fail(err, APL_E_INVALID, "the server broke the protocol: %s", what);
}

static bool is_within(uint64_t all, uint64_t at, uint64_t bytes)
{
    return at <= all && bytes <= all - at;
}

/* The rest of the arrays. */
struct arrays {
    uint8_t *at;
    uint64_t left;
};

/* n elements of that size; NULL: there are fewer. */
static void *take_items(struct arrays *a, uint64_t n, size_t size)
{
    uint8_t *at = a->at;
    if (n > a->left / size)
        return NULL;
    a->at += n * size;
    a->left -= n * size;
    return at;
}

static bool shape_holds(const struct wire_column *w, size_t element)
{
    uint64_t elements = 1;
    for (uint32_t d = 0; d < w->dims; d++) {
        if (w->dim[d] < 0 || (w->dim[d] && elements > UINT64_MAX / (uint64_t)w->dim[d]))
            return false;
        elements *= (uint64_t)w->dim[d];
    }
    return elements <= w->bytes / element;
}

/* The values of rows that all have one shape. */
static bool rows_hold(const struct wire_column *w, size_t element, uint64_t rows)
{
    uint64_t left = w->bytes / element;
    for (uint32_t d = 0; d < w->ndim; d++) {
        if (w->shape[d] <= 0)
            return w->shape[d] == 0;
        left /= (uint64_t)w->shape[d];
    }
    return rows <= left;
}

static apl_status check_column(const struct link *l, const struct wire_column *w, uint64_t rows,
                               apl_error *err)
{
    size_t element = w->dtype <= APL_UTF8 ? apl_dtype_size((apl_dtype)w->dtype) : 0;
    if (w->field >= APL_MAX_FIELDS || element == 0 || w->ndim > APL_MAX_DIMS || w->dims > APL_MAX_DIMS + 1 ||
        w->offsets > 1 || w->shapes != w->offsets || w->how > APL_COLLATE_WINDOWS)
        return impossible(err, "a column that cannot be");
    if (!is_within(l->bytes, w->data, w->bytes) || w->data % 64)
        return impossible(err, "a column that is not in the memory");
    bool fixed = !w->offsets && w->part == 0 && w->how == APL_COLLATE_NONE;
    return shape_holds(w, element) && (!fixed || rows_hold(w, element, rows))
               ? APL_OK
               : impossible(err, "a column that is smaller than its shape");
}

/* Offsets that go up, within the column. */
static bool offsets_hold(const uint64_t *offsets, uint64_t rows, uint64_t most)
{
    for (uint64_t i = 0; i < rows; i++)
        if (offsets[i] > offsets[i + 1])
            return false;
    return offsets[0] == 0 && offsets[rows] <= most;
}

/* Each row has as many elements as its shape says. */
static bool shapes_hold(const int64_t *shapes, const uint64_t *offsets, uint64_t rows, uint32_t ndim)
{
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t elements = 1, all = offsets[i + 1] - offsets[i];
        for (uint32_t d = 0; d < ndim; d++) {
            int64_t n = shapes[i * ndim + d];
            if (n < 0 || (n > 0 && elements > UINT64_MAX / (uint64_t)n))
                return false;
            elements *= (uint64_t)n;
        }
        if (elements != all)
            return false;
    }
    return true;
}

/* The offsets and shapes of a column's rows, which have been copied. */
static apl_status take_shapes(const struct wire_column *w, uint64_t rows, struct arrays *a, apl_column *c,
                              apl_error *err)
{
    c->offsets = take_items(a, rows + 1, sizeof *c->offsets);
    c->shapes = c->offsets ? take_items(a, rows * w->ndim, sizeof *c->shapes) : NULL;
    if (!c->shapes)
        return impossible(err, "offsets and shapes that are not there");
    if (!offsets_hold(c->offsets, rows, w->bytes / apl_dtype_size(c->dtype)))
        return impossible(err, "offsets that lead out of the column");
    return shapes_hold(c->shapes, c->offsets, rows, w->ndim)
               ? APL_OK
               : impossible(err, "shapes that are not those of the offsets");
}

static apl_status take_wire_column(const struct link *l, const struct wire_column *w, uint64_t rows,
                                   struct arrays *a, apl_column *c, apl_error *err)
{
    TRY(check_column(l, w, rows, err));
    *c = (apl_column){.data = l->base + w->data,
                      .bytes = (size_t)w->bytes,
                      .dtype = (apl_dtype)w->dtype,
                      .ndim = w->ndim,
                      .how = (apl_collate)w->how,
                      .dims = w->dims};
    memcpy(c->shape, w->shape, sizeof c->shape);
    memcpy(c->dim, w->dim, sizeof c->dim);
    return w->offsets ? take_shapes(w, rows, a, c, err) : APL_OK;
}

/* --------------------------------------------------------------------------------------------------- building */

static apl_status take_columns(struct received *b, const struct wire_batch *m, struct arrays *a,
                               apl_error *err)
{
    apl_batch *batch = &b->buffer.batch;
    batch->fields = APL_MAX_FIELDS;
    batch->parts = calloc((size_t)m->columns + 1, sizeof *batch->parts);
    if (!batch->parts)
        return fail_nomem(err);
    for (uint64_t i = 0; i < m->columns; i++) {
        const struct wire_column *w = &m->column[i];
        if (w->part > 64)
            return impossible(err, "a part that cannot be");
        struct batch_part *part = &batch->parts[batch->part_count];
        apl_column *c = w->part ? &part->column : &batch->columns[w->field < APL_MAX_FIELDS ? w->field : 0];
        TRY(take_wire_column(b->link, w, m->rows, a, c, err));
        if (!w->part)
            continue;
        part->field = w->field;
        part->part = (apl_part)(w->part - 1);
        batch->part_count++;
    }
    return APL_OK;
}

static apl_status check_batch(const struct link *l, const struct wire_welcome *w, const struct wire_batch *m,
                              apl_error *err)
{
    if (m->rows > w->batch_size || m->skipped > w->most || m->finished > w->most || m->end > w->length ||
        m->position > w->length || m->delivered > w->most || m->left_out > w->most)
        return impossible(err, "a batch of more than there is");
    if (!is_within(l->bytes, m->arrays, m->array_bytes) || m->arrays % 64)
        return impossible(err, "arrays that are not in the memory");
    return APL_OK;
}

static apl_status check_pieces(const apl_piece *pieces, uint64_t n, uint64_t rows, apl_error *err)
{
    for (uint64_t i = 0; i < n; i++)
        if (pieces[i].row >= rows)
            return impossible(err, "a piece of a row that is not there");
    return APL_OK;
}

/* The arrays of rows, of which the server can change the originals: they have been copied. */
static apl_status take_arrays(struct received *b, const struct wire_welcome *w, const struct wire_batch *m,
                              apl_error *err)
{
    struct arrays a = {b->arrays, m->array_bytes};
    apl_batch *batch = &b->buffer.batch;
    batch->ids = take_items(&a, m->rows, sizeof *batch->ids);
    batch->skipped = take_items(&a, m->skipped, sizeof *batch->skipped);
    batch->pieces = take_items(&a, m->pieces, sizeof *batch->pieces);
    if (!batch->ids || !batch->skipped || !batch->pieces)
        return impossible(err, "arrays that are too short");
    TRY(check_pieces(batch->pieces, m->pieces, m->rows, err));
    TRY(take_columns(b, m, &a, err));
    b->buffer.numbers = take_items(&a, m->finished, sizeof *b->buffer.numbers);
    batch->copies = take_items(&a, m->rows, sizeof *batch->copies);
    if (!b->buffer.numbers || !batch->copies)
        return impossible(err, "arrays that are too short");
    for (uint64_t i = 0; i < m->finished; i++)
        if (b->buffer.numbers[i] >= w->deliveries)
            return impossible(err, "a delivery that the epoch does not have");
    if (!m->has_pieces)
        batch->pieces = NULL;
    return APL_OK;
}

static void take_counts(struct received *b, const struct wire_batch *m)
{
    apl_batch *batch = &b->buffer.batch;
    batch->release = release_received;
    batch->epoch = m->epoch;
    batch->position = m->position;
    batch->rows = (size_t)m->rows;
    batch->skipped_count = (size_t)m->skipped;
    batch->piece_count = (size_t)m->pieces;
    b->buffer.finished = (uint32_t)m->finished;
    b->buffer.tally = (struct tally){m->delivered, m->left_out, {m->sum[0], m->sum[1]}};
    b->token = m->token;
    b->end = m->end;
}

apl_status receive_batch(struct link *l, const struct wire_welcome *welcome, const struct wire_batch *m,
                         struct received **batch, apl_error *err)
{
    TRY(check_batch(l, welcome, m, err));
    struct received *b = calloc(1, sizeof *b);
    if (!b || !(b->arrays = malloc((size_t)m->array_bytes + 8))) {
        free(b);
        return fail_nomem(err);
    }
    b->link = l;
    memcpy(b->arrays, l->base + m->arrays, (size_t)m->array_bytes);
    take_counts(b, m);
    apl_status status = take_arrays(b, welcome, m, err);
    if (status != APL_OK) {
        free_batch(b);
        return status;
    }
    hold_batch(l, b);
    *batch = b;
    return APL_OK;
}
