/* Rows of CSV and TSV, by libcsv: see csv_rows.h. What it gives is queued, as it cannot be stopped at a row's end. */
#include "csv_rows.h"

#ifdef HAVE_CSV

#include <csv.h>

struct csv_rows {
    struct csv_parser parser;
    struct buffer text;   /* of the cells, each closed by NUL */
    struct buffer begins; /* of each cell: size_t, where in `text` */
    struct buffer ends;   /* of each whole row: size_t, the cells up to its end */
    size_t row;           /* the next in `ends` */
    const char *beyond;   /* which limit the row after the whole ones exceeds: no more is taken */
    bool tabs, begun;
    uint64_t passed;  /* rows that have been forgotten */
    bool by_return;   /* the row that ended last did so by a carriage return, */
    bool open_return; /* which was the last byte of what was fed */
    struct csv_odd odd;
};

#define CELL_BYTES ((size_t)64 << 20)  /* in a cell */
#define ROW_BYTES  ((size_t)256 << 20) /* in a row, and in what is queued */
#define ROW_CELLS  4096u

static size_t number_at(const struct buffer *b, size_t i)
{
    size_t n;
    memcpy(&n, b->data + i * sizeof n, sizeof n);
    return n;
}

static size_t numbers_in(const struct buffer *b)
{
    return b->size / sizeof(size_t);
}

static void *limited_realloc(void *data, size_t size)
{
    return size > CELL_BYTES ? NULL : realloc(data, size);
}

/* Blanks belong to cells. */
static int is_no_space(unsigned char c)
{
    (void)c;
    return 0;
}

bool csv_rows_known(void)
{
    return true;
}

struct csv_rows *csv_rows_new(bool tabs)
{
    struct csv_rows *r = calloc(1, sizeof *r);
    if (!r || csv_init(&r->parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        free(r);
        return NULL;
    }
    csv_set_realloc_func(&r->parser, limited_realloc);
    csv_set_space_func(&r->parser, is_no_space);
    r->tabs = tabs;
    if (tabs) {
        csv_set_delim(&r->parser, CSV_TAB);
        csv_set_quote(&r->parser, 0); /* which is in no table: see csv_rows_feed() */
    }
    return r;
}

void csv_rows_free(struct csv_rows *r)
{
    if (!r)
        return;
    csv_free(&r->parser);
    buffer_free(&r->text);
    buffer_free(&r->begins);
    buffer_free(&r->ends);
    free(r);
}

/* Cells of the row that has not ended. */
static size_t open_cells(const struct csv_rows *r)
{
    size_t rows = numbers_in(&r->ends);
    return numbers_in(&r->begins) - (rows ? number_at(&r->ends, rows - 1) : 0);
}

static void take_cell(void *data, size_t size, void *user)
{
    struct csv_rows *r = user;
    size_t at = r->text.size;
    if (!r->beyond && open_cells(r) == ROW_CELLS)
        r->beyond = "has more than 4096 cells";
    else if (!r->beyond && size > ROW_BYTES - at)
        r->beyond = "has more than 256 MiB";
    if (r->beyond)
        return;
    buffer_put(&r->begins, &at, sizeof at);
    if (size > 0)
        buffer_put(&r->text, data, size);
    buffer_put(&r->text, "", 1);
}

static void take_csv_row(int end, void *user)
{
    struct csv_rows *r = user;
    size_t cells = numbers_in(&r->begins);
    r->by_return = end == '\r';
    if (r->beyond)
        return;
    buffer_put(&r->ends, &cells, sizeof cells);
}

/* Keeps of the queue only the cells of the row that has not ended yet. */
static void forget_rows(struct csv_rows *r)
{
    size_t cells = numbers_in(&r->begins), rows = numbers_in(&r->ends);
    size_t first = rows ? number_at(&r->ends, rows - 1) : 0;
    size_t from = first < cells ? number_at(&r->begins, first) : r->text.size;
    if (from > 0)
        memmove(r->text.data, r->text.data + from, r->text.size - from);
    r->text.size -= from;
    for (size_t i = first; i < cells; i++) {
        size_t at = number_at(&r->begins, i) - from;
        memcpy(r->begins.data + (i - first) * sizeof at, &at, sizeof at);
    }
    r->begins.size = (cells - first) * sizeof(size_t);
    r->passed += rows;
    r->ends.size = 0;
    r->row = 0;
}

/* ------------------------------------------------------------------------------------------------- what is odd */

static int is_blank_byte(unsigned char c)
{
    return c == ' ';
}

/* Does the first line, which names the columns, separate them by commas with blanks behind them? */
static bool has_blanks_behind_commas(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    bool quoted = false, any = false;
    for (const uint8_t *at = data; end && at < end; at++) {
        quoted ^= *at == '"';
        if (quoted || *at != ',')
            continue;
        any = true;
        if (at[1] != ' ')
            return false;
    }
    return any;
}

/* A row has ended with a carriage return alone, if what follows belongs to another row. */
static void see_return(struct csv_rows *r, uint8_t next)
{
    if (r->open_return && next != '\n' && next != '\r' && r->odd.returns++ == 0)
        r->odd.first_return = r->passed + numbers_in(&r->ends);
    r->open_return = false;
}

/* Parses up to each carriage return, and looks whether that has ended a row: in quotes it does not. */
static bool parse_csv(struct csv_rows *r, const uint8_t *data, size_t size)
{
    r->odd.lines = r->odd.lines || memchr(data, '\n', size);
    while (size > 0) {
        const uint8_t *at = memchr(data, '\r', size);
        size_t n = at ? (size_t)(at - data) + 1 : size;
        see_return(r, *data);
        r->by_return = false;
        if (csv_parse(&r->parser, data, n, take_cell, take_csv_row, r) != n)
            return false;
        r->open_return = at && r->by_return;
        data += n;
        size -= n;
    }
    return true;
}

const struct csv_odd *csv_rows_odd(const struct csv_rows *r)
{
    return &r->odd;
}

apl_status csv_rows_feed(struct csv_rows *r, const uint8_t *data, size_t size, const char **bad,
                         apl_error *err)
{
    const uint8_t *nul = data ? memchr(data, 0, size) : NULL;
    size = nul ? (size_t)(nul - data) : size;
    forget_rows(r);
    *bad = NULL;
    if (data && !r->begun && !r->tabs && has_blanks_behind_commas(data, size)) {
        csv_set_space_func(&r->parser, is_blank_byte);
        r->odd.trimmed = true;
    }
    r->begun = true;
    bool done = data ? parse_csv(r, data, size) : csv_fini(&r->parser, take_cell, take_csv_row, r) == 0;
    if (r->text.failed || r->begins.failed || r->ends.failed)
        return fail_nomem(err);
    if (r->beyond)
        *bad = r->beyond;
    else if (!done)
        *bad = csv_error(&r->parser) == CSV_EPARSE
                   ? "has a quote that is not closed, or text beside quotes (RFC 4180)"
                   : "has a cell that is too large";
    else if (nul)
        *bad = "holds a NUL byte";
    return APL_OK;
}

size_t csv_rows_queued(const struct csv_rows *r)
{
    return numbers_in(&r->ends) - r->row;
}

bool csv_rows_next(struct csv_rows *r)
{
    if (r->row == numbers_in(&r->ends))
        return false;
    r->row++;
    return true;
}

size_t csv_rows_cells(const struct csv_rows *r)
{
    return number_at(&r->ends, r->row - 1) - (r->row > 1 ? number_at(&r->ends, r->row - 2) : 0);
}

const char *csv_rows_cell(const struct csv_rows *r, size_t i, size_t *length)
{
    size_t cell = (r->row > 1 ? number_at(&r->ends, r->row - 2) : 0) + i;
    size_t begin = number_at(&r->begins, cell);
    size_t end = cell + 1 < numbers_in(&r->begins) ? number_at(&r->begins, cell + 1) : r->text.size;
    *length = end - 1 - begin;
    return (const char *)r->text.data + begin;
}

#else

bool csv_rows_known(void)
{
    return false;
}

struct csv_rows *csv_rows_new(bool tabs)
{
    (void)tabs;
    return NULL;
}

void csv_rows_free(struct csv_rows *rows)
{
    (void)rows;
}

apl_status csv_rows_feed(struct csv_rows *rows, const uint8_t *data, size_t size, const char **bad,
                         apl_error *err)
{
    (void)rows, (void)data, (void)size;
    *bad = NULL;
    return fail_nomem(err);
}

bool csv_rows_next(struct csv_rows *rows)
{
    (void)rows;
    return false;
}

size_t csv_rows_queued(const struct csv_rows *rows)
{
    (void)rows;
    return 0;
}

const struct csv_odd *csv_rows_odd(const struct csv_rows *rows)
{
    static const struct csv_odd nothing;
    (void)rows;
    return &nothing;
}

size_t csv_rows_cells(const struct csv_rows *rows)
{
    (void)rows;
    return 0;
}

const char *csv_rows_cell(const struct csv_rows *rows, size_t i, size_t *length)
{
    (void)rows, (void)i;
    *length = 0;
    return "";
}

#endif
