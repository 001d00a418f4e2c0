/* What the columns of a list are: see list_columns.h. */
#include "list_columns.h"

#include "cell.h"
#include "file_name.h"
#include "wds_number.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

bool list_kind(const char *name, enum rows_kind *kind)
{
    static const struct {
        const char *ending;
        enum rows_kind kind;
    } kinds[] = {{".csv", ROWS_CSV},    {".tsv", ROWS_TSV},     {".tab", ROWS_TSV},
                 {".jsonl", ROWS_JSON}, {".ndjson", ROWS_JSON}, {".jsonlines", ROWS_JSON}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (name_ends(name, kinds[i].ending)) {
            *kind = kinds[i].kind;
            return true;
        }
    return false;
}

/* --------------------------------------------------------------------------------------------------- files */

apl_status list_begin(const struct list_columns *l, size_t file, struct list_file *f, apl_error *err)
{
    const struct format_file *is = &l->host->files[file];
    enum rows_kind kind = ROWS_CSV;
    list_kind(is->name, &kind);
    *f = (struct list_file){0};
    for (unsigned i = 0; i < ROWS_COLUMNS; i++)
        f->columns[i] = -1;
    TRY(l->host->open_file(l->host->user, file, &f->stream, err));
    return rows_open(f->stream, kind, is->path, &f->rows, err);
}

apl_status list_end(const struct list_columns *l, struct list_file *f, apl_status status, apl_error *err)
{
    apl_error broken;
    rows_close(f->rows);
    f->rows = NULL;
    struct format_stream *stream = f->stream;
    f->stream = NULL;
    apl_status closed = l->host->close_file(l->host->user, stream, &broken);
    if (closed == APL_OK)
        return status == APL_END ? APL_OK : status;
    if (err)
        *err = broken;
    return closed;
}

apl_status list_next(const struct list_columns *l, struct list_file *f, apl_error *err)
{
    TRY(rows_next(f->rows, err));
    return rows_fault(f->rows) && l->host->options->skip_bad == 0 ? rows_refuse(f->rows, err) : APL_OK;
}

apl_status list_cell(const struct list_columns *l, struct list_file *f, unsigned column, struct cell *cell,
                     apl_error *err)
{
    if (f->columns[column] < 0)
        f->columns[column] = rows_find(f->rows, l->columns[column].name);
    return rows_cell(f->rows, f->columns[column] < 0 ? UINT32_MAX : (unsigned)f->columns[column], cell, err);
}

/* ------------------------------------------------------------------------------------------------- columns */

int list_find_column(const struct list_columns *l, const char *name)
{
    for (unsigned i = 0; i < l->count; i++)
        if (strcmp(l->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool is_label(const struct list_columns *l, const char *name)
{
    return strcmp(name, l->host->options->label_column ? l->host->options->label_column : "label") == 0;
}

/* The type that the caller has given the column, if any. */
static apl_status take_given(const struct list_columns *l, struct column *c, apl_error *err)
{
    size_t length = strlen(c->name);
    for (size_t i = 0; i < l->host->options->column_type_count; i++) {
        const char *type = l->host->options->column_types[i];
        if (strncmp(type, c->name, length) != 0 || type[length] != '=' || column_give(c, type + length + 1))
            continue;
        char shown[64];
        printable(shown, sizeof shown, type, strlen(type));
        return fail(err, APL_E_INVALID,
                    "'%s': tables have no such type; wanted: u8 to u64, i8 to i64, f32, f64, bool or utf8, "
                    "or numbers of a shape, such "
                    "as boxes=f32[-1,4]",
                    shown);
    }
    return APL_OK;
}

static apl_status meet_column(struct list_columns *l, const char *name, apl_error *err)
{
    if (list_find_column(l, name) >= 0)
        return APL_OK;
    if (l->count == ROWS_COLUMNS)
        return fail(err, APL_E_UNSUPPORTED, "%s: has more than %u columns", l->host->source, ROWS_COLUMNS);
    struct column *c = &l->columns[l->count];
    snprintf(c->name, sizeof c->name, "%s", name);
    if ((is_label(l, name) || strcmp(name, "split") == 0) && !(c->names = name_set_new()))
        return fail_nomem(err);
    l->count++;
    return take_given(l, c, err);
}

static apl_status meet_columns(struct list_columns *l, const struct list_file *f, apl_error *err)
{
    unsigned known = rows_columns(f->rows);
    l->indexed |= rows_indexed(f->rows);
    for (unsigned i = 0; i < known; i++)
        TRY(meet_column(l, rows_name(f->rows, i), err));
    return APL_OK;
}

static apl_status take_list_row(struct list_columns *l, struct list_file *f, size_t file, apl_error *err)
{
    const char *path = l->host->files[file].path;
    l->file_rows[file]++;
    if (rows_fault(f->rows)) {
        if (l->unreadable.status == APL_OK)
            rows_refuse(f->rows, &l->unreadable);
        return APL_OK;
    }
    TRY(meet_columns(l, f, err));
    if (l->rows == 0) {
        l->first_row = rows_number(f->rows);
        l->first_file = path;
    }
    for (unsigned i = 0; i < l->count; i++) {
        struct cell cell;
        TRY(list_cell(l, f, i, &cell, err));
        TRY(column_take(&l->columns[i], &cell, path, rows_number(f->rows), err));
    }
    l->rows++;
    return APL_OK;
}

/* Files that are not of one table are refused, where that can be told: in CSV all columns are there. */
static apl_status check_header(const struct list_columns *l, const struct list_file *f, size_t file,
                               apl_error *err)
{
    enum rows_kind kind = ROWS_JSON;
    const struct format_file *is = &l->host->files[file];
    list_kind(is->name, &kind);
    for (unsigned i = 0; file > 0 && kind != ROWS_JSON && i < l->count; i++)
        if (rows_find(f->rows, l->columns[i].name) < 0)
            return fail(err, APL_E_SOURCE, "%s: has no column %s, which %s has", is->path, l->columns[i].name,
                        l->host->files[0].path);
    for (unsigned i = 0; file > 0 && kind != ROWS_JSON && i < rows_columns(f->rows); i++)
        if (list_find_column(l, rows_name(f->rows, i)) < 0)
            return fail(err, APL_E_SOURCE, "%s: has a column %s, which %s has not", is->path,
                        rows_name(f->rows, i), l->host->files[0].path);
    return APL_OK;
}

static apl_status read_list_file(struct list_columns *l, size_t file, apl_error *err)
{
    struct list_file f;
    apl_status status = list_begin(l, file, &f, err);
    if (status == APL_OK)
        status = check_header(l, &f, file, err);
    if (status == APL_OK)
        status = meet_columns(l, &f, err);
    while (status == APL_OK && (status = list_next(l, &f, err)) == APL_OK)
        status = take_list_row(l, &f, file, err);
    return list_end(l, &f, status, err);
}

/* ------------------------------------------------------------------------------------------------- deciding */

apl_status list_lacks_column(const struct list_columns *l, const char *name, const char *option,
                             apl_error *err)
{
    char shown[64], all[200] = "";
    size_t used = 0;
    for (unsigned i = 0; i < l->count && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", l->columns[i].name);
    printable(shown, sizeof shown, name, strlen(name));
    return fail(err, APL_E_INVALID, "%s: has no column %s, for %s; there are %s", l->host->source, shown,
                option, all);
}

static apl_status find_label_column(struct list_columns *l, apl_error *err)
{
    const char *asked = l->host->options->label_column;
    l->label = list_find_column(l, asked ? asked : "label");
    if (l->label < 0 && asked)
        return list_lacks_column(l, asked, "--label", err);
    int image = l->label < 0 ? -1 : list_image_of(l, (unsigned)l->label);
    if (!asked && image >= 0 &&
        (image > 0 || l->images[image].mask)) /* a mask called so is no label of its record */
        l->label = image = -1;
    if (image >= 0)
        return fail(err, APL_E_INVALID, "%s: column %s cannot be both %s and label", l->host->source,
                    l->columns[l->label].name, l->images[image].mask ? "mask" : "image");
    if (l->label < 0)
        return APL_OK;
    const char *file = l->host->source;
    struct column *label = &l->columns[l->label];
    apl_status status = column_decide_label(label, l->host->options->skip_bad > 0, &file, err);
    return status == APL_OK ? status : fail_in(err, status, "%s: column %s", file, label->name);
}

/* Such as 1e400, or a whole number beyond i64. */
static bool is_number_too_large(const char *text)
{
    char *end;
    bool whole = text[strspn(text, "+-0123456789")] == 0;
    double most = whole ? 0x1p63 : INFINITY;
    return strchr("+-.0123456789", *text) && fabs(strtod(text, &end)) >= most && !*end &&
           isdigit((unsigned char)end[-1]);
}

/* Why is it text, and what would a type of numbers make of it? */
static void tell_of_word(const struct column *c, char *out, size_t size)
{
    bool negative;
    uint64_t magnitude;
    double real;
    const char *is = "is not a number", *type = "f64", *does = "refuses";
    if (cell_decimal(c->first_text, strlen(c->first_text), &real)) {
        bool large = is_number_too_large(c->first_text);
        bool u64 = large &&
                   wds_whole((const uint8_t *)c->first_text, strlen(c->first_text), &negative, &magnitude) &&
                   !negative;
        is = large ? "is beyond i64" : "has leading zeros or blanks";
        type = u64 ? "u64" : "f64";
        does = u64 ? "keeps" : large ? "rounds" : "makes a number of";
    }
    snprintf(out, size,
             "row %" PRIu64 ", column %s: '%s' %s, so all of the column is text; --type %s=%s %s it",
             c->first_row[CELL_TEXT], c->name, c->first_text, is, c->name, type, does);
}

/* One word among numbers turns a column into text: worth a line; and so does a number that is too large, whatever it is among. */
static void tell_of_text(const struct list_columns *l, const struct column *c)
{
    uint64_t numbers = c->kinds[CELL_WHOLE] + c->kinds[CELL_REAL];
    char text[1024];
    if (c->given || numbers == 0 || c->kinds[CELL_TEXT] == 0 ||
        (numbers <= c->kinds[CELL_TEXT] && !is_number_too_large(c->first_text)))
        return;
    tell_of_word(c, text, sizeof text);
    l->host->notice(l->host->user, l->host->file_count > 1 ? c->first_file : "", text);
}

/* Values of several kinds, none of them words, have only text in common: worth a line, too. */
static void tell_of_kinds(const struct list_columns *l, const struct column *c)
{
    static const char *const called[CELL_KINDS] = {[CELL_NONE] = "empty cells",
                                                   [CELL_BOOL] = "true or false",
                                                   [CELL_WHOLE] = "whole numbers",
                                                   [CELL_REAL] = "real numbers",
                                                   [CELL_LIST] = "lists"};
    char kinds[128] = "", text[2 * APL_MAX_NAME + 512], rounding[APL_MAX_NAME + 96] = "";
    size_t used = 0;
    if (c->given || c->dtype != APL_UTF8 || c->kinds[CELL_TEXT] || c->kinds[CELL_NONE] == l->rows)
        return;
    for (unsigned k = 0; k < CELL_KINDS; k++)
        if (c->kinds[k])
            used += (size_t)snprintf(kinds + used, sizeof kinds - used, "%s%s", used ? ", " : "", called[k]);
    bool lists = c->any_list && !c->inner_varies && !c->kinds[CELL_WHOLE] && !c->kinds[CELL_REAL];
    if (c->inexact && !c->kinds[CELL_BOOL] && (lists || !c->any_list))
        snprintf(rounding, sizeof rounding, ", some of %s too large for f64: --type %s=f64%s rounds those",
                 lists ? "their numbers" : "them", c->name, lists ? "[-1]" : "");
    snprintf(text, sizeof text, "column %s has no common type, so all of it is text: there are %s%s%s",
             c->name, kinds, c->inner_varies ? ", whose inner lists differ" : "", rounding);
    l->host->notice(l->host->user, "", text);
}

/* A single column of several names was parted by something else. */
static void tell_of_separators(const struct list_columns *l)
{
    char text[APL_MAX_NAME + 128];
    if (l->count != 1 || !strpbrk(l->columns[0].name, ";|,\t"))
        return;
    snprintf(text, sizeof text,
             "the only column is called '%s': cells are separated by commas in .csv, by tabs in .tsv",
             l->columns[0].name);
    l->host->notice(l->host->user, "", text);
}

/* Columns called 0, 1, 2 ... have no names in a data frame either. */
static bool is_numbered(const struct list_columns *l)
{
    char number[16];
    unsigned from = l->indexed ? 1 : 0;
    for (unsigned i = from; i < l->count; i++) {
        snprintf(number, sizeof number, "%u", i - from);
        if (strcmp(l->columns[i].name, number) != 0)
            return false;
    }
    return true;
}

/* Without a header, the first record would be lost. */
static void tell_of_header(const struct list_columns *l)
{
    enum rows_kind kind = ROWS_JSON;
    char text[APL_MAX_NAME + 160];
    double real;
    list_kind(l->host->files[0].name, &kind);
    for (unsigned i = 0; kind != ROWS_JSON && !is_numbered(l) && i < l->count; i++) {
        const struct column *c = &l->columns[i];
        if (c->kinds[CELL_WHOLE] + c->kinds[CELL_REAL] + c->kinds[CELL_NONE] < l->rows ||
            c->kinds[CELL_NONE] == l->rows || !cell_decimal(c->name, strlen(c->name), &real))
            continue;
        snprintf(text, sizeof text,
                 "the first row is taken for the names of the columns, but '%s' is a number: a table begins "
                 "with a row of names",
                 c->name);
        l->host->notice(l->host->user, "", text);
        return;
    }
}

static apl_status check_given(const struct list_columns *l, apl_error *err)
{
    for (size_t i = 0; i < l->host->options->column_type_count; i++) {
        const char *type = l->host->options->column_types[i], *equals = strrchr(type, '=');
        char name[APL_MAX_NAME + 1];
        snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - type) : (int)sizeof name, type);
        if (list_find_column(l, name) < 0)
            return list_lacks_column(l, name, "--type", err);
    }
    return APL_OK;
}

/* Of rows before the first that had the column. */
static void count_missing(const struct list_columns *l, struct column *c)
{
    uint64_t seen = 0;
    for (unsigned k = 0; k < CELL_KINDS; k++)
        seen += c->kinds[k];
    if (seen == l->rows)
        return;
    c->kinds[CELL_NONE] += l->rows - seen;
    c->empty_row = l->first_row;
    c->empty_file = l->first_file;
}

apl_status list_columns_read(struct list_columns *l, apl_error *err)
{
    l->file_rows = calloc(l->host->file_count, sizeof *l->file_rows);
    if (!l->file_rows)
        return fail_nomem(err);
    for (size_t i = 0; i < l->host->file_count; i++)
        TRY(read_list_file(l, i, err));
    if (l->rows == 0 && l->unreadable.status != APL_OK)
        return fail(err, l->unreadable.status, "no row can be read: %s", l->unreadable.message);
    if (l->rows == 0)
        return fail(err, APL_E_SOURCE, "%s: has no rows", l->host->source);
    if (l->count == 0)
        return fail(err, APL_E_SOURCE, "%s: has no columns: all of its rows are empty", l->host->source);
    for (unsigned i = 0; i < l->count; i++)
        count_missing(l, &l->columns[i]);
    tell_of_separators(l);
    tell_of_header(l);
    return APL_OK;
}

apl_status list_columns_decide(struct list_columns *l, apl_error *err)
{
    TRY(check_given(l, err));
    TRY(find_label_column(l, err));
    for (unsigned i = 0; i < l->count; i++) {
        if ((int)i == l->label)
            continue;
        column_decide(&l->columns[i]);
        tell_of_text(l, &l->columns[i]);
        tell_of_kinds(l, &l->columns[i]);
    }
    return APL_OK;
}

void list_columns_free(struct list_columns *l)
{
    for (unsigned i = 0; i < l->count; i++)
        name_set_free(l->columns[i].names);
    free(l->file_rows);
}
