/* Rows of an array, one after another: see array_rows.h. */
#include "array_rows.h"

#include <inttypes.h>

#define GATHER_BYTES ((size_t)8 << 20) /* of rows got at once */
#define TAKE_BYTES   ((size_t)1 << 20) /* of a row taken at once */

static void swap_elements(uint8_t *at, size_t bytes, size_t item)
{
    for (uint8_t *end = at + bytes; at < end; at += item)
        for (size_t i = 0; i < item / 2; i++) {
            uint8_t b = at[i];
            at[i] = at[item - 1 - i];
            at[item - 1 - i] = b;
        }
}

static apl_status row_cut_off(const struct array_rows *c, uint64_t row, apl_error *err)
{
    apl_status status = c->host->cut_off(c->host->user, c->stream, err);
    return status != APL_E_INCOMPLETE
               ? status
               : fail(err, status, "%s: ends early, in row %" PRIu64 " of %" PRIu64 ": it is truncated",
                      c->array->path, row, c->array->rows);
}

/* Some rows at once. */
static apl_status get_rows_at(struct array_rows *c, uint64_t row, apl_error *err)
{
    uint64_t n = GATHER_BYTES / c->stride + 1, left = c->array->rows - row;
    n = n < left ? n : left;
    c->row.size = 0;
    if (!buffer_reserve(&c->row, (size_t)n * c->stride))
        return fail_nomem(err);
    TRY(c->array->rows_at(c->array->user, c->array, row, n, c->row.data, err));
    c->first = row;
    c->gathered = n;
    return APL_OK;
}

/* A row of more bytes than can be taken at once. */
static apl_status copy_row(struct array_rows *c, uint64_t row, apl_error *err)
{
    c->row.size = 0;
    if (!buffer_reserve(&c->row, c->stride))
        return fail_nomem(err);
    while (c->row.size < c->stride) {
        size_t n = c->stride - c->row.size < TAKE_BYTES ? c->stride - c->row.size : TAKE_BYTES;
        const uint8_t *data = cursor_take(c->stream->cursor, n);
        if (!data)
            return row_cut_off(c, row, err);
        buffer_put(&c->row, data, n);
    }
    c->whole = c->row.data;
    return APL_OK;
}

apl_status array_rows_pass(struct array_rows *c, apl_error *err)
{
    uint64_t left = c->stream && !c->apart && c->from < c->to ? c->from * c->stride : 0;
    for (uint64_t n; left > 0; left -= n) {
        n = left < TAKE_BYTES ? left : TAKE_BYTES;
        if (!cursor_take(c->stream->cursor, (size_t)n))
            return row_cut_off(c, c->from - (left + c->stride - 1) / c->stride, err);
    }
    return APL_OK;
}

/* The row's bytes as they lie there, with all the fields of a structured type. */
static apl_status next_whole(struct array_rows *c, uint64_t row, apl_error *err)
{
    if (c->array->rows_at) {
        if (c->gathered == 0 || row >= c->first + c->gathered)
            TRY(get_rows_at(c, row, err));
        c->whole = c->row.data + (row - c->first) * c->stride;
        return APL_OK;
    }
    if (c->stride > TAKE_BYTES)
        return copy_row(c, row, err);
    c->whole = cursor_take(c->stream->cursor, c->stride);
    return c->whole ? APL_OK : row_cut_off(c, row, err);
}

/* Both are what a store's readers may rely on. */
static apl_status check_bools(const struct array_rows *c, uint64_t row, apl_error *err)
{
    for (size_t i = 0; c->array->dtype == APL_BOOL && i < c->row_bytes; i++)
        if (c->at[i] > 1)
            return fail(err, APL_E_SOURCE, "%s: row %" PRIu64 ": a bool is %u, neither 0 nor 1",
                        c->array->path, row, c->at[i]);
    return APL_OK;
}

apl_status array_rows_next(struct array_rows *c, uint64_t row, apl_error *err)
{
    size_t item = apl_dtype_size(c->array->dtype);
    if (c->leader == c)
        TRY(next_whole(c, row, err));
    c->at = c->leader->whole + c->array->offset;
    if (c->array->swap && item > 1) {
        c->swapped.size = 0;
        buffer_put(&c->swapped, c->at, c->row_bytes);
        if (c->swapped.failed)
            return fail_nomem(err);
        swap_elements(c->swapped.data, c->row_bytes, item);
        c->at = c->swapped.data;
    }
    return check_bools(c, row, err);
}
