/* apldata view: the page. */
#include "args.h"
#include "cmd_view.h"
#include "describe.h"
#include "page.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* page/ with styles and scripts put in, made at build. */
extern const char *const view_page_lines[];

/* --------------------------------------------------------------------------------------------- the classes */

static json_t *class_names(const struct view *view)
{
    json_t *names = json_array();
    const apl_field *f = apl_store_field(view->store, (unsigned)view->class_field);
    bool whole = dtype_is_unsigned(f->dtype);
    for (uint32_t i = 0; i < view->class_count && i < MOST_NAMES; i++) {
        char number[24];
        uint64_t v = view->classes_found ? view->classes_found[i] : 0;
        snprintf(number, sizeof number, whole ? "%llu" : "%lld", (unsigned long long)v);
        json_array_append_new(names, json_text(f->class_count ? shown(f->classes[i]) : number));
    }
    return names;
}

/* The records of a class in the sample, which is all there is where classes have no names. */
static json_t *sampled_counts(const struct view *view, unsigned split)
{
    uint64_t *counts = calloc((size_t)view->class_count + 1, sizeof *counts);
    json_t *list = json_array();
    for (uint32_t i = 0; counts && i < view->n; i++)
        if (view->classes[i] != NO_CLASS && view->in_splits[i] >> split & 1)
            counts[view->classes[i]]++;
    for (uint32_t c = 0; counts && c < view->class_count && c < MOST_NAMES; c++)
        json_array_append_new(list, json_count(counts[c]));
    if (!counts)
        report_starved();
    free(counts);
    return list;
}

static json_t *all_counts(const struct view *view, const char *split)
{
    uint64_t *counts = split_counts(view->store, split, (unsigned)view->class_field);
    json_t *list = json_array();
    for (uint32_t c = 0; counts && c < view->class_count && c < MOST_NAMES; c++)
        json_array_append_new(list, json_count(counts[c]));
    free(counts);
    return list;
}

/* -------------------------------------------------------------------------------------------- the splits */

static void add_counts(const struct view *view, json_t *split, unsigned number)
{
    bool named =
        view->class_field >= 0 && apl_store_field(view->store, (unsigned)view->class_field)->class_count;
    if (view->class_field >= 0)
        json_object_set_new(split, "classes",
                            named ? all_counts(view, view->splits.names[number])
                                  : sampled_counts(view, number));
}

static json_t *own_split(const apl_split *s)
{
    return json_pack("{s:o, s:o, s:n, s:s}", "name", json_text(shown(s->name)), "records",
                     json_count(s->count), "parent", "rule", "of the source");
}

static json_t *made_split(const apl_split_file *f, bool rest)
{
    return json_pack("{s:o, s:o, s:o, s:s}", "name", json_text(shown(rest ? f->rest : f->name)), "records",
                     json_count(rest ? f->rest_records : f->records), "parent", json_text(shown(f->parent)),
                     "rule", rest ? "the rest" : split_rule_text(f));
}

/* In the order of view->splits; of more than MOST_SPLITS, those are left out that records cannot be listed by. */
static json_t *splits_json(const struct view *view)
{
    const apl_split_file *f;
    json_t *list = json_array();
    for (unsigned i = 0; i < view->info->splits && i < MOST_SPLITS; i++)
        json_array_append_new(list, own_split(apl_store_split(view->store, i)));
    for (size_t i = 0; (f = apl_split_list_file(view->splits.list, i)); i++)
        for (int rest = 0; rest < 2 && f->status == APL_OK; rest++)
            if (json_array_size(list) < MOST_SPLITS)
                json_array_append_new(list, made_split(f, rest));
    for (unsigned i = 0; i < json_array_size(list); i++)
        add_counts(view, json_array_get(list, i), i);
    return list;
}

/* --------------------------------------------------------------------------------------------- mean images */

static uint8_t to_byte(double v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : lrint(v));
}

static json_t *class_means(const struct view *view)
{
    const struct means *m = &view->means;
    size_t values = (size_t)3 * m->width * m->height;
    struct image image = {m->width, m->height, 3, 1, malloc(values)};
    json_t *list = json_array();
    for (unsigned c = 0; image.pixels && c < view->class_count && c < MOST_MEANS; c++) {
        for (size_t i = 0; i < values && m->class_count[c]; i++)
            image.pixels[i] = to_byte((double)m->class_sum[c * values + i] / (double)m->class_count[c]);
        json_array_append_new(list, m->class_count[c] ? view_data_uri(&image) : json_null());
    }
    image_free(&image);
    return list;
}

static double deviation_at(const struct means *m, size_t i)
{
    double mean = m->sum[i] / (double)m->count, squares = m->squares[i] / (double)m->count - mean * mean;
    return squares > 0 ? sqrt(squares) : 0;
}

/* The largest deviation is white. */
static json_t *means_json(const struct view *view)
{
    const struct means *m = &view->means;
    size_t values = (size_t)3 * m->width * m->height;
    double most = 1e-9;
    struct image mean = {m->width, m->height, 3, 1, malloc(values)},
                 spread = {m->width, m->height, 3, 1, malloc(values)};
    for (size_t i = 0; i < values; i++)
        most = fmax(most, deviation_at(m, i));
    for (size_t i = 0; mean.pixels && spread.pixels && i < values; i++) {
        mean.pixels[i] = to_byte(m->sum[i] / (double)m->count);
        spread.pixels[i] = to_byte(deviation_at(m, i) * 255 / most);
    }
    json_t *o = mean.pixels && spread.pixels
                    ? json_pack("{s:o, s:o, s:f, s:o, s:i, s:i}", "mean", view_data_uri(&mean), "deviation",
                                view_data_uri(&spread), "most", most, "images", json_count(m->count), "width",
                                (int)m->width, "height", (int)m->height)
                    : NULL;
    if (!o)
        report_starved();
    if (o && view->class_count > 1 && view->class_count <= MOST_MEANS)
        json_object_set_new(o, "classes", class_means(view));
    image_free(&mean);
    image_free(&spread);
    return o;
}

/* -------------------------------------------------------------------------------------------- the document */

/* Images that could not be decoded. */
static json_t *undecoded(struct view *view)
{
    json_t *examples = json_array();
    uint64_t count = 0;
    for (uint32_t i = 0; i < view->n; i++)
        if (!view->is_image[i] && count++ < MOST_EXAMPLES)
            json_array_append_new(examples, view_record(view, i));
    return json_pack("{s:o, s:o}", "records", json_count(count), "examples", examples);
}

static json_t *facts(const struct view *view)
{
    char text[600];
    bool all = view->n == view->info->records;
    snprintf(text, sizeof text, "%s, %s decoded, stored in %s. %s%s", counted(view->info->records, "record"),
             size_text(view->info->raw_bytes), size_text(view->info->file_bytes),
             all ? "All" : count_text(view->n),
             all ? " were looked at."
                 : " of them, spread evenly over the store, were looked at: what follows describes these, "
                   "except for the counts of classes and splits.");
    return json_text(text);
}

int view_head(struct view *view)
{
    json_t *d = view->document;
    json_object_update_new(d, json_pack("{s:o, s:o, s:o, s:o, s:o, s:i}", "db", json_db(view->path), "facts",
                                        facts(view), "total", json_count(view->info->records), "sampled",
                                        json_count(view->n), "splits", splits_json(view), "image_field",
                                        view->image_field));
    if (view->class_field >= 0 && view->class_count)
        json_object_update_new(d,
                               json_pack("{s:o, s:i, s:o, s:b}", "classes", class_names(view), "class_field",
                                         view->class_field, "class_count", json_count(view->class_count),
                                         "class_exact", !view->classes_found));
    if (view->means.count > 0)
        json_object_set_new(d, "means", means_json(view));
    if (view->image_field >= 0)
        json_object_set_new(d, "undecoded", undecoded(view));
    return report_complete(0);
}

/* ------------------------------------------------------------------------------------------------ the page */

static void put_title(FILE *out, const json_t *document)
{
    fputs("View of ", out);
    page_put_text(out, page_text_of(document, "db"));
}

static void put_kind(FILE *out, const json_t *document)
{
    (void)document;
    fputs("facts", out);
}

static void put_facts(FILE *out, const json_t *document)
{
    page_put_text(out, page_text_of(document, "facts"));
}

static void put_row(FILE *out, const json_t *row, const char *const *keys, unsigned count)
{
    fputs("<tr>", out);
    for (unsigned i = 0; i < count; i++) {
        const json_t *cell = json_object_get(row, keys[i]);
        fputs("<td>", out);
        if (json_is_integer(cell))
            fputs(count_text((uint64_t)json_integer_value(cell)), out);
        else
            page_put_text(out, page_text_of(row, keys[i]));
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

static void put_table(FILE *out, const json_t *rows, const char *title, const char *const *keys,
                      unsigned count)
{
    size_t i;
    json_t *row;
    fprintf(out, "<h2>%s</h2>\n<table><thead><tr>", title);
    for (unsigned k = 0; k < count; k++)
        fprintf(out, "<th>%s</th>", keys[k]);
    fputs("</tr></thead><tbody>\n", out);
    json_array_foreach(rows, i, row) put_row(out, row, keys, count);
    fputs("</tbody></table>\n", out);
}

static void put_results(FILE *out, const json_t *document)
{
    static const char *const fields[] = {"name", "type", "role"}, *const splits[] = {"name", "records",
                                                                                     "rule"};
    put_table(out, json_object_get(document, "fields"), "Fields", fields, 3);
    put_table(out, json_object_get(document, "splits"), "Splits", splits, 3);
}

const struct page *view_page(void)
{
    static const struct page_place places[] = {{"@title@\n", put_title},
                                               {"@heading@\n", put_title},
                                               {"@kind@\n", put_kind},
                                               {"@summary@\n", put_facts},
                                               {"@results@\n", put_results}};
    static const struct page page = {view_page_lines, places, sizeof places / sizeof *places};
    return &page;
}

int view_save(struct view *view)
{
    json_t *document = view->document;
    view->document = NULL;
    return page_save(view->output, view_page(), document);
}
