/*
 * Tables of records as a format: CSV, TSV and lines of JSON, with a column of paths of images, or without. The table is read once to learn
 * what its columns are, then once for each split; images are gathered, decoded on all cores, and appended in the order of rows.
 */
#include "file_name.h"
#include "image_maker.h"
#include "list_columns.h"
#include "parallel.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>

#define GATHER_ROWS  64u
#define GATHER_BYTES ((size_t)16 << 20) /* of files and samples, unless one image has more */

/* A row on its way. */
struct list_record {
    struct made_image made;
    struct buffer path, values; /* of all columns, one after another */
    size_t begins[ROWS_COLUMNS];
    int64_t shapes[ROWS_COLUMNS][2];
    size_t file;
    uint64_t row;
    apl_status status; /* what came of the row, or of making its image */
    apl_error error;
    int column; /* where the error is; -1: in the image */
};

struct list_split {
    char name[APL_MAX_NAME + 1];
    uint32_t rank;
};

struct list {
    const struct format_host *host;
    struct list_columns columns;
    struct list_split splits[LIST_SPLITS];
    unsigned split_count;
    struct survey survey;
    struct image_plan plan;
    unsigned threads;
    struct image_maker **makers; /* of each thread */
    apl_writer *writer;
    struct list_record records[GATHER_ROWS];
    unsigned gathered;
    size_t gathered_bytes;
    uint64_t appended, remarks[REMARKS];
};

static bool has_images(const struct list *l)
{
    return l->columns.image >= 0;
}

/* Columns that become fields of their own. */
static bool is_value(const struct list *l, unsigned i)
{
    return (int)i != l->columns.image && (int)i != l->columns.split;
}

/* -------------------------------------------------------------------------------------------------- splits */

static const char *file_split(const struct list *l, size_t file, uint32_t *rank)
{
    struct file_name n;
    bool known = file_name_read(&n, l->host->files[file].name) && n.split;
    *rank = known ? n.split_rank : 0;
    return known ? n.split : "train";
}

static apl_status add_split(struct list *l, const char *name, uint32_t rank, apl_error *err)
{
    for (unsigned i = 0; i < l->split_count; i++)
        if (strcmp(l->splits[i].name, name) == 0)
            return APL_OK;
    if (l->split_count == LIST_SPLITS)
        return fail(err, APL_E_UNSUPPORTED, "%s: has more than %u splits", l->host->source, LIST_SPLITS);
    struct list_split *s = &l->splits[l->split_count++];
    size_t length = strlen(name);
    if (length > APL_MAX_NAME)
        return fail(err, APL_E_SOURCE, "%s: a split has a name of more than %d bytes", l->host->source,
                    APL_MAX_NAME);
    memcpy(s->name, name, length + 1);
    s->rank = rank;
    return APL_OK;
}

static int by_rank(const void *a, const void *b)
{
    const struct list_split *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : strcmp(x->name, y->name);
}

/* By the column of that name, or by the names of the files. Known ones come first: train, then the others. */
static apl_status find_splits(struct list *l, apl_error *err)
{
    size_t count = 0;
    struct file_name n;
    if (l->columns.split >= 0) {
        const char *const *names = name_set_names(l->columns.columns[l->columns.split].names, &count);
        for (size_t i = 0; i < count; i++) {
            bool known = file_name_read(&n, names[i]) && n.split && n.count == 0;
            TRY(add_split(l, names[i], known ? n.split_rank : UINT32_MAX, err));
        }
    }
    for (size_t i = 0; l->columns.split < 0 && i < l->host->file_count; i++) {
        uint32_t rank;
        const char *name = file_split(l, i, &rank);
        TRY(add_split(l, name, rank, err));
    }
    qsort(l->splits, l->split_count, sizeof *l->splits, by_rank);
    return APL_OK;
}

/* Is the current row of this split? */
static apl_status is_of_split(const struct list *l, struct list_file *f, const char *split, bool *is,
                              apl_error *err)
{
    struct cell cell;
    *is = true;
    if (l->columns.split < 0)
        return APL_OK;
    TRY(list_cell(&l->columns, f, (unsigned)l->columns.split, &cell, err));
    *is = strcmp(cell.text, split) == 0;
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------------- survey */

static apl_status survey_row(struct list *l, size_t file, struct list_file *f, apl_error *err)
{
    struct made_image *made = &l->records[0].made;
    struct cell cell;
    apl_error damage;
    TRY(list_cell(&l->columns, f, (unsigned)l->columns.image, &cell, err));
    if (!survey_wants(&l->survey, l->host, cell.text) ||
        l->host->read_beside(l->host->user, file, cell.text, &made->bytes, &damage) != APL_OK)
        return APL_OK; /* reading it for its record will tell */
    struct cursor cursor = cursor_over(made->bytes.data, made->bytes.size);
    const struct format_member m = {cell.text, "", made->bytes.size, &cursor};
    return survey_take(&l->survey, l->host, image_maker_decoder(l->makers[0]), &m, &l->records[1].made.bytes,
                       err);
}

/* Reads the table for the images alone. */
static apl_status survey_images(struct list *l, apl_error *err)
{
    for (size_t i = 0; i < l->host->file_count; i++) {
        struct list_file f;
        apl_status status = list_begin(&l->columns, i, &f, err);
        while (status == APL_OK && (status = rows_next(f.rows, err)) == APL_OK)
            status = survey_row(l, i, &f, err);
        if (status == APL_END)
            status = APL_OK;
        apl_error again;
        apl_status closed = list_end(&l->columns, &f, status == APL_OK ? err : &again);
        TRY(status);
        TRY(closed);
    }
    l->plan = survey_plan(&l->survey, l->host);
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------------- schema */

static apl_status add_image_field(struct list *l, apl_error *err)
{
    static const int64_t any[3] = {-1, -1, -1};
    const uint32_t *is = l->plan.shape;
    const int64_t fixed[3] = {is[0], is[1], is[2]};
    if (!l->plan.keep)
        return apl_writer_add_field(l->writer, "image", l->plan.bits == 16 ? APL_U16 : APL_U8, APL_INPUT, 3,
                                    l->plan.fixed ? fixed : any, err);
    TRY(apl_writer_add_field(l->writer, "image", APL_U8, APL_INPUT, 1, any, err));
    TRY(apl_writer_set_media(l->writer, "image", "image/jpeg", err));
    return l->host->options->keep_files ? APL_OK : apl_writer_set_indexed(l->writer, "image", err);
}

/* What is known of an image belongs to the target; without images, all but the label is input. */
static apl_status add_value_field(struct list *l, unsigned i, apl_error *err)
{
    const struct column *c = &l->columns.columns[i];
    size_t count = 0;
    const char *const *names = c->classes ? name_set_names(c->names, &count) : NULL;
    apl_role role = has_images(l) || (int)i == l->columns.label ? APL_TARGET : APL_INPUT;
    TRY(apl_writer_add_field(l->writer, c->name, c->dtype, role, c->ndim, c->shape, err));
    return names ? apl_writer_set_classes(l->writer, c->name, names, count, err) : APL_OK;
}

static apl_status add_fields(struct list *l, apl_error *err)
{
    static const int64_t any[1] = {-1}, three[1] = {3};
    if (has_images(l))
        TRY(add_image_field(l, err));
    for (unsigned i = 0; i < l->columns.count; i++)
        if (is_value(l, i))
            TRY(add_value_field(l, i, err));
    if (!has_images(l))
        return APL_OK;
    TRY(apl_writer_add_field(l->writer, "path", APL_UTF8, APL_NAME, 1, any, err));
    return apl_writer_add_field(l->writer, "image_shape", APL_U32, APL_NAME, 1, three, err);
}

/* -------------------------------------------------------------------------------------------------- making */

static apl_status make_record(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct list *l = context;
    struct list_record *r = &l->records[task];
    if (r->status != APL_OK || !has_images(l))
        return APL_OK;
    if (!l->makers[worker] && !(l->makers[worker] = image_maker_new()))
        return fail_nomem(err);
    r->status = image_make(l->makers[worker], &l->plan, l->host->unchecked, &r->made, &r->error);
    if (r->status == APL_E_NOMEM)
        *err = r->error;
    return r->status == APL_E_NOMEM ? APL_E_NOMEM : APL_OK;
}

static apl_status append_record_of(struct list *l, const struct list_record *r, apl_error *err)
{
    apl_value values[APL_MAX_FIELDS];
    unsigned n = 0;
    const int64_t bytes = (int64_t)r->made.bytes.size, path = (int64_t)r->path.size;
    const int64_t shape[3] = {r->made.shape[0], r->made.shape[1], r->made.shape[2]};
    if (has_images(l))
        values[n++] = (apl_value){image_value(&l->plan, &r->made), l->plan.keep    ? &bytes
                                                                   : l->plan.fixed ? NULL
                                                                                   : shape};
    for (unsigned i = 0; i < l->columns.count; i++) {
        const struct column *c = &l->columns.columns[i];
        bool varies = c->ndim > 0 && (c->shape[0] < 0 || (c->ndim == 2 && c->shape[1] < 0));
        if (is_value(l, i))
            values[n++] = (apl_value){r->values.data + r->begins[i], varies ? r->shapes[i] : NULL};
    }
    if (has_images(l)) {
        values[n++] = (apl_value){r->path.data, &path};
        values[n++] = (apl_value){r->made.shape, NULL};
    }
    for (unsigned i = 0; i < REMARKS; i++)
        l->remarks[i] += r->made.remarks[i];
    l->appended++;
    return l->host->append(l->host->user, values, err);
}

/* A row that is bad in itself. */
static apl_status leave_row_out(struct list *l, const struct list_record *r, apl_error *err)
{
    char where[1600], path[600] = "", file[300];
    const char *name = l->host->files[r->file].name;
    if (r->column < 0 && r->path.size > 0)
        printable(path, sizeof path, (const char *)r->path.data, r->path.size);
    printable(file, sizeof file, name, strlen(name));
    snprintf(where, sizeof where, "%s: row %" PRIu64 "%s%s", file, r->row,
             r->column >= 0 ? ", column "
             : *path        ? ": "
                            : "",
             r->column >= 0 ? l->columns.columns[r->column].name : path);
    return l->host->bad(l->host->user, where, &r->error, err);
}

static apl_status flush_rows(struct list *l, apl_error *err)
{
    unsigned n = l->gathered;
    l->gathered = 0;
    l->gathered_bytes = 0;
    apl_status status = parallel_for(l->threads, n, make_record, l, err);
    if (status != APL_OK)
        return l->host->not_the_source(l->host->user, status);
    for (unsigned i = 0; i < n; i++) {
        if (l->records[i].status == APL_OK)
            TRY(append_record_of(l, &l->records[i], err));
        else
            TRY(leave_row_out(l, &l->records[i], err));
    }
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- gathering */

static apl_status take_image(struct list *l, struct list_record *r, const struct cell *cell)
{
    r->path.size = 0;
    if (cell->length > 0)
        buffer_put(&r->path, cell->text, cell->length);
    if (r->path.failed)
        return fail_nomem(&r->error);
    apl_status status = l->host->read_beside(l->host->user, r->file, cell->text, &r->made.bytes, &r->error);
    if (status == APL_OK)
        l->gathered_bytes += r->made.bytes.size + image_maker_need(l->makers[0], &l->plan, &r->made);
    return status;
}

/* What is wrong with the row is kept in it; an error is of the table, or memory. */
static apl_status take_cell_of(struct list *l, struct list_record *r, struct list_file *f, unsigned i,
                               apl_error *err)
{
    struct cell cell;
    TRY(list_cell(&l->columns, f, i, &cell, err));
    if ((int)i == l->columns.image) {
        r->status = take_image(l, r, &cell);
    } else if (is_value(l, i)) {
        r->begins[i] = r->values.size;
        r->status = column_value(&l->columns.columns[i], &cell, &r->values, r->shapes[i], &r->error);
        if (r->status != APL_OK)
            r->column = (int)i;
    }
    if (r->status == APL_E_NOMEM)
        return fail_nomem(err);
    return APL_OK;
}

static apl_status gather_row(struct list *l, size_t file, struct list_file *f, apl_error *err)
{
    struct list_record *r = &l->records[l->gathered];
    r->file = file;
    r->row = rows_number(f->rows);
    r->status = APL_OK;
    r->column = -1;
    r->values.size = r->path.size = 0;
    for (unsigned i = 0; i < l->columns.count && r->status == APL_OK; i++)
        TRY(take_cell_of(l, r, f, i, err));
    l->gathered_bytes += r->values.size;
    l->gathered++;
    return l->gathered == GATHER_ROWS || l->gathered_bytes >= GATHER_BYTES ? flush_rows(l, err) : APL_OK;
}

static apl_status read_split_rows(struct list *l, size_t file, struct list_file *f, const char *split,
                                  apl_error *err)
{
    apl_status status;
    while ((status = rows_next(f->rows, err)) == APL_OK) {
        bool is;
        TRY(is_of_split(l, f, split, &is, err));
        if (is)
            TRY(gather_row(l, file, f, err));
    }
    return status == APL_END ? flush_rows(l, err) : status;
}

/* The rows of one split in one file are a member. */
static apl_status read_list_member(struct list *l, size_t file, unsigned which, uint32_t number,
                                   apl_error *err)
{
    const char *split = l->splits[which].name;
    struct list_file f;
    const char *name = l->host->files[file].name;
    bool usable = utf8_valid(name, strlen(name)) && strlen(name) <= APL_MAX_NAME;
    for (const char *c = name; *c; c++)
        usable &= (uint8_t)*c >= 0x20 && *c != 0x7f;
    TRY(l->host->not_the_source(
        l->host->user, apl_writer_begin_member(l->writer, usable ? name : split, split, number, err)));
    apl_status status = list_begin(&l->columns, file, &f, err);
    if (status == APL_OK)
        status = read_split_rows(l, file, &f, split, err);
    apl_error again;
    apl_status closed = list_end(&l->columns, &f, status == APL_OK ? err : &again);
    return status == APL_OK ? closed : status;
}

static apl_status read_list(void *state, apl_error *err)
{
    struct list *l = state;
    uint32_t member = 0;
    TRY(list_columns_read(&l->columns, err));
    TRY(find_splits(l, err));
    if (has_images(l))
        TRY(survey_images(l, err));
    TRY(l->host->writer(l->host->user, &l->writer, err));
    TRY(l->host->not_the_source(l->host->user, add_fields(l, err)));
    for (unsigned s = 0; s < l->split_count; s++)
        for (size_t i = 0; i < l->host->file_count; i++) {
            uint32_t rank;
            if (l->columns.split >= 0 || strcmp(file_split(l, i, &rank), l->splits[s].name) == 0)
                TRY(read_list_member(l, i, s, member++, err));
        }
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- open and close */

static apl_status finish_list(void *state, char format[32], apl_error *err)
{
    struct list *l = state;
    char text[160];
    if (l->appended == 0)
        return fail(err, APL_E_SOURCE, "%s: all of its rows are bad", l->host->source);
    for (unsigned i = 0; i < REMARKS; i++) {
        snprintf(text, sizeof text, "%s: %" PRIu64, image_remark_text((enum image_remark)i), l->remarks[i]);
        if (l->remarks[i])
            l->host->notice(l->host->user, "", text);
    }
    snprintf(format, 32, "list");
    return APL_OK;
}

static void close_list(void *state)
{
    struct list *l = state;
    if (!l)
        return;
    for (unsigned i = 0; i < GATHER_ROWS; i++) {
        image_free(&l->records[i].made);
        buffer_free(&l->records[i].path);
        buffer_free(&l->records[i].values);
    }
    for (unsigned i = 0; l->makers && i < l->threads; i++)
        image_maker_free(l->makers[i]);
    free(l->makers);
    list_columns_free(&l->columns);
    free(l);
}

static apl_status open_table_list(const struct format_host *host, void **state, apl_error *err)
{
    struct list *l = calloc(1, sizeof *l);
    if (!l)
        return fail_nomem(err);
    l->host = l->columns.host = host;
    l->columns.split = l->columns.image = l->columns.label = -1;
    l->threads = threads_for(host->threads);
    l->makers = calloc(l->threads, sizeof *l->makers);
    if (!l->makers || !(l->makers[0] = image_maker_new())) {
        close_list(l);
        return fail_nomem(err);
    }
    *state = l;
    return APL_OK;
}

static bool wants_list(const void *state, const char *name)
{
    enum rows_kind kind;
    (void)state;
    return list_kind(name, &kind);
}

static bool sniff_list(const struct format_file *file)
{
    return wants_list(NULL, file->name) && !file->archive;
}

const struct format format_list = {
    .name = "list",
    .title = "tables in CSV, TSV or JSON lines, with paths of images or without",
    .asked_in_folders = true,
    .open = open_table_list,
    .close = close_list,
    .sniff = sniff_list,
    .wants = wants_list,
    .read = read_list,
    .finish = finish_list,
};
