/* Rows of an array, one after another. */
#ifndef ARRAY_ROWS_H
#define ARRAY_ROWS_H

#include "arrays.h"

/* An array being read. */
struct array_rows {
    const struct format_host *host;
    const struct array *array;
    size_t row_bytes;
    size_t stride;             /* bytes from row to row */
    struct array_rows *leader; /* of a structured type: the column that reads the rows; or this one */
    const uint8_t *whole;      /* of a leader: the row with all its fields */
    bool as_class;             /* labels become `label`, of the type that the classes have */
    uint32_t label;
    struct format_stream *stream;
    uint64_t from, to;        /* the rows that are the ingest's own */
    bool apart;               /* the stream has these alone */
    struct buffer row;        /* where rows are put together, */
    struct buffer swapped;    /* and turned round */
    uint64_t gathered, first; /* rows in `row`, and the first of them */
    const uint8_t *at;        /* the current row */
};

/* Passes over the rows before the ingest's own, where the stream has them. */
apl_status array_rows_pass(struct array_rows *c, apl_error *err);

/* c->at: the bytes of that row, which is the next; they live until the one after it. */
apl_status array_rows_next(struct array_rows *c, uint64_t row, apl_error *err);

#endif
