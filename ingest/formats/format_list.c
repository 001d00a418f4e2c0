/*
 * Tables of records as a format: CSV, TSV and lines of JSON, with a column of paths of images, or without. The table is read once to learn
 * what its columns are, then once for each split; images are gathered, decoded on all cores, and appended in the order of rows.
 */
#include "list_names.h"
#include "list_records.h"
#include "list_splits.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>

struct list {
    const struct format_host *host;
    struct list_columns columns;
    struct list_splits splits;
    struct survey survey;
    struct image_plan plan;
    struct image_names names;
    struct list_records records;
};

/* -------------------------------------------------------------------------------------------------- survey */

static apl_status survey_row(struct list *l, size_t file, struct list_file *f, apl_error *err)
{
    struct made_image *made = &l->records.records[0].made;
    struct cell cell;
    apl_error damage;
    TRY(list_cell(&l->columns, f, (unsigned)l->columns.image, &cell, err));
    if (!survey_wants(&l->survey, l->host, cell.text) ||
        l->host->read_beside(l->host->user, file, cell.text, &made->bytes, &damage) != APL_OK)
        return APL_OK; /* reading it for its record will tell */
    struct cursor cursor = cursor_over(made->bytes.data, made->bytes.size);
    const struct format_member m = {cell.text, "", made->bytes.size, &cursor};
    return survey_take(&l->survey, l->host, image_maker_decoder(l->records.makers[0]), &m,
                       &l->records.records[1].made.bytes, err);
}

/* Reads the table for the images alone. */
static apl_status survey_images(struct list *l, apl_error *err)
{
    for (size_t i = 0; i < l->host->file_count; i++) {
        struct list_file f;
        apl_status status = list_begin(&l->columns, i, &f, err);
        while (status == APL_OK && (status = rows_next(f.rows, err)) == APL_OK)
            status = survey_row(l, i, &f, err);
        TRY(list_end(&l->columns, &f, status, err));
    }
    l->plan = survey_plan(&l->survey, l->host);
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------------- schema */

/*
 * What is known of an image belongs to the target; without images, all but the label is input. The index of a data frame is neither: as an
 * input it would tell equal rows apart, and a split could have one of them on each side.
 */
static apl_role column_role(const struct list *l, unsigned i)
{
    if (list_describes_images(&l->columns, &l->names, i))
        return APL_NAME;
    if ((int)i == l->columns.label)
        return APL_TARGET;
    if (l->columns.indexed && strcmp(l->columns.columns[i].name, "index") == 0)
        return APL_NAME;
    return list_has_images(&l->columns) ? APL_TARGET : APL_INPUT;
}

static apl_status add_value_field(struct list *l, unsigned i, apl_error *err)
{
    const struct column *c = &l->columns.columns[i];
    size_t count = 0;
    const char *const *names = c->classes ? name_set_names(c->names, &count) : NULL;
    TRY(apl_writer_add_field(l->records.writer, c->name, c->dtype, column_role(l, i), c->ndim, c->shape,
                             err));
    return names ? apl_writer_set_classes(l->records.writer, c->name, names, count, err) : APL_OK;
}

static apl_status add_fields(struct list *l, apl_error *err)
{
    if (list_has_images(&l->columns))
        TRY(image_fields_add(l->records.writer, &l->names, &l->plan, l->host->options->keep_files, err));
    for (unsigned i = 0; i < l->columns.count; i++)
        if (list_is_value(&l->columns, i))
            TRY(add_value_field(l, i, err));
    if (!list_has_images(&l->columns))
        return APL_OK;
    return image_fields_add_beside(l->records.writer, &l->names, &l->plan, err);
}

/* ------------------------------------------------------------ reading */

/* The rows of one split in one file are a member, which begins with the first. */
static apl_status begin_list_member(struct list *l, size_t file, const char *split, uint32_t number,
                                    apl_error *err)
{
    const char *name = l->host->files[file].name;
    bool usable = utf8_valid(name, strlen(name)) && strlen(name) <= APL_MAX_NAME;
    for (const char *c = name; *c; c++)
        usable &= (uint8_t)*c >= 0x20 && *c != 0x7f;
    return l->host->not_the_source(
        l->host->user, apl_writer_begin_member(l->records.writer, usable ? name : split, split, number, err));
}

/* The next row, unless the rest of the split is other parts': then it need not be read. */
static apl_status next_own_row(const struct list *l, struct list_file *f, const char *split, apl_error *err)
{
    const struct format_host *host = l->host;
    if (!host->part || host->coming(host->user, split, INT64_MAX))
        return rows_next(f->rows, err);
    host->drop_file(host->user, f->stream);
    f->stream = NULL;
    return APL_END;
}

static apl_status read_split_rows(struct list *l, size_t file, struct list_file *f, const char *split,
                                  uint32_t number, apl_error *err)
{
    const struct format_host *host = l->host;
    apl_status status;
    bool begun = !host->part;
    if (begun)
        TRY(begin_list_member(l, file, split, number, err));
    while ((status = next_own_row(l, f, split, err)) == APL_OK) {
        bool is;
        TRY(list_split_has(&l->columns, f, split, &is, err));
        if (!is || !host->own(host->user, split, 1))
            continue;
        if (!begun)
            TRY(begin_list_member(l, file, split, number, err));
        begun = true;
        TRY(list_records_gather(&l->records, file, f, err));
    }
    return status == APL_END ? list_records_flush(&l->records, err) : status;
}

/* Has a part no row of that split in the file, as far as can be known without reading it? */
static bool has_none(const struct list *l, size_t file, const char *split)
{
    const struct format_host *host = l->host;
    return host->part && l->columns.split < 0 && !host->coming(host->user, split, l->columns.file_rows[file]);
}

static apl_status read_list_member(struct list *l, size_t file, unsigned which, uint32_t number,
                                   apl_error *err)
{
    const char *split = l->splits.split[which].name;
    struct list_file f;
    if (has_none(l, file, split)) {
        l->host->own(l->host->user, split, l->columns.file_rows[file]);
        return APL_OK;
    }
    apl_status status = list_begin(&l->columns, file, &f, err);
    if (status == APL_OK)
        status = read_split_rows(l, file, &f, split, number, err);
    return list_end(&l->columns, &f, status, err);
}

/* Where a column names the splits, each may have rows in each file; so its first member's number is its place times the files. */
static apl_status count_splits(struct list *l, apl_error *err)
{
    if (!l->host->part)
        return APL_OK;
    TRY(list_splits_count(&l->splits, &l->columns, err));
    for (unsigned s = 0; s < l->splits.count; s++)
        TRY(l->host->count(l->host->user, l->splits.split[s].name, s * (uint32_t)l->host->file_count,
                           l->splits.split[s].rows, err));
    return APL_OK;
}

static apl_status read_list(void *state, apl_error *err)
{
    struct list *l = state;
    uint32_t member = 0, files = (uint32_t)l->host->file_count;
    TRY(list_columns_read(&l->columns, err));
    TRY(list_splits_find(&l->splits, &l->columns, err));
    TRY(count_splits(l, err));
    list_name_images(&l->columns, &l->names);
    if (list_has_images(&l->columns))
        TRY(survey_images(l, err));
    TRY(l->host->writer(l->host->user, &l->records.writer, err));
    TRY(l->host->made_fields(l->host->user, add_fields(l, err), err));
    for (unsigned s = 0; s < l->splits.count; s++)
        for (size_t i = 0; i < l->host->file_count; i++) {
            uint32_t rank;
            if (l->columns.split >= 0 ||
                strcmp(list_split_of_file(&l->columns, i, &rank), l->splits.split[s].name) == 0)
                TRY(read_list_member(l, i, s, l->host->part ? s * files + (uint32_t)i : member++, err));
        }
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- open and close */

static apl_status finish_list(void *state, char format[32], apl_error *err)
{
    struct list *l = state;
    char text[160];
    if (l->records.appended == 0)
        return fail(err, APL_E_SOURCE, "%s: all of its rows are bad", l->host->source);
    for (unsigned i = 0; i < REMARKS; i++) {
        snprintf(text, sizeof text, "%s: %" PRIu64, image_remark_text((enum image_remark)i),
                 l->records.remarks[i]);
        if (l->records.remarks[i])
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
    list_records_free(&l->records);
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
    l->records.host = host;
    l->records.columns = &l->columns;
    l->records.plan = &l->plan;
    l->records.names = &l->names;
    apl_status status = list_records_open(&l->records, err);
    if (status != APL_OK) {
        close_list(l);
        return status;
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
    .uses = FORMAT_IMAGES | FORMAT_TABLE,
    .asked_in_folders = true,
    .open = open_table_list,
    .close = close_list,
    .sniff = sniff_list,
    .wants = wants_list,
    .parts = true,
    .read = read_list,
    .finish = finish_list,
};
