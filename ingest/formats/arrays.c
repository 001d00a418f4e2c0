/* Rows of several arrays to records: see arrays.h. */
#include "array_rows.h"

#include "file_name.h"
#include "said_kinds.h"

#include <inttypes.h>
#include <stdio.h>

struct arrays {
    const struct format_host *host;
    struct array *all;
    size_t count, room;
    apl_writer *writer;
    struct array_rows columns[ARRAYS_MAX]; /* of the split being read */
    size_t column_count;
    uint64_t records, row; /* that have been appended; of the one being appended */
};

struct arrays *arrays_new(const struct format_host *host)
{
    struct arrays *a = calloc(1, sizeof *a);
    if (a)
        a->host = host;
    return a;
}

void arrays_free(struct arrays *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < ARRAYS_MAX; i++) {
        buffer_free(&a->columns[i].row);
        buffer_free(&a->columns[i].swapped);
    }
    free(a->all);
    free(a);
}

bool is_label_name(const char *field)
{
    static const char *const names[] = {"label", "labels",  "target", "targets",
                                        "class", "classes", "y",      NULL};
    return word_in(field, names);
}

/* ------------------------------------------------------------------------------------------------ what there is */

static bool same_split(const struct array *a, const struct array *b)
{
    return strcmp(a->split, b->split) == 0;
}

static bool same_field(const struct array *a, const struct array *b)
{
    return strcmp(a->field, b->field) == 0;
}

/* Bytes of a row; 0: more than a value may have. */
static uint64_t bytes_of_row(const struct array *array)
{
    uint64_t bytes = apl_dtype_size(array->dtype);
    for (unsigned d = 0; d < array->ndim; d++) {
        if (array->shape[d] < 1 || (uint64_t)array->shape[d] > APL_MAX_VALUE / bytes)
            return 0;
        bytes *= (uint64_t)array->shape[d];
    }
    return bytes;
}

apl_status array_open_part(const struct format_host *host, size_t file, uint64_t begin,
                           const struct array *array, uint64_t row, uint64_t count,
                           struct format_stream **stream, apl_error *err)
{
    uint64_t stride = array->stride ? array->stride : bytes_of_row(array), size = host->files[file].size;
    uint64_t rows = size > begin ? (size - begin) / stride : 0;
    if (row + count > rows)
        return fail(err, APL_E_INCOMPLETE,
                    "%s: ends early, in row %" PRIu64 " of %" PRIu64 ": it is truncated", array->path, rows,
                    array->rows);
    const struct format_part part = {.name = array->path,
                                     .offset = begin + row * stride,
                                     .packed = count * stride,
                                     .size = count * stride};
    return host->open_part(host->user, file, &part, stream, err);
}

apl_status arrays_add(struct arrays *a, const struct array *array, apl_error *err)
{
    for (size_t i = 0; i < a->count; i++)
        if (same_split(&a->all[i], array) && same_field(&a->all[i], array))
            return fail(err, APL_E_SOURCE, "%s: is a second array %s of the split %s, beside %s", array->path,
                        array->field, array->split, a->all[i].path);
    if (bytes_of_row(array) == 0)
        return fail(err, APL_E_SOURCE, "%s: has rows that are empty or have more than %u bytes", array->path,
                    APL_MAX_VALUE);
    if (a->count == a->room) {
        size_t room = a->room ? 2 * a->room : 8;
        struct array *all = realloc(a->all, room * sizeof *all);
        if (!all)
            return fail_nomem(err);
        a->all = all;
        a->room = room;
    }
    size_t at = a->count++;
    for (; at > 0 && a->all[at - 1].order > array->order; at--)
        a->all[at] = a->all[at - 1];
    a->all[at] = *array;
    return APL_OK;
}

static const struct array *find_array(const struct arrays *a, const char *split, const char *field)
{
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->all[i].split, split) == 0 && strcmp(a->all[i].field, field) == 0)
            return &a->all[i];
    return NULL;
}

static apl_status check_like(const struct array *array, const struct array *first, apl_error *err)
{
    if (array->dtype != first->dtype || array->ndim != first->ndim ||
        memcmp(array->shape, first->shape, array->ndim * sizeof *array->shape) != 0)
        return fail(err, APL_E_SOURCE, "%s: has rows of another type or shape than %s", array->path,
                    first->path);
    return APL_OK;
}

/* Every split has the fields of the first one's, of the same types; and its arrays have equally many rows. */
static apl_status check_arrays(const struct arrays *a, apl_error *err)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct array *array = &a->all[i];
        for (size_t j = 0; j < a->count; j++) {
            const struct array *other = &a->all[j];
            if (same_split(array, other) && array->rows != other->rows)
                return fail(err, APL_E_SOURCE, "%s: has %s, but %s has %" PRIu64, array->path,
                            number_of(array->rows, "row", "rows"), other->path, other->rows);
            if (!same_split(array, other) && !find_array(a, other->split, array->field))
                return fail(err, APL_E_INCOMPLETE,
                            "%s: the split %s has an array %s, but the split %s has none", array->path,
                            array->split, array->field, other->split);
            if (same_field(array, other))
                TRY(check_like(other, array, err));
        }
    }
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- records */

/* Labels: one integer a record. */
static bool can_have_classes(const struct array *array)
{
    return array->ndim == 0 && array->dtype >= APL_U8 && array->dtype <= APL_I64 &&
           is_label_name(array->field);
}

/* What labels with names of classes become, whatever type they came in. */
static apl_dtype class_type(size_t classes)
{
    return classes <= 256 ? APL_U8 : classes <= 65536 ? APL_U16 : APL_U32;
}

static apl_status add_array_kind(const struct arrays *a, const struct array *array, apl_error *err)
{
    bool guessed = (int)array->kind == 0 && can_have_classes(array);
    apl_kind_id kind = guessed ? APL_KIND_LABEL : array->kind;
    apl_origin origin = guessed ? APL_GUESSED : APL_FROM_SOURCE;
    return (int)kind ? said_kinds_set(a->writer, array->field, kind, array->form, NULL, origin, err) : APL_OK;
}

static apl_status add_array_field(struct arrays *a, struct array_rows *c, apl_error *err)
{
    const apl_ingest_options *options = a->host->options;
    const struct array *array = c->array;
    apl_role role = (int)array->role ? array->role : is_label_name(array->field) ? APL_TARGET : APL_INPUT;
    if (!c->as_class) {
        TRY(apl_writer_add_field(a->writer, array->field, array->dtype, role, array->ndim, array->shape,
                                 err));
        return add_array_kind(a, array, err);
    }
    TRY(apl_writer_add_field(a->writer, array->field, class_type(options->class_count), role, 0, NULL, err));
    TRY(add_array_kind(a, array, err));
    return apl_writer_set_classes(a->writer, array->field, options->classes, options->class_count, err);
}

static apl_status add_array_fields(struct arrays *a, apl_error *err)
{
    for (size_t i = 0; i < a->column_count; i++)
        TRY(add_array_field(a, &a->columns[i], err));
    return APL_OK;
}

/* A label beyond the classes makes its record a bad one. */
static apl_status take_label(const struct arrays *a, struct array_rows *c, uint64_t row, bool *bad,
                             apl_error *err)
{
    bool is_signed = c->array->dtype == APL_I8 || c->array->dtype == APL_I16 || c->array->dtype == APL_I32 ||
                     c->array->dtype == APL_I64;
    uint64_t classes = a->host->options->class_count, label = load_le(c->at, (unsigned)c->row_bytes);
    unsigned shift = 64 - 8 * (unsigned)c->row_bytes;
    char place[1100];
    apl_error why;
    c->label = (uint32_t)label;
    c->at = (const uint8_t *)&c->label;
    if (label < classes)
        return APL_OK;
    *bad = true;
    if (is_signed)
        fail(&why, APL_E_SOURCE, "label %" PRId64 " is not of 0 to %" PRIu64 ", the classes",
             (int64_t)(label << shift) >> shift, classes - 1);
    else
        fail(&why, APL_E_SOURCE, "label %" PRIu64 " is not of 0 to %" PRIu64 ", the classes", label,
             classes - 1);
    snprintf(place, sizeof place, "%s: row %" PRIu64, c->array->path, row);
    return a->host->bad(a->host->user, place, &why, err);
}

static apl_status append_row_of(struct arrays *a, uint64_t row, apl_error *err)
{
    apl_value values[ARRAYS_MAX];
    bool bad = false;
    for (size_t i = 0; i < a->column_count; i++) {
        struct array_rows *c = &a->columns[i];
        TRY(array_rows_next(c, row, err));
        if (c->as_class && !bad)
            TRY(take_label(a, c, row, &bad, err));
        values[i] = (apl_value){c->at, NULL};
    }
    if (bad)
        return APL_OK;
    a->records++;
    a->row = row;
    return a->host->append(a->host->user, values, err);
}

const char *arrays_where(const struct arrays *a, char *out, size_t size)
{
    snprintf(out, size, "%s: row %" PRIu64, a->columns[0].array->path, a->row);
    return out;
}

/* The column that reads the rows of which this is a field. */
static struct array_rows *leader_of(struct arrays *a, struct array_rows *c)
{
    for (size_t i = 0; c->array->shares && i < a->column_count; i++)
        if (a->columns[i].array->shares == c->array->shares)
            return &a->columns[i];
    return c;
}

/* What the rows are read from: the ingest's own, where they can be read alone, or all. */
static apl_status open_rows(struct array_rows *c, apl_error *err)
{
    const struct array *array = c->array;
    if (c->leader != c || array->rows_at)
        return APL_OK;
    c->apart = c->host->part && array->open_rows;
    return c->apart ? array->open_rows(array->user, array, c->from, c->to - c->from, &c->stream, err)
                    : array->open(array->user, array, &c->stream, err);
}

static apl_status open_column(struct arrays *a, struct array_rows *c, const struct array *array,
                              apl_error *err)
{
    c->host = a->host;
    c->array = array;
    c->row_bytes = (size_t)bytes_of_row(array);
    c->stride = array->stride ? (size_t)array->stride : c->row_bytes;
    c->gathered = 0;
    c->stream = NULL;
    c->leader = leader_of(a, c);
    c->as_class = a->host->options->class_count > 0 && can_have_classes(array);
    uint64_t first, count;
    a->host->share(a->host->user, array->split, &first, &count);
    c->from = first;
    c->to = count < array->rows ? first + count : array->rows;
    TRY(open_rows(c, err));
    return array_rows_pass(c, err);
}

/* Opens the columns of a split: fields in the order in which the first split has them. */
static apl_status open_columns(struct arrays *a, const struct array *first, apl_error *err)
{
    a->column_count = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (!same_split(&a->all[i], &a->all[0]))
            continue;
        if (a->column_count == ARRAYS_MAX)
            return fail(err, APL_E_SOURCE, "%s: has more than %u arrays", a->host->source, ARRAYS_MAX);
        struct array_rows *c = &a->columns[a->column_count++];
        TRY(open_column(a, c, find_array(a, first->split, a->all[i].field), err));
    }
    return APL_OK;
}

static apl_status close_columns(struct arrays *a, apl_error *err)
{
    for (size_t i = 0; i < a->column_count; i++) {
        struct array_rows *c = &a->columns[i];
        if (c->stream && c->to < c->array->rows && !c->apart) { /* the rest is other parts' */
            a->host->drop_file(a->host->user, c->stream);
            c->stream = NULL;
        }
        if (c->stream && !cursor_at_end(c->stream->cursor) && cursor_ok(c->stream->cursor))
            return fail(err, APL_E_SOURCE, "%s: has bytes behind its %s", c->array->path,
                        number_of(c->array->rows, "row", "rows"));
        TRY(a->host->close_file(a->host->user, c->stream, err));
        c->stream = NULL;
    }
    return APL_OK;
}

static apl_status read_split(struct arrays *a, const struct array *first, apl_error *err)
{
    bool begun = a->writer != NULL;
    uint64_t from, count;
    a->host->share(a->host->user, first->split, &from, &count);
    TRY(open_columns(a, first, err));
    TRY(a->host->writer(a->host->user, &a->writer, err));
    if (!begun)
        TRY(a->host->made_fields(a->host->user, add_array_fields(a, err), err));
    if (count == 0)
        return close_columns(a, err);
    TRY(a->host->not_the_source(a->host->user, apl_writer_begin_member(a->writer, first->split, first->split,
                                                                       first->split_rank, err)));
    for (uint64_t row = from; row < first->rows && row - from < count; row++)
        TRY(append_row_of(a, row, err));
    return close_columns(a, err);
}

/* The first array of the split that comes after the one of that rank; NULL: none does. */
static const struct array *next_split(const struct arrays *a, int64_t after)
{
    const struct array *next = NULL;
    for (size_t i = 0; i < a->count; i++)
        if ((int64_t)a->all[i].split_rank > after && (!next || a->all[i].split_rank < next->split_rank))
            next = &a->all[i];
    return next;
}

/* Classes that are given must be those of something. */
static apl_status check_given_classes(const struct arrays *a, apl_error *err)
{
    if (a->host->options->class_count == 0)
        return APL_OK;
    for (size_t i = 0; i < a->count; i++)
        if (can_have_classes(&a->all[i]))
            return APL_OK;
    return fail(err, APL_E_INVALID, "%s: has no labels that the classes could be of: one integer a record",
                a->host->source);
}

apl_status arrays_read(struct arrays *a, apl_error *err)
{
    TRY(check_given_classes(a, err));
    TRY(check_arrays(a, err));
    for (const struct array *first = next_split(a, -1); first; first = next_split(a, first->split_rank))
        TRY(a->host->count(a->host->user, first->split, first->split_rank, first->rows, err));
    for (const struct array *first = next_split(a, -1); first; first = next_split(a, first->split_rank))
        TRY(read_split(a, first, err));
    return a->records > 0 ? APL_OK : fail(err, APL_E_SOURCE, "%s: has no records", a->host->source);
}
