/*
 * Tables of records as a format: CSV, TSV and lines of JSON, with columns of paths of images and masks, or without. The table is read once to learn
 * what its columns are, then once for each split; images are gathered, decoded on all cores, and appended in the order of rows.
 */
#include "class_notes.h"
#include "drawn.h"
#include "file_name.h"
#include "list_images.h"
#include "list_kinds.h"
#include "list_names.h"
#include "list_notes.h"
#include "list_records.h"
#include "list_split_column.h"
#include "list_splits.h"
#include "list_strays.h"
#include "said_kinds.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>

struct list {
    const struct format_host *host;
    struct list_columns columns;
    struct list_splits splits;
    struct list_strays strays;
    struct survey surveys[LIST_IMAGES];
    struct list_plan plans[LIST_IMAGES];
    struct list_records records;
};

/* -------------------------------------------------------------------------------------------------- survey */

/* The image or mask of a row. Reading it for its record will tell what is wrong with it. Of those that need not be looked at, parts read some,
 * which tells the source from one with other images. */
static apl_status survey_image(struct list *l, size_t file, unsigned k, const char *path, apl_error *err)
{
    struct list_record *spare = l->records.records;
    struct buffer *bytes = &spare[0].images[0].made.bytes;
    struct image_decoder *decoder = image_maker_decoder(l->records.makers[0]);
    bool mask = l->columns.images[k].mask;
    apl_error damage;
    bool wanted = mask || survey_wants(&l->surveys[k], l->host, path);
    if (!wanted && !(l->host->part && is_drawn(l->surveys[k].passed - 1)))
        return APL_OK;
    if (l->host->read_beside(l->host->user, file, path, bytes, &damage) != APL_OK || !wanted)
        return APL_OK;
    if (mask)
        return mask_survey_take(&l->surveys[k], &l->host->images, decoder, bytes, err);
    struct cursor cursor = cursor_over(bytes->data, bytes->size);
    const struct format_member m = {path, "", bytes->size, &cursor};
    return survey_take(&l->surveys[k], l->host, decoder, &m, &spare[1].images[0].made.bytes, err);
}

static apl_status survey_row(struct list *l, size_t file, struct list_file *f, apl_error *err)
{
    struct cell cell;
    const char *split;
    if (rows_fault(f->rows))
        return APL_OK;
    TRY(list_split_word(&l->columns, f, file, &split, err));
    for (unsigned k = 0; k < l->columns.image_count; k++) {
        TRY(list_cell(&l->columns, f, l->columns.images[k].column, &cell, err));
        list_strays_take(&l->strays, split, cell.text, file, rows_number(f->rows));
        TRY(survey_image(l, file, k, cell.text, err));
    }
    return APL_OK;
}

/* Reads the table for the images alone. */
static apl_status survey_images(struct list *l, apl_error *err)
{
    for (size_t i = 0; i < l->host->file_count; i++) {
        struct list_file f;
        apl_status status = list_begin(&l->columns, i, &f, err);
        while (status == APL_OK && (status = list_next(&l->columns, &f, err)) == APL_OK)
            status = survey_row(l, i, &f, err);
        TRY(list_end(&l->columns, &f, status, err));
    }
    list_strays_tell(&l->strays, &l->columns);
    for (unsigned k = 0; k < l->columns.image_count; k++)
        l->plans[k].plan = l->columns.images[k].mask ? mask_plan(&l->surveys[k], &l->host->images)
                                                     : survey_plan(&l->surveys[k], l->host);
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------------- schema */

static bool describes_images(const struct list *l, unsigned i)
{
    for (unsigned k = 0; k < l->columns.image_count; k++)
        if (list_describes_image(&l->columns, &l->plans[k].names, i))
            return true;
    return false;
}

/*
 * What is known of an image belongs to the target; without images, all but the label is input. The index of a data frame is neither: as an
 * input it would tell equal rows apart, and a split could have one of them on each side.
 */
static apl_role column_role(const struct list *l, unsigned i)
{
    if (describes_images(l, i))
        return APL_NAME;
    if ((int)i == l->columns.label)
        return APL_TARGET;
    if (l->columns.indexed && strcmp(l->columns.columns[i].name, "index") == 0)
        return APL_NAME;
    return list_has_images(&l->columns) ? APL_TARGET : APL_INPUT;
}

/* That the column called label is one, is a guess, unless --label says so. What describes images, APL itself has written. */
static apl_status set_value_kind(const struct list *l, unsigned i, apl_error *err)
{
    const struct column *c = &l->columns.columns[i];
    bool label = (int)i == l->columns.label, described = describes_images(l, i);
    apl_kind_id kind = label                  ? APL_KIND_LABEL
                       : c->dtype == APL_UTF8 ? APL_KIND_TEXT
                       : described            ? APL_KIND_PLAIN
                                              : APL_KIND_NONE;
    apl_origin origin = label && l->host->options->label_column ? APL_DECLARED
                        : label || described                    ? APL_GUESSED
                                                                : APL_FROM_SOURCE;
    if ((int)kind == 0 || (label && c->dtype >= APL_F16 && c->dtype <= APL_F64))
        return APL_OK;
    return said_kinds_set(l->records.writer, c->name, kind, APL_FORM_NONE, NULL, origin, err);
}

static apl_status add_value_field(struct list *l, unsigned i, apl_error *err)
{
    const struct column *c = &l->columns.columns[i];
    size_t count = 0;
    const char *const *names = c->classes ? name_set_names(c->names, &count) : NULL;
    TRY(apl_writer_add_field(l->records.writer, c->name, c->dtype, column_role(l, i), c->ndim, c->shape,
                             err));
    TRY(set_value_kind(l, i, err));
    if (!names)
        return APL_OK;
    class_notes_tell(l->host, c->name, names, count);
    return apl_writer_set_classes(l->records.writer, c->name, names, count, err);
}

static apl_status add_image_field(struct list *l, unsigned k, apl_error *err)
{
    return image_fields_add(l->records.writer, &l->plans[k].names, &l->plans[k].plan,
                            l->host->options->keep_files, err);
}

/* What is beside an image. */
static apl_status add_fields_beside(struct list *l, unsigned image, apl_error *err)
{
    return image_fields_add_beside(l->records.writer, &l->plans[image].names, &l->plans[image].plan, err);
}

/* The first image, the columns in their order, and what is beside each image. */
static apl_status add_fields(struct list *l, apl_error *err)
{
    if (list_has_images(&l->columns))
        TRY(add_image_field(l, 0, err));
    for (unsigned i = 0; i < l->columns.count; i++) {
        int image = list_image_of(&l->columns, i);
        if (image > 0)
            TRY(add_image_field(l, (unsigned)image, err));
        if (list_is_value(&l->columns, i))
            TRY(add_value_field(l, i, err));
    }
    if (list_has_images(&l->columns))
        TRY(add_fields_beside(l, 0, err));
    for (unsigned i = 0; i < l->columns.count; i++)
        if (list_image_of(&l->columns, i) > 0)
            TRY(add_fields_beside(l, (unsigned)list_image_of(&l->columns, i), err));
    return APL_OK;
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
        return list_next(&l->columns, f, err);
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
        TRY(list_split_has(&l->splits, &l->columns, f, split, &is, err));
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
    list_tell_of_names(&l->columns);
    TRY(list_images_find(&l->columns, err));
    list_kinds_shape(&l->columns);
    TRY(list_columns_decide(&l->columns, err));
    list_tell_of_types(&l->columns);
    TRY(list_find_split_column(&l->columns, err));
    list_images_tell(&l->columns);
    TRY(list_splits_find(&l->splits, &l->columns, err));
    TRY(count_splits(l, err));
    for (unsigned k = 0; k < l->columns.image_count; k++)
        list_name_images(&l->columns, k, &l->plans[k].names);
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
    if (l->records.appended == 0)
        return fail(err, APL_E_SOURCE, "%s: all of its rows are bad", l->host->source);
    image_tally_tell(&l->records.tally, l->host);
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
    l->columns.split = l->columns.label = -1;
    l->records.host = host;
    l->records.columns = &l->columns;
    l->records.plans = l->plans;
    apl_status status = list_records_open(&l->records, err);
    if (status != APL_OK) {
        close_list(l);
        return status;
    }
    *state = l;
    return APL_OK;
}

bool path_is_table(const char *path)
{
    enum rows_kind kind;
    const char *slash = strrchr(path, '/');
    char name[256];
    size_t bare;
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
    if (ends_packed(name, &bare))
        name[bare] = 0;
    return list_kind(name, &kind);
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

static bool moves_in_list(const void *state, const apl_field *field)
{
    const struct list *l = state;
    return list_kinds_moves(&l->columns, field);
}

static const char *where_in_list(const void *state, char *out, size_t size)
{
    const struct list *l = state;
    return list_records_where(&l->records, out, size);
}

const struct format format_list = {
    .name = "list",
    .title = "tables in CSV, TSV or JSON lines, with paths of images or without",
    .uses = FORMAT_IMAGES | FORMAT_TABLE | FORMAT_MASKS,
    .asked_in_folders = true,
    .open = open_table_list,
    .close = close_list,
    .sniff = sniff_list,
    .wants = wants_list,
    .parts = true,
    .read = read_list,
    .moves = moves_in_list,
    .where = where_in_list,
    .finish = finish_list,
};
