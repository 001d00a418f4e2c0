/* Rows of CSV and TSV, and lines of JSON: see rows.h. */
#include "rows.h"

#include "cell.h"
#include "field_name.h"
#include "json_spelling.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>

#define PIECE 65536u /* bytes parsed at a time */

struct rows {
    struct format_stream *stream;
    const char *path;
    uint64_t number;
    bool faulty; /* the current row is a bad one: */
    struct row_fault fault;
    bool begun, ended; /* the stream has been looked at; it has no more */
    char *names[ROWS_COLUMNS];
    unsigned columns;
    bool indexed;
    struct cell_room room;
    struct csv_rows *csv; /* NULL: JSON, and so: */
    struct buffer line;
    json_t *object;
    bool whole_as_real;                         /* its whole numbers have been parsed as reals */
    struct json_spelling spelled[ROWS_COLUMNS]; /* of its values */
    struct buffer text;                         /* of one of them */
};

static apl_status in_row(const struct rows *r, const char *what, apl_error *err)
{
    return fail(err, APL_E_SOURCE, "%s: row %" PRIu64 " %s", r->path, r->number, what);
}

/* The row is bad in itself: the next begins where it ends. */
static void spoil(struct rows *r, const char *column, const char *what)
{
    r->faulty = true;
    r->fault.column = column;
    fail(&r->fault.why, APL_E_SOURCE, "%s", what);
}

void rows_close(struct rows *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < r->columns; i++)
        free(r->names[i]);
    cell_room_free(&r->room);
    csv_rows_free(r->csv);
    buffer_free(&r->line);
    json_decref(r->object);
    buffer_free(&r->text);
    free(r);
}

/* ------------------------------------------------------------------------------------------------- bytes */

/* What spreadsheets write at the beginning. */
static apl_status pass_mark(struct rows *r, const uint8_t **data, size_t *size, apl_error *err)
{
    const uint8_t *d = *data;
    if (r->begun)
        return APL_OK;
    r->begun = true;
    if (*size >= 2 && ((d[0] == 0xff && d[1] == 0xfe) || (d[0] == 0xfe && d[1] == 0xff)))
        return fail(err, APL_E_UNSUPPORTED, "%s: is UTF-16; UTF-8 is needed", r->path);
    if (*size >= 3 && memcmp(d, "\xef\xbb\xbf", 3) == 0) {
        *data += 3;
        *size -= 3;
    }
    return APL_OK;
}

/* The next bytes of the stream; *data NULL at its end. */
static apl_status next_piece(struct rows *r, const uint8_t **data, size_t *size, apl_error *err)
{
    struct cursor *c = r->stream->cursor;
    *data = NULL;
    *size = 0;
    if (r->ended)
        return APL_OK;
    const uint8_t *first = cursor_take(c, 1);
    if (!first) {
        r->ended = true; /* or it has failed, which closing it reports */
        return APL_OK;
    }
    size_t n = cursor_left(c) < PIECE ? cursor_left(c) : PIECE;
    c->at += n;
    *data = first;
    *size = n + 1;
    return pass_mark(r, data, size, err);
}

/* --------------------------------------------------------------------------------------------------- names */

int rows_find(const struct rows *r, const char *name)
{
    for (unsigned i = 0; i < r->columns; i++)
        if (strcmp(r->names[i], name) == 0)
            return (int)i;
    return -1;
}

static apl_status add_column(struct rows *r, const char *name, size_t length, apl_error *err)
{
    char shown[128];
    if (length == 0 && r->columns == 0 && r->csv) { /* as pandas writes its index */
        name = "index";
        length = strlen(name);
        r->indexed = true;
    }
    printable(shown, sizeof shown, name, length);
    if (!is_name(name, length))
        return fail(err, APL_E_SOURCE,
                    "%s: row %" PRIu64 " names a column '%s': 1 to %d bytes of printable UTF-8 are needed",
                    r->path, r->number, shown, APL_MAX_NAME);
    if (r->columns == ROWS_COLUMNS)
        return fail(err, APL_E_UNSUPPORTED, "%s: has more than %u columns", r->path, ROWS_COLUMNS);
    if (rows_find(r, name) >= 0)
        return fail(err, APL_E_SOURCE, "%s: has two columns called %s%s", r->path, shown,
                    r->csv ? ", as the first row has the names of columns" : "");
    r->names[r->columns] = strndup(name, length);
    if (!r->names[r->columns])
        return fail_nomem(err);
    r->columns++;
    return APL_OK;
}

const struct csv_odd *rows_odd(const struct rows *r)
{
    return r->csv ? csv_rows_odd(r->csv) : NULL;
}

bool rows_indexed(const struct rows *r)
{
    return r->indexed;
}

unsigned rows_columns(const struct rows *r)
{
    return r->columns;
}

const char *rows_name(const struct rows *r, unsigned column)
{
    return r->names[column];
}

/* ----------------------------------------------------------------------------------------------------- CSV */

static void check_cells(struct rows *r)
{
    for (unsigned i = 0; i < r->columns && !r->faulty; i++) {
        size_t length;
        const char *text = csv_rows_cell(r->csv, i, &length);
        if (!utf8_valid(text, length))
            spoil(r, r->names[i], "is not UTF-8");
        else if (*text == '[' && json_count_values((const uint8_t *)text, length) > ROWS_VALUES)
            spoil(r, r->names[i], "has more than a million values");
    }
}

static apl_status next_csv(struct rows *r, apl_error *err)
{
    char text[64];
    while (!csv_rows_next(r->csv)) {
        const uint8_t *data;
        size_t size;
        const char *bad;
        if (r->ended)
            return APL_END;
        TRY(next_piece(r, &data, &size, err));
        TRY(csv_rows_feed(r->csv, data, size, &bad, err));
        if (bad) {
            r->number += csv_rows_queued(r->csv) + 1;
            return in_row(r, bad, err);
        }
    }
    r->number++;
    size_t cells = csv_rows_cells(r->csv);
    snprintf(text, sizeof text, "has %s, and the header %u", number_of(cells, "cell", "cells"), r->columns);
    if (r->columns > 0 && cells != r->columns)
        spoil(r, NULL, text);
    else
        check_cells(r);
    return APL_OK;
}

static apl_status read_header(struct rows *r, apl_error *err)
{
    apl_status status = next_csv(r, err);
    if (status == APL_END)
        return fail(err, APL_E_SOURCE, "%s: is empty: a row of names is needed", r->path);
    TRY(status);
    size_t cells = csv_rows_cells(r->csv);
    for (size_t i = 0; i < cells; i++) {
        size_t length;
        const char *name = csv_rows_cell(r->csv, i, &length);
        TRY(add_column(r, name, length, err));
    }
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------------- JSON */

/* The next line that is not blank, without its end; APL_END after the last. */
static apl_status next_line(struct rows *r, apl_error *err)
{
    struct cursor *c = r->stream->cursor;
    const uint8_t *at;
    r->line.size = 0;
    while (!r->ended) {
        if (cursor_left(c) == 0) {
            const uint8_t *one = cursor_take(c, 1);
            if (!one) {
                r->ended = true;
                break;
            }
            c->at--;
        }
        size_t left = cursor_left(c);
        at = memchr(c->at, '\n', left);
        size_t n = at ? (size_t)(at - c->at) : left;
        buffer_put(&r->line, c->at, n);
        c->at += n + (at != NULL);
        if (r->line.size > ROWS_CELL) {
            r->number++;
            return in_row(r, "has more than 64 MiB", err);
        }
        if (at)
            break;
    }
    return r->line.failed ? fail_nomem(err) : r->ended && r->line.size == 0 ? APL_END : APL_OK;
}

static bool is_blank_line(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr(" \t\r", data[i]) || data[i] == 0)
            return false;
    return true;
}

static bool begins_array(const uint8_t *data, size_t size)
{
    while (size && strchr(" \t\r", *data) && *data)
        data++, size--;
    return size && *data == '[';
}

static void tell_of_json(struct rows *r, const json_error_t *why)
{
    char text[JSON_ERROR_TEXT_LENGTH + 96];
    enum json_error_code code = json_error_code(why);
    if (code == json_error_null_character || code == json_error_null_byte_in_key)
        snprintf(text, sizeof text, "holds \\u0000: text in tables has no NUL");
    else
        snprintf(text, sizeof text, "is not JSON: column %d: %s", why->column, why->text);
    spoil(r, NULL, text);
}

static apl_status parse_line(struct rows *r, const uint8_t *data, size_t size, apl_error *err)
{
    json_error_t why;
    json_decref(r->object);
    r->object = NULL;
    if (memchr(data, 0, size)) /* which jansson passes over behind numbers */
        spoil(r, NULL, "is not JSON: it holds a NUL byte");
    else if (begins_array(data, size))
        spoil(r, NULL, "is not a JSON object, but begins an array: jq -c '.[]' makes lines of one");
    else if (json_count_values(data, size) > ROWS_VALUES)
        spoil(r, NULL, "has more than a million values");
    else if (!(r->object = json_load_line((const char *)data, size, &r->whole_as_real, &why))) {
        if (json_error_code(&why) == json_error_out_of_memory)
            return fail_nomem(err);
        tell_of_json(r, &why);
    }
    return APL_OK;
}

/* Columns that come later in the file come last. */
static apl_status find_spellings(struct rows *r, const char *text, apl_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(r->object, key, value)
    {
        int column = rows_find(r, key);
        if (column < 0) {
            column = (int)r->columns;
            TRY(add_column(r, key, strlen(key), err));
        }
        r->spelled[column] = json_next_value(&text);
    }
    return APL_OK;
}

static apl_status next_json(struct rows *r, apl_error *err)
{
    const uint8_t *data;
    size_t size;
    do {
        TRY(next_line(r, err));
        data = r->line.data;
        size = r->line.size;
        TRY(pass_mark(r, &data, &size, err));
    } while (is_blank_line(data, size));
    r->number++;
    TRY(parse_line(r, data, size, err));
    return r->faulty ? APL_OK : find_spellings(r, (const char *)data, err);
}

/* ----------------------------------------------------------------------------------------------------- rows */

apl_status rows_open(struct format_stream *stream, enum rows_kind kind, const char *path, struct rows **rows,
                     apl_error *err)
{
    struct rows *r = calloc(1, sizeof *r);
    *rows = NULL;
    if (!r)
        return fail_nomem(err);
    r->stream = stream;
    r->path = path;
    apl_status status = APL_OK;
    if (kind != ROWS_JSON && !csv_rows_known())
        status =
            fail(err, APL_E_UNSUPPORTED, "%s: this build reads no CSV: it was made without libcsv", path);
    else if (kind != ROWS_JSON) {
        r->csv = csv_rows_new(kind == ROWS_TSV);
        status = r->csv ? read_header(r, err) : fail_nomem(err);
    }
    if (status == APL_OK)
        *rows = r;
    else
        rows_close(r);
    return status;
}

apl_status rows_next(struct rows *r, apl_error *err)
{
    r->faulty = false;
    return r->csv ? next_csv(r, err) : next_json(r, err);
}

const struct row_fault *rows_fault(const struct rows *r)
{
    return r->faulty ? &r->fault : NULL;
}

apl_status rows_refuse(const struct rows *r, apl_error *err)
{
    const struct row_fault *is = &r->fault;
    return fail(err, is->why.status,
                "%s: row %" PRIu64
                "%s%s%s %s (--skip-bad N, or skip_bad=N in Python, leaves out up to N bad rows)",
                r->path, r->number, is->column ? ", column " : "", is->column ? is->column : "",
                is->column ? ":" : "", is->why.message);
}

uint64_t rows_number(const struct rows *r)
{
    return r->number;
}

static apl_status json_cell(struct rows *r, unsigned column, struct cell *cell, apl_error *err)
{
    const json_t *value = json_object_get(r->object, r->names[column]);
    if (json_is_string(value)) {
        cell->text = json_string_value(value);
        cell->length = json_string_length(value);
    } else if (value && !json_is_null(value)) {
        r->text.size = 0;
        json_put_value(r->spelled[column], &r->text);
        buffer_put(&r->text, "", 1);
        if (r->text.failed)
            return fail_nomem(err);
        cell->text = (const char *)r->text.data;
        cell->length = r->text.size - 1;
    }
    return cell_from_json(cell, value, r->whole_as_real, &r->room) ? APL_OK : fail_nomem(err);
}

apl_status rows_cell(struct rows *r, unsigned column, struct cell *cell, apl_error *err)
{
    *cell = (struct cell){.kind = CELL_NONE, .text = ""};
    if (column >= r->columns)
        return APL_OK;
    if (!r->csv)
        return json_cell(r, column, cell, err);
    cell->text = csv_rows_cell(r->csv, column, &cell->length);
    return cell_from_text(cell, &r->room) ? APL_OK : fail_nomem(err);
}
