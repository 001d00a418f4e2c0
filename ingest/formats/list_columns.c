/* What the columns of a list are: see list_columns.h. */
#include "list_columns.h"

#include "file_name.h"

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
    c->splits.called = strcmp(name, "split") == 0;
    if ((is_label(l, name) || c->splits.called) && !(c->names = name_set_new()))
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

#define HEADER ": the first row of each table has the names of its columns"

/* Files that are not of one table are refused, where that can be told: in CSV all columns are there. */
static apl_status check_header(const struct list_columns *l, const struct list_file *f, size_t file,
                               apl_error *err)
{
    enum rows_kind kind = ROWS_JSON;
    const struct format_file *is = &l->host->files[file];
    list_kind(is->name, &kind);
    for (unsigned i = 0; file > 0 && kind != ROWS_JSON && i < l->count; i++)
        if (rows_find(f->rows, l->columns[i].name) < 0)
            return fail(err, APL_E_SOURCE, "%s: has no column %s, which %s has" HEADER, is->path,
                        l->columns[i].name, l->host->files[0].path);
    for (unsigned i = 0; file > 0 && kind != ROWS_JSON && i < rows_columns(f->rows); i++)
        if (list_find_column(l, rows_name(f->rows, i)) < 0)
            return fail(err, APL_E_SOURCE, "%s: has a column %s, which %s has not" HEADER, is->path,
                        rows_name(f->rows, i), l->host->files[0].path);
    return APL_OK;
}

static void take_odd(struct list_odd *odd, const struct csv_odd *is, const char *file)
{
    if (is && is->trimmed && !odd->trimmed_file)
        odd->trimmed_file = file;
    if (!is || is->returns == 0 || !is->lines)
        return;
    if (odd->returns == 0) {
        odd->first_return = is->first_return;
        odd->return_file = file;
    }
    odd->returns += is->returns;
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
    if (f.rows)
        take_odd(&l->odd, rows_odd(f.rows), l->host->files[file].path);
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
    return APL_OK;
}

apl_status list_columns_decide(struct list_columns *l, apl_error *err)
{
    TRY(check_given(l, err));
    TRY(find_label_column(l, err));
    for (unsigned i = 0; i < l->count; i++)
        if ((int)i != l->label)
            column_decide(&l->columns[i]);
    return APL_OK;
}

void list_columns_free(struct list_columns *l)
{
    for (unsigned i = 0; i < l->count; i++)
        name_set_free(l->columns[i].names);
    free(l->file_rows);
}
