/* apldata view: the records of the page, with thumbnails and all fields, as many as fit. */
#include "args.h"
#include "chunk.h"
#include "cmd_view.h"
#include "image_read.h"
#include "image_scale.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define SIDE      128u /* pixels of a thumbnail, at most */
#define SOME      128u /* records at a time */
#define MOST_TEXT 400u /* bytes of a value */
#define NUMBERS   24u  /* of a value */
#define ENTITY    6u   /* bytes that '<' takes in the data */

/* --------------------------------------------------------------------------------------------- the order */

/* First the records that the page mentions, then one of each class of each split in turn. */
struct ranked {
    uint32_t at, cls, turn;
    uint64_t splits, chance;
    bool wanted;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static int by_group(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->splits != y->splits)
        return x->splits < y->splits ? -1 : 1;
    if (x->cls != y->cls)
        return x->cls < y->cls ? -1 : 1;
    return x->chance < y->chance ? -1 : x->chance > y->chance;
}

static int by_turn(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->wanted != y->wanted)
        return y->wanted - x->wanted;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return by_group(a, b);
}

static struct ranked *rank_records(const struct view *view)
{
    struct ranked *all = malloc(((size_t)view->n + 1) * sizeof *all);
    for (uint32_t i = 0; all && i < view->n; i++)
        all[i] = (struct ranked){i, view->classes[i], 0, view->in_splits[i], mix(i + 1), view->wanted[i]};
    if (!all)
        return NULL;
    qsort(all, view->n, sizeof *all, by_group);
    for (uint32_t i = 1; i < view->n; i++)
        if (all[i].splits == all[i - 1].splits && all[i].cls == all[i - 1].cls)
            all[i].turn = all[i - 1].turn + 1;
    qsort(all, view->n, sizeof *all, by_turn);
    return all;
}

/* -------------------------------------------------------------------------------------------- thumbnails */

struct making {
    struct view *view;
    uint64_t ids[SOME]; /* ascending */
    uint32_t at[SOME];
    size_t n;
    json_t *records[SOME];
    unsigned fields[APL_MAX_FIELDS], count; /* those whose values are read */
};

static size_t row_of(const struct making *m, uint64_t id)
{
    size_t i = 0;
    while (i + 1 < m->n && m->ids[i] != id)
        i++;
    return i;
}

static int take_thumbnail(void *user, uint64_t id, const struct image *image, const char *why)
{
    struct making *m = user;
    json_t *record = m->records[row_of(m, id)];
    json_object_set_new(record, image ? "image" : "why", image ? view_data_uri(image) : json_text(why));
    return 0;
}

/* --------------------------------------------------------------------------------------------- the fields */

/* A list of texts, each on a line. */
static json_t *texts_json(const struct value *v)
{
    char *text = NULL;
    size_t size = 0, length;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; out && i < value_texts(v) && i < NUMBERS; i++) {
        const uint8_t *one = value_text(v, i, &length);
        fprintf(out, "%s%.*s", i ? "\n" : "", (int)length, (const char *)one);
    }
    bool bad = !out || fclose(out) != 0;
    json_t *string = bad ? NULL : json_shown((const uint8_t *)text, size, MOST_TEXT);
    free(text);
    if (!string)
        report_starved();
    return string;
}

static json_t *text_json(const apl_field *f, const struct value *v)
{
    char *text = NULL;
    size_t size = 0;
    if (v->dtype == APL_UTF8 && v->ndim == 1)
        return json_shown(v->data, v->bytes, MOST_TEXT);
    if (v->dtype == APL_UTF8)
        return texts_json(v);
    FILE *out = open_memstream(&text, &size);
    size_t row = v->ndim > 1 && v->shape[v->ndim - 1] ? (size_t)v->shape[v->ndim - 1] : NUMBERS;
    for (size_t i = 0; out && i < v->elements && i < NUMBERS; i++)
        fprintf(out, "%s%s", !i ? "" : i % row ? " " : "\n", element_text(v, i));
    if (out && v->elements > NUMBERS)
        fprintf(out, " ... (%s values)", count_text(v->elements));
    if (out && v->elements == 1 && f->class_count && dtype_is_unsigned(v->dtype) &&
        value_unsigned(v, 0) < f->class_count)
        fprintf(out, " (%s)", shown(f->classes[value_unsigned(v, 0)]));
    bool bad = !out || fclose(out) != 0;
    json_t *string = bad ? NULL : json_text(text);
    free(text);
    if (!string)
        report_starved();
    return string;
}

static json_t *values_json(const struct making *m, const apl_batch *batch, size_t row)
{
    json_t *values = json_array();
    for (unsigned i = 0; i < m->view->info->fields; i++) {
        const apl_column *c = batch ? apl_batch_column(batch, i) : NULL;
        const apl_field *f = apl_store_field(m->view->store, i);
        struct value v = c ? value_of(c, row, apl_batch_rows(batch)) : (struct value){0};
        json_array_append_new(values, c ? text_json(f, &v) : json_null());
    }
    return values;
}

static json_t *splits_of(uint64_t mask)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < MOST_SPLITS; i++)
        if (mask >> i & 1)
            json_array_append_new(list, json_integer(i));
    return list;
}

static json_t *record_json(const struct making *m, size_t i, const apl_batch *batch)
{
    const struct view *view = m->view;
    uint32_t at = m->at[i];
    json_t *o = json_pack("{s:o, s:o, s:o}", "id", json_count(m->ids[i]), "splits",
                          splits_of(view->in_splits[at]), "values", values_json(m, batch, i));
    if (view->classes[at] != NO_CLASS && view->class_count)
        json_object_set_new(o, "class", json_count(view->classes[at]));
    if (view->sizes[at].width) {
        json_object_set_new(o, "width", json_count(view->sizes[at].width));
        json_object_set_new(o, "height", json_count(view->sizes[at].height));
    }
    return o;
}

/* ------------------------------------------------------------------------------------------------- some */

static int read_fields(struct making *m)
{
    apl_batch *batch = NULL;
    int status = 0;
    if (m->count > 0)
        status = chunk_get(m->view->store, m->ids, m->n, m->fields, m->count, m->view->threads, &batch);
    for (size_t i = 0; i < m->n && !status; i++)
        m->records[i] = record_json(m, i, batch);
    apl_batch_release(batch);
    return status;
}

static int make_some(struct making *m)
{
    struct view *view = m->view;
    int status = read_fields(m);
    if (status || view->image_field < 0)
        return status;
    const struct image_request request = {.store = view->store,
                                          .field = (unsigned)view->image_field,
                                          .ids = m->ids,
                                          .count = m->n,
                                          .width = SIDE,
                                          .height = SIDE,
                                          .threads = view->threads,
                                          .take = take_thumbnail,
                                          .user = m};
    return images_read(&request);
}

/* What a record takes on the page. */
static size_t size_of(const json_t *record)
{
    char *text = json_dumps(record, JSON_COMPACT);
    size_t size = 2;
    for (const char *c = text; c && *c; c++)
        size += *c == '<' ? ENTITY : 1;
    if (!text)
        report_starved();
    free(text);
    return size;
}

static int by_place(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Moves those that fit into the list; false: one did not. */
static bool keep_some(struct making *m, json_t *list, size_t *left)
{
    bool fits = true;
    for (size_t i = 0; i < m->n; i++) {
        size_t size = m->records[i] ? size_of(m->records[i]) : 0;
        fits &= size <= *left;
        if (fits) {
            *left -= size;
            json_array_append(list, m->records[i]);
        }
        json_decref(m->records[i]);
        m->records[i] = NULL;
    }
    return fits;
}

static bool is_read(const struct view *view, unsigned field)
{
    return (int)field != view->image_field && view_reads(view, field);
}

int view_records(struct view *view, size_t bytes)
{
    struct making *m = calloc(1, sizeof *m);
    struct ranked *order = rank_records(view);
    json_t *list = json_array();
    int status = m && order ? 0 : failed("out of memory");
    bool fits = true;
    for (unsigned i = 0; m && i < view->info->fields; i++)
        if (is_read(view, i))
            m->fields[m->count++] = i;
    for (uint32_t from = 0; from < view->n && !status && fits; from += SOME) {
        m->view = view;
        m->n = view->n - from < SOME ? view->n - from : SOME;
        for (size_t i = 0; i < m->n; i++)
            m->at[i] = order[from + i].at;
        qsort(m->at, m->n, sizeof *m->at, by_place);
        for (size_t i = 0; i < m->n; i++)
            m->ids[i] = view->ids[m->at[i]];
        status = make_some(m);
        fits = keep_some(m, list, &bytes);
        if (!status && !view_goes_on(view, "drawing", from, view->n))
            status = EXIT_FAILURE;
    }
    json_object_set_new(view->document, "records", list);
    free(order);
    free(m);
    return status;
}
