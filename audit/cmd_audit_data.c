/* apldata audit: what its page shows beside what --json prints. */
#include "args.h"
#include "cmd_audit.h"
#include "cmd_audit_page.h"
#include "distributions.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

/* --------------------------------------------------------------------------------------------- reports */

void page_add_results(json_t *list, const struct finding *findings, unsigned count, bool judged)
{
    for (unsigned i = 0; i < count; i++) {
        const struct finding *f = &findings[i];
        const char *result = !f->rejected ? "stands" : judged || f->certain ? "rejected" : "differs";
        json_t *item = json_array_get(list, i);
        json_object_set_new(item, "result", json_string(result));
        json_object_set_new(item, "p_text", json_string(audit_p_text(f)));
    }
}

static json_t *map_json(const struct audit_map *map, const struct audit_sample *s)
{
    double due = (double)s->epochs * s->n / map->rows / map->columns;
    return json_pack("{s:i, s:i, s:f, s:o}", "rows", (int)map->rows, "columns", (int)map->columns, "due", due,
                     "share", numbers(map->share, (size_t)map->rows * map->columns));
}

/* The counts worth drawing: those seen, and those not too unlikely. */
static json_t *batches_json(const struct audit_batches *b, const struct audit_sample *s)
{
    json_t *seen = json_array(), *due = json_array();
    unsigned from = 0, to = 0;
    bool any = false;
    for (unsigned k = 0; k <= b->drawn; k++) {
        if (b->count[k] == 0 && hypergeometric_at(k, b->marked, b->drawn, s->n) < 1e-5)
            continue;
        from = any ? from : k;
        to = k;
        any = true;
    }
    for (unsigned k = from; k <= to; k++) {
        json_array_append_new(seen, json_real((double)b->count[k] / (double)b->looked_at));
        json_array_append_new(due, json_real(hypergeometric_at(k, b->marked, b->drawn, s->n)));
    }
    return json_pack("{s:i, s:i, s:o, s:i, s:o, s:o}", "drawn", (int)b->drawn, "marked", (int)b->marked,
                     "looked_at", json_count(b->looked_at), "from", (int)from, "seen", seen, "due", due);
}

void page_add_report(json_t *object, const struct audit_report *r, const struct audit_sample *s, bool judged)
{
    page_add_results(json_object_get(object, "findings"), r->findings, r->count, judged);
    if (r->map.share)
        json_object_set_new(object, "map", map_json(&r->map, s));
    if (r->lag_deviation > 0)
        json_object_set_new(object, "lags",
                            json_pack("{s:f, s:o}", "deviation", r->lag_deviation, "correlation",
                                      numbers(r->lags, AUDIT_LAGS)));
    if (r->batches.count && r->batches.looked_at)
        json_object_set_new(object, "batches", batches_json(&r->batches, s));
}

/* ----------------------------------------------------------------------------------------- in sentences */

static void threads_text(const apl_reader_options *o, char *text, size_t size)
{
    if (o->threads == APL_NO_THREADS)
        snprintf(text, size, "no threads");
    else if (o->loaders)
        snprintf(text, size, "%u + %u threads", o->loaders, o->consumers);
    else if (o->threads)
        snprintf(text, size, "%u thread%s", o->threads, o->threads == 1 ? "" : "s");
    else
        snprintf(text, size, "the default number of threads");
}

/* How the reader was opened. */
static void reader_text(const struct audit_job *job, char *text, size_t size)
{
    const apl_reader_options *o = &job->orders.options;
    char threads[40], window[60] = "the default window", lanes[20] = "";
    threads_text(o, threads, sizeof threads);
    if (o->window)
        snprintf(window, sizeof window, "a window of %s records", count_text(o->window));
    if (o->ranks.lanes > 1)
        snprintf(lanes, sizeof lanes, ", %u lanes", o->ranks.lanes);
    snprintf(text, size, "%s order%s, %s, %u bins, %s, %u rank%s%s.%s",
             o->order == APL_FREE ? "Free" : "Strict", o->fill ? " that waits for the whole split" : "",
             window, o->bins ? o->bins : 64, threads, o->ranks.world, o->ranks.world == 1 ? "" : "s", lanes,
             job->orders.delay_us ? " Threads and caller were delayed at random." : "");
}

static json_t *order_text(const struct audit_job *job)
{
    const struct audit_sample *s = &job->sample;
    char reader[300], law[200] = "", text[800];
    bool sampled = job->law.groups > 0;
    reader_text(job, reader, sizeof reader);
    if (sampled)
        audit_law_text(job, law, sizeof law);
    snprintf(text, sizeof text, "%s records in %s blocks; %s epochs of seed %llu, in batches of %s. %s%s%s%s",
             count_text(s->n), count_text(s->blocks), count_text(s->epochs), (unsigned long long)s->seed,
             count_text(s->batch), reader, sampled ? " Delivered are " : "", law, sampled ? "." : "");
    return json_text(text);
}

static json_t *introduction(const struct audit_job *job, const struct audit_result *r)
{
    char text[500];
    snprintf(text, sizeof text,
             "%u hypotheses. A p-value is the probability of what was seen, or of something more extreme, if "
             "all is right. Rejection follows Holm's procedure: the chance of any false alarm is at most %g, "
             "over all tests together.",
             audit_findings(r), job->level);
    return json_string(text);
}

static json_t *more_text(const struct overlaps *o)
{
    char text[200];
    snprintf(text, sizeof text, "Of %s pairs of splits; %s%s more share inputs.", count_text(o->pairs),
             o->more_at_least ? "at least " : "", count_text(o->more));
    return json_string(text);
}

/* -------------------------------------------------------------------------------------------- the page */

static void add_splits(json_t *document, const struct splits_report *r)
{
    char text[2600];
    for (unsigned i = 0; i < r->count; i++) {
        const struct split_report *report = &r->splits[i].report;
        json_t *split = json_array_get(json_object_get(document, "splits"), i);
        audit_split_text(r->splits[i].file, text, sizeof text);
        json_object_set_new(split, "text", json_text(text));
        page_add_results(json_object_get(split, "findings"), report->findings, report->count, true);
    }
    for (unsigned i = 0; i < r->shared_count; i++)
        json_object_set_new(json_array_get(json_object_get(document, "equal_inputs"), i), "of",
                            json_count(r->shared[i].count));
    if (r->overlaps.pairs > OVERLAPS_ALL)
        json_object_set_new(document, "more_equal_inputs", more_text(&r->overlaps));
}

int audit_write_page(const struct audit_job *job, const struct audit_result *r)
{
    char verdict[AUDIT_VERDICT];
    json_t *document = audit_json(job, r);
    bool differs = r->has_order && !r->uniform && r->order.rejected > 0;
    audit_verdict(job, r, verdict, sizeof verdict);
    json_object_update_new(document,
                           json_pack("{s:s, s:s, s:o, s:o}", "heading",
                                     "Does training see the data's own distribution?", "kind",
                                     audit_failures(r) ? "wrong"
                                     : differs         ? "differs"
                                                       : "good",
                                     "verdict", json_text(verdict), "introduction", introduction(job, r)));
    if (r->has_order) {
        json_object_set_new(document, "order", order_text(job));
        page_add_report(document, &r->order, &job->sample, r->uniform);
    }
    if (r->has_splits)
        add_splits(document, &r->splits);
    return audit_save_page(job->html, document);
}
