/* apldata view: what is said of fields. */
#include "cmd_view_gathered.h"
#include "describe.h"
#include "report.h"
#include "summary.h"

#include <math.h>
#include <stdlib.h>

static const char *const oddities[] = {"not a number", "infinite", "empty"};

/* The page has six digits of a number: whole ones are given in full. */
static json_t *number_json(double v)
{
    bool whole = fabs(v) < 9e15 && (v == floor(v) || fabs(v) >= 1e5);
    return whole ? json_integer(llrint(v)) : json_real(v);
}

static json_t *numbers_json(const double *v, unsigned n)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(list, number_json(v[i]));
    return list;
}

static json_t *bins_json(const struct summary *s)
{
    json_t *bins = json_array();
    for (unsigned i = 0; i < s->bins; i++)
        json_array_append_new(bins, json_count(s->bin[i]));
    return bins;
}

/* `at`: the record of each number; NULL: they are those of the records, one after another. */
static json_t *summary_json(struct view *view, const double *values, const uint32_t *at, size_t n)
{
    struct summary s;
    json_t *far = json_array();
    if (!summarise(values, n, &s)) {
        report_starved();
        return far;
    }
    for (size_t i = 0; i < s.far && i < SUMMARY_FAR; i++)
        json_array_append_new(far, view_record(view, at ? at[s.far_at[i]] : (uint32_t)s.far_at[i]));
    json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}",
                          "count", json_count(s.count), "least", number_json(s.least), "most",
                          number_json(s.most), "mean", number_json(s.mean), "deviation",
                          number_json(s.deviation), "quarters", numbers_json(s.quarter, 3), "distinct",
                          json_count(s.distinct), "common", number_json(s.common), "common_count",
                          json_count(s.common_count), "bins", bins_json(&s), "from", number_json(s.from),
                          "to", number_json(s.to), "step", number_json(isfinite(s.step) ? s.step : 0),
                          "whole", s.whole, "far", json_count(s.far), "far_records", far);
    if (s.count > 0) {
        json_object_set_new(o, "least_record", view_record(view, at ? at[s.least_at] : (uint32_t)s.least_at));
        json_object_set_new(o, "most_record", view_record(view, at ? at[s.most_at] : (uint32_t)s.most_at));
    }
    return o;
}

static int by_hash64(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static json_t *distinct_json(uint64_t *hashes, uint32_t n)
{
    uint64_t distinct = 0;
    qsort(hashes, n, sizeof *hashes, by_hash64);
    for (uint32_t i = 0; i < n; i++)
        distinct += i == 0 || hashes[i] != hashes[i - 1];
    return json_count(distinct);
}

static void add_odd(struct view *view, json_t *field, const struct gathered *g)
{
    json_t *list = json_array();
    for (unsigned what = 0; what < ODDITIES; what++) {
        json_t *examples = json_array();
        for (unsigned i = 0; i < g->odd[what] && i < MOST_EXAMPLES; i++)
            json_array_append_new(examples, view_record(view, g->odd_at[what][i]));
        if (g->odd[what])
            json_array_append(list, json_pack("{s:s, s:o, s:O}", "what", oddities[what], "records",
                                              json_count(g->odd[what]), "examples", examples));
        json_decref(examples);
    }
    json_object_set_new(field, "odd", list);
}

json_t *gathered_json(struct view *view, struct gathered *g)
{
    const apl_field *f = g->f;
    json_t *o =
        json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:b}", "name", json_text(shown(f->name)), "type",
                  type_text(f), "role", role_text(f->role), "media",
                  f->media ? json_text(shown(f->media)) : json_null(), "raw_bytes", json_count(f->raw_bytes),
                  "stored_bytes", json_count(f->stored_bytes), "image", (int)g->number == view->image_field);
    if (g->lengths)
        json_object_set_new(o, "lengths", summary_json(view, g->lengths, NULL, view->n));
    if (g->count && (int)g->number != view->class_field && f->role != APL_POSITION)
        json_object_set_new(o, "numbers", summary_json(view, g->values, g->at, g->count));
    if (g->part)
        json_object_set_new(o, "per_record", json_count(PER_RECORD));
    if (g->hashes)
        json_object_set_new(o, "distinct", distinct_json(g->hashes, view->n));
    add_odd(view, o, g);
    return o;
}

/* The aspect ratio is width over height. */
void view_add_sizes(struct view *view)
{
    double *values = calloc((size_t)view->n + 1, sizeof *values);
    static const char *const names[] = {"width", "height", "aspect"};
    json_t *sizes = json_object();
    uint64_t known = 0;
    if (!values)
        report_starved();
    for (unsigned k = 0; k < 3 && values; k++) {
        for (uint32_t i = 0; i < view->n; i++) {
            const struct image_size *s = &view->sizes[i];
            known += k == 0 && s->width;
            values[i] = !s->width ? NAN
                        : k == 0  ? s->width
                        : k == 1  ? s->height
                                  : (double)s->width / s->height;
        }
        json_object_set_new(sizes, names[k], summary_json(view, values, NULL, view->n));
    }
    if (known)
        json_object_set(view->document, "sizes", sizes);
    json_decref(sizes);
    free(values);
}
