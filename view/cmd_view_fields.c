/* apldata view: what the fields hold. */
#include "args.h"
#include "characters.h"
#include "chunk.h"
#include "cmd_view_gathered.h"
#include "describe.h"
#include "digest.h"
#include "image_read.h"
#include "report.h"
#include "summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FILES  ((uint64_t)1 << 30) /* bytes of files that are read for their headers */
#define MOST_LABELS 1000u               /* different numbers that count as classes */

struct gathering {
    struct view *view;
    struct gathered fields[APL_MAX_FIELDS];
    unsigned numbers[APL_MAX_FIELDS], count;
    int64_t *labels; /* of a class field without names */
};

/* ------------------------------------------------------------------------------------------ what is read */

/* Sizes of files stand in their headers, unless the store has them beside. */
static bool wants_headers(const struct view *view, unsigned field)
{
    char name[APL_MAX_NAME + 8];
    const apl_field *f = apl_store_field(view->store, field);
    return (int)field == view->image_field && f->media && !image_shape_field(view->store, field, name) &&
           (double)f->raw_bytes * view->n <= (double)MOST_FILES * (double)view->info->records;
}

static bool begin_field(struct gathered *g, const struct view *view)
{
    bool image = (int)g->number == view->image_field, text = g->f->dtype == APL_UTF8, varies = false;
    for (unsigned i = 0; i < g->f->ndim; i++)
        varies |= g->f->shape[i] < 0;
    if (image || g->f->media)
        return true;
    g->lengths = text || varies ? calloc((size_t)view->n + 1, sizeof *g->lengths) : NULL;
    g->hashes = text ? calloc((size_t)view->n + 1, sizeof *g->hashes) : NULL;
    return (!(text || varies) || g->lengths) && (!text || g->hashes);
}

static int begin_all(struct gathering *all, struct view *view)
{
    bool ok = true, inputs = false, whole = true;
    for (unsigned i = 0; i < view->info->fields; i++) {
        struct gathered *g = &all->fields[i];
        *g = (struct gathered){.number = i, .f = apl_store_field(view->store, i)};
        bool reads = view_reads(view, i) || wants_headers(view, i);
        ok &= begin_field(g, view);
        inputs |= g->f->role == APL_INPUT;
        whole &= g->f->role != APL_INPUT || reads;
        if (reads)
            all->numbers[all->count++] = i;
    }
    if (inputs && whole)
        view->digests = calloc((size_t)view->n + 1, sizeof *view->digests);
    all->labels = calloc((size_t)view->n + 1, sizeof *all->labels);
    ok &= all->labels && (view->digests || !inputs || !whole);
    return ok ? 0 : failed("out of memory");
}

static void end_all(struct gathering *all)
{
    for (unsigned i = 0; i < APL_MAX_FIELDS; i++) {
        free(all->fields[i].values);
        free(all->fields[i].at);
        free(all->fields[i].lengths);
        free(all->fields[i].hashes);
    }
    free(all->labels);
}

/* ------------------------------------------------------------------------------------------------ values */

static void note_odd(struct gathered *g, enum oddity what, uint32_t at)
{
    if (g->odd[what] < MOST_EXAMPLES)
        g->odd_at[what][g->odd[what]] = at;
    g->odd[what]++;
}

static bool keep_number(struct gathered *g, uint32_t at, double v)
{
    if (g->count == g->room) {
        size_t room = 2 * g->room + 1024;
        double *values = realloc(g->values, room * sizeof *values);
        uint32_t *places = realloc(g->at, room * sizeof *places);
        g->values = values ? values : g->values;
        g->at = places ? places : g->at;
        if (!values || !places)
            return false;
        g->room = room;
    }
    g->values[g->count] = v;
    g->at[g->count++] = at;
    return true;
}

static bool take_numbers(struct gathered *g, uint32_t at, const struct value *v)
{
    bool nan = false, infinite = false, ok = true, real = g->f->dtype >= APL_F16 && g->f->dtype <= APL_F64;
    for (size_t i = 0; real && i < v->elements; i++) {
        double number = value_number(v, i);
        nan |= isnan(number);
        infinite |= isinf(number) != 0;
    }
    if (nan)
        note_odd(g, ODD_NAN, at);
    if (infinite)
        note_odd(g, ODD_INFINITE, at);
    size_t some = v->elements < PER_RECORD ? v->elements : PER_RECORD;
    g->part |= v->elements > some;
    for (size_t i = 0; i < some && ok; i++)
        ok = keep_number(g, at, value_number(v, i * v->elements / some));
    return ok;
}

/* Whether values have rows, as boxes, f32[*,4], do. */
static bool has_rows(const apl_field *f)
{
    bool rows = f->ndim > 1 && f->shape[0] < 0;
    for (unsigned i = 1; i < f->ndim; i++)
        rows &= f->shape[i] > 0;
    return rows;
}

static bool take_value(struct gathered *g, struct view *view, uint32_t at, const struct value *v)
{
    bool text = g->f->dtype == APL_UTF8, list = text && g->f->ndim > 1;
    if ((int)g->number == view->image_field) {
        (void)image_size_of(g->f, v, &view->sizes[at]);
        return true;
    }
    if (g->f->media)
        return true;
    if (g->lengths)
        g->lengths[at] = list             ? (double)value_texts(v)
                         : text           ? (double)count_characters(v->data, v->bytes)
                         : has_rows(g->f) ? (double)v->shape[0]
                                          : (double)v->elements;
    if (g->lengths && v->elements == 0)
        note_odd(g, ODD_EMPTY, at);
    if (g->hashes)
        g->hashes[at] = digest_seeded(v->data, v->bytes, 0);
    return text || take_numbers(g, at, v);
}

/* Classes with names are numbers of these; others are ranked later. */
static void take_class(struct gathering *all, uint32_t at, const struct value *v)
{
    struct view *view = all->view;
    bool plain = dtype_is_unsigned(v->dtype);
    all->labels[at] = plain ? (int64_t)value_unsigned(v, 0) : value_signed(v, 0);
    if (apl_store_field(view->store, (unsigned)view->class_field)->class_count)
        view->classes[at] = (uint32_t)all->labels[at];
}

static void take_shape(struct view *view, uint32_t at, const struct value *v)
{
    view->sizes[at] = (struct image_size){(uint32_t)value_unsigned(v, 2), (uint32_t)value_unsigned(v, 1),
                                          (uint32_t)value_unsigned(v, 0)};
}

static bool take_row(struct gathering *all, const apl_batch *batch, size_t row, uint32_t at, int shape_field)
{
    struct view *view = all->view;
    bool ok = true;
    for (unsigned i = 0; i < all->count && ok; i++) {
        struct gathered *g = &all->fields[all->numbers[i]];
        struct value v = value_of(apl_batch_column(batch, g->number), row, apl_batch_rows(batch));
        if (view->digests && g->f->role == APL_INPUT) {
            uint64_t shaped = digest_seeded(v.shape, v.ndim * sizeof *v.shape, view->digests[at]);
            view->digests[at] = digest_seeded(v.data, v.bytes, shaped);
        }
        if ((int)g->number == view->class_field)
            take_class(all, at, &v);
        if ((int)g->number == shape_field)
            take_shape(view, at, &v);
        else
            ok = take_value(g, view, at, &v);
    }
    return ok;
}

static int shape_field_of(const struct view *view)
{
    char name[APL_MAX_NAME + 8];
    if (view->image_field < 0 || !apl_store_field(view->store, (unsigned)view->image_field)->media)
        return -1;
    const char *found = image_shape_field(view->store, (unsigned)view->image_field, name);
    return found ? apl_store_find_field(view->store, found) : -1;
}

static int read_all(struct gathering *all)
{
    struct view *view = all->view;
    size_t chunk = chunk_records(view->info);
    int status = 0, shape_field = shape_field_of(view);
    for (size_t from = 0; from < view->n && all->count > 0 && !status; from += chunk) {
        apl_batch *batch = NULL;
        size_t n = view->n - from < chunk ? view->n - from : chunk;
        status = chunk_get(view->store, view->ids + from, n, all->numbers, all->count, view->threads, &batch);
        for (size_t row = 0; row < n && !status; row++)
            if (!take_row(all, batch, row, (uint32_t)(from + row), shape_field))
                status = failed("out of memory");
        apl_batch_release(batch);
        if (!status && !view_goes_on(view, "reading", from + n, view->n))
            status = EXIT_FAILURE;
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------- classes */

static int by_label(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Numbers become classes, if they are few; if they are not, there are no classes. */
static int rank_labels(struct gathering *all)
{
    struct view *view = all->view;
    int64_t *sorted = malloc(((size_t)view->n + 1) * sizeof *sorted);
    uint32_t found = 0;
    if (!sorted)
        return failed("out of memory");
    memcpy(sorted, all->labels, view->n * sizeof *sorted);
    qsort(sorted, view->n, sizeof *sorted, by_label);
    for (uint32_t i = 0; i < view->n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            sorted[found++] = sorted[i];
    view->classes_found = (uint64_t *)sorted;
    view->class_count = found;
    if (found > MOST_LABELS || (found > 20 && found > view->n / 2)) {
        view->class_field = -1;
        view->class_count = 0;
    }
    for (uint32_t i = 0; i < view->n && view->class_count; i++)
        view->classes[i] =
            (uint32_t)((int64_t *)bsearch(&all->labels[i], sorted, found, sizeof *sorted, by_label) - sorted);
    return 0;
}

static int find_classes(struct gathering *all)
{
    struct view *view = all->view;
    if (view->class_field < 0)
        return 0;
    const apl_field *f = apl_store_field(view->store, (unsigned)view->class_field);
    if (!f->class_count)
        return rank_labels(all);
    view->class_count = f->class_count < NO_CLASS ? (uint32_t)f->class_count : NO_CLASS - 1;
    return 0;
}

int view_fields(struct view *view)
{
    struct gathering *all = calloc(1, sizeof *all);
    if (!all)
        return failed("out of memory");
    all->view = view;
    int status = begin_all(all, view);
    if (!status)
        status = read_all(all);
    if (!status)
        status = find_classes(all);
    json_t *fields = json_array();
    for (unsigned i = 0; i < view->info->fields && !status; i++)
        json_array_append_new(fields, gathered_json(view, &all->fields[i]));
    json_object_set_new(view->document, "fields", fields);
    if (!status)
        view_add_sizes(view);
    end_all(all);
    free(all);
    return status;
}
