/*
 * Tables in text, row by row: CSV (RFC 4180), TSV, and lines of JSON. Rows are counted from 1, the header of CSV and TSV included and
 * blank lines not.
 */
#ifndef ROWS_H
#define ROWS_H

#include "csv_rows.h"
#include "format.h"

#define ROWS_COLUMNS 60u                /* at most: a store has four fields more to itself */
#define ROWS_CELL    ((size_t)64 << 20) /* bytes in a cell, or in a line of JSON */
/* Values in a line or a list of JSON, each of which takes memory while it is read. */
#define ROWS_VALUES (1u << 20)

enum rows_kind { ROWS_CSV, ROWS_TSV, ROWS_JSON };

enum cell_kind {
    CELL_NONE, /* empty, or null, or not there */
    CELL_TEXT,
    CELL_BOOL,
    CELL_WHOLE, /* fits i64 */
    CELL_REAL,
    CELL_LIST, /* of numbers, or of lists of equally many */
    CELL_KINDS
};

/* What a cell holds, valid until the next row. */
struct cell {
    enum cell_kind kind;
    const char *text; /* as written, valid UTF-8, closed by NUL; of JSON, what is no text without blanks */
    size_t length;
    int64_t whole; /* of a bool, 0 or 1 */
    double real;   /* of whole numbers too */
    bool exact;    /* of a whole number, or a list of some: f64 has them */
    /* Of a list: the numbers, each as both; whole numbers only where all are. */
    const double *reals;
    const int64_t *wholes;
    uint64_t count; /* of the outer list */
    uint32_t inner; /* of each inner one; 0: none */
    bool all_whole;
    bool nested; /* of text: it is a list of other things than numbers; or, in JSON, an object */
};

struct rows;

/* `path`: for messages, safe to print. The stream must live as long. *rows: NULL if it fails. */
apl_status rows_open(struct format_stream *stream, enum rows_kind kind, const char *path, struct rows **rows,
                     apl_error *err);
void rows_close(struct rows *rows);

/* Goes to the next row; APL_END after the last. Errors name the row: after these there is no telling where the next one begins. */
apl_status rows_next(struct rows *rows, apl_error *err);

/* What is wrong with the current row, which then has no cells to ask for, though the next one may be good; NULL: nothing. */
struct row_fault {
    const char *column; /* NULL: the whole row */
    apl_error why;
};
const struct row_fault *rows_fault(const struct rows *rows);

/* Fails with that, and the names of file and row. */
apl_status rows_refuse(const struct rows *rows, apl_error *err);

/* The number of the current row. */
uint64_t rows_number(const struct rows *rows);

/* The columns known so far, and their names: of CSV and TSV all of them, by the header; of JSON those of the rows that were read. */
unsigned rows_columns(const struct rows *rows);
const char *rows_name(const struct rows *rows, unsigned column);

/* What is odd about a table of CSV or TSV, as far as it has been read; NULL: JSON. */
const struct csv_odd *rows_odd(const struct rows *rows);

/* Is the first column one without a name, which is called index? */
bool rows_indexed(const struct rows *rows);

/* The number of a column, or -1. */
int rows_find(const struct rows *rows, const char *name);

/* A cell of the current row. Columns that are not known are empty. */
apl_status rows_cell(struct rows *rows, unsigned column, struct cell *cell, apl_error *err);

#endif
