/* Tables: the first byte says of which kind, and how many bytes the stream gives at a time. However many these are, the same comes out. */
#include "field_name.h"
#include "fuzz.h"
#include "rows.h"
#include "trickle.h"
#include "utf8.h"

static apl_error err;

static void check_error(apl_status status)
{
    MUST(err.status == status && *err.message && !strchr(err.message, '\n'));
}

static void take_numbers(const struct cell *cell, struct buffer *out)
{
    uint64_t numbers = cell->count * (cell->inner ? cell->inner : 1);
    MUST(numbers <= ROWS_VALUES);
    if (numbers)
        buffer_put(out, cell->reals, numbers * sizeof *cell->reals);
    for (uint64_t i = 0; cell->all_whole && i < numbers; i++)
        MUST(cell->reals[i] == (double)cell->wholes[i]);
}

/* What is in the cell goes to `out`. */
static apl_status take_cell(struct rows *rows, unsigned column, struct buffer *out)
{
    struct cell cell;
    apl_status status = rows_cell(rows, column, &cell, &err);
    if (status != APL_OK)
        return status;
    MUST(cell.kind < CELL_KINDS && strlen(cell.text) == cell.length);
    MUST(utf8_valid(cell.text, cell.length));
    buffer_put(out, &cell.kind, sizeof cell.kind);
    buffer_put(out, cell.text, cell.length + 1);
    if (cell.kind == CELL_LIST)
        take_numbers(&cell, out);
    return APL_OK;
}

static apl_status take_row(struct rows *rows, uint64_t number, struct buffer *out)
{
    apl_status status = APL_OK;
    const struct row_fault *fault = rows_fault(rows);
    MUST(rows_number(rows) == number && rows_columns(rows) <= ROWS_COLUMNS);
    if (fault) { /* it has no cells, and the next row may be good */
        MUST(rows_refuse(rows, &err) == APL_E_SOURCE && fault->why.status == APL_E_SOURCE);
        buffer_put(out, err.message, strlen(err.message));
        return APL_OK;
    }
    for (unsigned i = 0; i < rows_columns(rows) && status == APL_OK; i++) {
        const char *name = rows_name(rows, i);
        MUST(is_name(name, strlen(name)) && rows_find(rows, name) == (int)i);
        status = take_cell(rows, i, out);
    }
    return status;
}

static void read_table(enum rows_kind kind, const uint8_t *data, size_t size, size_t step, struct buffer *out)
{
    struct trickle t;
    struct cursor c = trickle_over(&t, data, size, step);
    struct format_stream stream = {&c};
    struct rows *rows;
    uint64_t number = kind != ROWS_JSON;
    apl_status status = rows_open(&stream, kind, "table", &rows, &err);
    MUST((status == APL_OK) == (rows != NULL));
    while (status == APL_OK && (status = rows_next(rows, &err)) == APL_OK)
        status = take_row(rows, ++number, out);
    if (status != APL_END) {
        check_error(status);
        buffer_put(out, err.message, strlen(err.message));
    }
    rows_close(rows);
    free(t.block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer whole = {0}, parts = {0};
    if (size == 0)
        return 0;
    const enum rows_kind kind = (enum rows_kind)(data[0] % 3);
    read_table(kind, data + 1, size - 1, 0, &whole);
    read_table(kind, data + 1, size - 1, 1 + data[0] / 3, &parts);
    if (kind == ROWS_JSON) /* of CSV, rows before a bad one are given only if they came in an earlier piece */
        MUST(whole.size == parts.size);
    size_t least = whole.size < parts.size ? whole.size : parts.size;
    MUST(kind != ROWS_JSON || least == 0 || memcmp(whole.data, parts.data, least) == 0);
    buffer_free(&whole);
    buffer_free(&parts);
    return 0;
}
