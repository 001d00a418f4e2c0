/* apldata check --json. */
#include "cmd_check.h"
#include "report.h"
#include "splits.h"

#include <stdlib.h>

static json_t *split_json(apl_store *store, const struct audited_split *s)
{
    json_t *object = split_file_json(store, s->file, false), *tests = json_array();
    for (unsigned i = 0; i < s->report.count; i++) {
        const struct finding *f = &s->report.findings[i];
        json_array_append_new(tests, json_pack("{s:s, s:f, s:b, s:s}", "test", f->name, "p", f->p, "rejected",
                                               f->rejected, "detail", f->detail));
    }
    json_object_set_new(object, "findings", tests);
    return object;
}

static json_t *balance_json(const struct balance *b)
{
    json_t *classes = json_array();
    for (uint64_t k = 0; k < b->count; k++) {
        const struct class_share *s = &b->classes[k];
        json_array_append_new(classes,
                              json_pack("{s:o, s:f, s:f, s:f, s:f, s:b}", "records", json_count(s->records),
                                        "share", s->share, "expected", s->expected, "low", s->low, "high",
                                        s->high, "outside", s->outside));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "split", json_text(b->split), "whole",
                     b->whole ? json_text(b->whole) : json_null(), "outside", json_count(b->outside),
                     "classes", classes);
}

static json_t *pair_json(const struct check_report *r, const struct checked_pair *p)
{
    json_t *nearest = json_array();
    for (uint64_t i = 0; i < p->near; i++)
        json_array_append_new(nearest,
                              json_pack("[o, o, i]", json_count(p->nearest[i].id),
                                        json_count(p->nearest[i].other), (int)p->nearest[i].distance));
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o}", "split", json_text(p->split), "other",
                               json_text(p->other), "records", json_count(p->records), "in_both",
                               json_count(p->in_both), "equal_inputs", json_count(p->equal));
    if (p->group)
        json_object_update_new(
            object, json_pack("{s:o, s:o}", "group", json_text(p->group), "grouped", json_count(p->grouped)));
    if (r->image_field >= 0)
        json_object_set_new(object, "near_duplicates", nearest);
    else
        json_decref(nearest);
    return object;
}

static json_t *repeats_json(const struct repeats_report *r)
{
    json_t *all = json_array();
    for (size_t i = 0; i < r->count; i++) {
        const struct repeats *is = &r->splits[i];
        json_t *list = json_array();
        for (size_t k = 0; k < is->count; k++)
            json_array_append_new(
                list, json_pack("[o, o]", json_count(is->list[k].id), json_count(is->list[k].first)));
        json_array_append_new(all, json_pack("{s:o, s:o, s:o}", "split", json_text(is->split), "records",
                                             json_count(is->records), "repeats", list));
    }
    return all;
}

/* What was compared by looks; null: nothing. */
static json_t *images_json(const apl_store *store, const struct check_report *r)
{
    const struct looks *l = &r->looks;
    if (!l->index)
        return json_null();
    const apl_field *f = apl_store_field(store, (unsigned)r->image_field);
    json_t *first = l->unread ? json_pack("{s:o, s:o}", "id", json_count(l->first_unread), "why",
                                          json_text(l->why_unread))
                              : json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "field", json_text(f->name), "media",
                     f->media ? json_text(f->media) : json_null(), "compared", json_count(l->images),
                     "undecodable", json_count(l->unread), "first_undecodable", first);
}

int check_print_json(const struct check_job *job, const struct check_report *r)
{
    int status = check_failures(r) ? EXIT_FAILURE : EXIT_SUCCESS;
    json_t *splits = json_array(), *balances = json_array(), *pairs = json_array();
    for (unsigned i = 0; i < r->splits.count; i++)
        json_array_append_new(splits, split_json(job->store, &r->splits.splits[i]));
    for (size_t i = 0; i < r->balance_count; i++)
        json_array_append_new(balances, balance_json(&r->balances[i]));
    for (size_t i = 0; i < r->pair_count; i++)
        json_array_append_new(pairs, pair_json(r, &r->pairs[i]));
    json_t *near = json_null();
    if (r->image_field >= 0)
        near = json_integer((json_int_t)job->options.near);
    json_t *level = job->options.statistics ? json_real(job->options.level) : json_null();
    return print_json(json_pack("{s:b, s:o, s:i, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:i, s:i}",
                                "ok", status == EXIT_SUCCESS, "db", json_db(job->path), "wrong",
                                (int)check_failures(r), "level", level, "seconds", job->seconds, "near_bits",
                                near, "images", images_json(job->store, r), "splits", splits, "balances",
                                balances, "pairs", pairs, "repeated", repeats_json(&r->repeats),
                                "unlisted_pairs_that_share", json_count(r->more), "at_least",
                                r->more_at_least, "unusable_split_files", (int)r->splits.unusable,
                                "splits_of_other_lists", (int)r->splits.of_other_lists),
                      status);
}
