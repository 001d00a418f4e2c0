/* Two batches, compared byte by byte: all that the public header tells of them. */
#ifndef SAME_BATCH_H
#define SAME_BATCH_H

#include "apl.h"

#include <criterion/criterion.h>
#include <string.h>

static inline void check_same_bytes(const void *a, const void *b, size_t n, const char *what)
{
    cr_assert(n == 0 || memcmp(a, b, n) == 0, "%s differ", what);
}

static inline void check_same_column(const apl_column *a, const apl_column *b, size_t rows)
{
    cr_assert(!a == !b);
    if (!a)
        return;
    cr_assert(a->dtype == b->dtype && a->ndim == b->ndim && a->how == b->how && a->dims == b->dims);
    cr_assert_eq(a->bytes, b->bytes);
    cr_assert(!a->offsets == !b->offsets && !a->shapes == !b->shapes);
    check_same_bytes(a->shape, b->shape, a->ndim * sizeof *a->shape, "shapes");
    check_same_bytes(a->dim, b->dim, a->dims * sizeof *a->dim, "dimensions");
    check_same_bytes(a->data, b->data, a->bytes, "values");
    cr_assert((uintptr_t)b->data % 64 == 0);
    if (a->offsets)
        check_same_bytes(a->offsets, b->offsets, (rows + 1) * sizeof *a->offsets, "offsets");
    if (a->shapes)
        check_same_bytes(a->shapes, b->shapes, rows * a->ndim * sizeof *a->shapes, "rows' shapes");
}

static inline void check_same_batch(const apl_batch *a, const apl_batch *b)
{
    size_t rows = apl_batch_rows(a), skipped[2], pieces[2] = {0, 0};
    cr_assert_eq(rows, apl_batch_rows(b));
    cr_assert_eq(apl_batch_epoch(a), apl_batch_epoch(b));
    cr_assert_eq(apl_batch_position(a), apl_batch_position(b));
    check_same_bytes(apl_batch_ids(a), apl_batch_ids(b), rows * sizeof(uint64_t), "ids");
    check_same_bytes(apl_batch_copies(a), apl_batch_copies(b), rows * sizeof(uint32_t), "copies");
    const uint64_t *left_out[2] = {apl_batch_skipped(a, &skipped[0]), apl_batch_skipped(b, &skipped[1])};
    cr_assert_eq(skipped[0], skipped[1]);
    check_same_bytes(left_out[0], left_out[1], skipped[0] * sizeof(uint64_t), "rows left out");
    const apl_piece *of[2] = {apl_batch_pieces(a, &pieces[0]), apl_batch_pieces(b, &pieces[1])};
    cr_assert(!of[0] == !of[1] && pieces[0] == pieces[1]);
    check_same_bytes(of[0], of[1], pieces[0] * sizeof(apl_piece), "pieces");
    for (unsigned f = 0; f < APL_MAX_FIELDS; f++) {
        check_same_column(apl_batch_column(a, f), apl_batch_column(b, f), rows);
        for (unsigned part = 0; part < 8; part++)
            check_same_column(apl_batch_part(a, f, (apl_part)part), apl_batch_part(b, f, (apl_part)part),
                              rows);
    }
}

#endif
