/* Arrays of equal length that lie side by side, as records: row i of each is a field of record i. Arrays are grouped into splits, and
 * all splits have the same fields. In memory is a row of each. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "format.h"

#define ARRAYS_MAX APL_MAX_FIELDS

/* An array of a file. */
struct array {
    char field[APL_MAX_NAME + 1];
    const char *split;
    uint32_t split_rank;
    size_t order;  /* fields come in this order; of the same, in that in which they are added */
    apl_role role; /* 0: its name tells */
    apl_kind_id
        kind; /* that its source tells; of what is called as labels are, and is one number a record, that it is a label is guessed */
    apl_form form;
    const char *path; /* for messages, safe to print */
    apl_dtype dtype;
    bool swap;     /* its elements are big-endian */
    unsigned ndim; /* of a row */
    int64_t shape[APL_MAX_DIMS];
    uint64_t rows;
    /* A field of a structured type: rows have `stride` bytes, of which this field's begin at `offset`. All fields of one file share
     * what the first of them opens. 0: rows are the field's bytes alone. */
    uint64_t stride, offset;
    const void *shares; /* the same of all these; NULL: none */
    /* Gives what its rows are read from, one after another; it is closed by the caller. */
    apl_status (*open)(void *user, const struct array *array, struct format_stream **stream, apl_error *err);
    /* The same, of a file that is not packed, with `count` rows from `row` on alone; NULL: the rows before must be read. */
    apl_status (*open_rows)(void *user, const struct array *array, uint64_t row, uint64_t count,
                            struct format_stream **stream, apl_error *err);
    /* Where it is not NULL, rows are got by it instead: bytes of `count` rows from `row` on, into `out`. */
    apl_status (*rows_at)(void *user, const struct array *array, uint64_t row, uint64_t count, uint8_t *out,
                          apl_error *err);
    void *user;
};

struct arrays;

struct arrays *arrays_new(const struct format_host *host); /* NULL: out of memory */
void arrays_free(struct arrays *arrays);

/* Adds an array, which is copied but for its strings. Refuses a second of the same field and split. */
apl_status arrays_add(struct arrays *arrays, const struct array *array, apl_error *err);

/* Reads all of them into the host's writer. Each file must end with its array. */
apl_status arrays_read(struct arrays *arrays, apl_error *err);

/* Where the record that is being appended is: the row of the first array; returns `out`. */
const char *arrays_where(const struct arrays *arrays, char *out, size_t size);

/* For open_rows(): rows of an array that begins at that byte of a file, unless the file ends before. */
apl_status array_open_part(const struct format_host *host, size_t file, uint64_t begin,
                           const struct array *array, uint64_t row, uint64_t count,
                           struct format_stream **stream, apl_error *err);

/* Is that what fields with labels are called? */
bool is_label_name(const char *field);

#endif
