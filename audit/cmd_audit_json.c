/* apldata audit: what it found, for programs. */
#include "cmd_audit.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>

static double finite(double v)
{
    return isfinite(v) ? v : 0;
}

static json_t *finding_json(const struct finding *f)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:s, s:s, s:b, s:b}", "test", f->name, "hypothesis",
                     f->hypothesis, "statistic", f->statistic, "value", finite(f->value), "df", finite(f->df),
                     "p", f->p, "detectable", finite(f->effect), "detectable_unit", f->unit, "detail",
                     f->detail, "rejected", f->rejected, "exact", f->certain);
}

json_t *audit_findings_json(const struct finding *findings, unsigned count)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(list, finding_json(&findings[i]));
    return list;
}

static json_t *splits_json(const struct splits_report *r)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < r->count; i++) {
        const struct audited_split *s = &r->splits[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:f, s:o}", "name", json_text(s->file->name),
                                              "records", json_count(s->file->records), "rest",
                                              json_text(s->file->rest), "ratio", s->file->ratio, "findings",
                                              audit_findings_json(s->report.findings, s->report.count)));
    }
    return list;
}

static json_t *shared_json(const struct splits_report *r)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < r->shared_count; i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "split", json_text(r->shared[i].other),
                                              "with", json_text(r->shared[i].name), "records",
                                              json_count(r->shared[i].records)));
    return list;
}

static json_t *windows_json(const struct windows *w)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < w->count; i++) {
        const struct window_point *p = &w->points[i];
        json_array_append_new(
            list, json_pack("{s:o, s:{s:f, s:f}, s:{s:f, s:f}}", "window", json_count(p->window), "stored",
                            "neighbours", p->stored.neighbours, "classes", p->stored.classes, "shuffled",
                            "neighbours", p->shuffled.neighbours, "classes", p->shuffled.classes));
    }
    return list;
}

static json_t *not_tested_json(const struct audit_job *job)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < job->not_tested_count; i++)
        json_array_append_new(list, json_string(job->not_tested[i]));
    return list;
}

json_t *audit_json(const struct audit_job *job, const struct audit_result *r)
{
    const struct audit_sample *s = &job->sample;
    json_t *object = json_pack("{s:b, s:o, s:f, s:f}", "ok", audit_failures(r) == 0, "db", json_db(job->path),
                               "level", job->level, "seconds", r->seconds);
    if (object && r->has_order)
        json_object_update_new(object, json_pack("{s:b, s:I, s:I, s:I, s:o}", "judged_as_uniform", r->uniform,
                                                 "records", (json_int_t)s->n, "epochs", (json_int_t)s->epochs,
                                                 "seed", (json_int_t)s->seed, "findings",
                                                 audit_findings_json(r->order.findings, r->order.count)));
    if (object && r->has_order)
        json_object_set_new(object, "not_tested", not_tested_json(job));
    if (object && job->law.groups) {
        char law[200];
        audit_law_text(job, law, sizeof law);
        json_object_set_new(object, "sampled", json_text(law));
    }
    if (object && r->windows.count > 0)
        json_object_set_new(object, "windows", windows_json(&r->windows));
    if (object && r->has_splits)
        json_object_update_new(
            object, json_pack("{s:o, s:o, s:I, s:I}", "splits", splits_json(&r->splits), "equal_inputs",
                              shared_json(&r->splits), "unusable_split_files", (json_int_t)r->splits.unusable,
                              "splits_of_other_lists", (json_int_t)r->splits.of_other_lists));
    return object;
}

int audit_print_json(const struct audit_job *job, const struct audit_result *r)
{
    return print_json(audit_json(job, r), audit_failures(r) ? EXIT_FAILURE : EXIT_SUCCESS);
}
