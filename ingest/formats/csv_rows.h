/* Rows of CSV and TSV, cut into cells. */
#ifndef CSV_ROWS_H
#define CSV_ROWS_H

#include "bytes.h"
#include "status.h"

struct csv_rows;

/* What is odd about a table, as far as it has been read. */
struct csv_odd {
    uint64_t returns; /* rows that end with a carriage return alone, though others end with a line feed; */
    uint64_t first_return; /* the first of them, counted from 1 */
    bool lines;            /* there are others */
    bool trimmed;          /* blanks around cells are no part of them */
};

/* Does this build know CSV? Without libcsv there are no rows. */
bool csv_rows_known(void);

/* tabs: TSV, in which quotes are characters like others; else CSV as RFC 4180 has it. A cell has at most 64 MiB, a row 256 MiB
 * and 4,096 cells. NULL: out of memory. */
struct csv_rows *csv_rows_new(bool tabs);
void csv_rows_free(struct csv_rows *rows);

/* Parses more of the table; with data NULL, its end. Where each comma of the first line has a blank behind it, blanks around cells without quotes
 * are left out. *bad: what is wrong with the row after those that came out whole; NULL: nothing. */
apl_status csv_rows_feed(struct csv_rows *rows, const uint8_t *data, size_t size, const char **bad,
                         apl_error *err);

/* Goes to the next complete row, skipping blank lines; false: the end. */
bool csv_rows_next(struct csv_rows *rows);

/* How many rows are whole and have not been gone to. */
size_t csv_rows_queued(const struct csv_rows *rows);

const struct csv_odd *csv_rows_odd(const struct csv_rows *rows);

/* The current row; its cells are closed by NUL. All is valid until the next feed. */
size_t csv_rows_cells(const struct csv_rows *rows);
const char *csv_rows_cell(const struct csv_rows *rows, size_t i, size_t *length);

#endif
