/* apldata audit --controls: orders that are known to be wrong must be rejected. */
#include "args.h"
#include "cmd_audit.h"
#include "cmd_audit_page.h"
#include "controls.h"
#include "json.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define MOST 16 /* controls, and a right order in front of them */

struct tried {
    const char *name, *what;
    const char *idle; /* why it was not tried; NULL: it was */
    bool wrong;
    struct audit_report report;
};

struct trials {
    struct audit_job *job;
    struct tried tried[MOST];
    unsigned count, wrong;
    unsigned as_due; /* wrong ones rejected, right ones not rejected, and those not tried */
};

static const char *word(const struct tried *t)
{
    return t->idle              ? "not tried"
           : t->report.rejected ? t->wrong ? "rejected" : "REJECTED, though it is right"
           : t->wrong           ? "NOT REJECTED"
                                : "not rejected, as is right";
}

/* "by: this, that". */
static void name_tests(const struct tried *t, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "by: ");
    for (unsigned i = 0; i < t->report.count && at < size; i++)
        if (t->report.findings[i].rejected)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at > 4 ? ", " : "",
                                   t->report.findings[i].name);
}

static void print_trial(const struct tried *t)
{
    char text[600];
    printf("%-15s %s\n", t->name, word(t));
    audit_print_wrapped(4, t->what);
    if (t->idle)
        audit_print_wrapped(4, t->idle);
    name_tests(t, text, sizeof text);
    if (t->report.rejected)
        audit_print_wrapped(4, text);
}

/* --------------------------------------------------------------------------------------------- the page */

static void verdict(const struct trials *trials, char *text, size_t size)
{
    if (trials->as_due == trials->count)
        snprintf(text, size, "Yes: each of %u wrong orders is rejected, and a right one is not.",
                 trials->wrong);
    else
        snprintf(text, size, "No: of %u orders, %u are misjudged. More epochs show more.", trials->count,
                 trials->count - trials->as_due);
}

/* ------------------------------------------------------------------------------------------------- all */

static void count_trial(struct trials *trials)
{
    struct tried *t = &trials->tried[trials->count++];
    trials->as_due += t->idle || (t->report.rejected > 0) == t->wrong;
    trials->wrong += t->wrong && !t->idle;
}

static bool try_orders(struct trials *trials)
{
    const struct audit_sample *s = &trials->job->sample;
    for (unsigned i = 0; i <= audit_control_count && i < MOST; i++) {
        struct tried *t = &trials->tried[trials->count];
        const struct control *control = i ? &audit_controls[i - 1] : &audit_right;
        *t = (struct tried){.name = control->name, .what = control->what, .wrong = i > 0};
        t->idle = control->right_of ? control->right_of(s) : NULL;
        if (!t->idle && !audit_run(s, &(struct order_source){control->order, (void *)s}, &t->report))
            return false;
        count_trial(trials);
    }
    return true;
}

/* Samples that violate the law. */
static bool try_samples(struct trials *trials)
{
    struct audit_job *job = trials->job;
    job->law.ordered = true;
    for (unsigned i = 0; i <= sampling_control_count && i < MOST; i++) {
        struct tried *t = &trials->tried[trials->count];
        const struct sampling_control *control = i ? &sampling_controls[i - 1] : &sampling_right;
        bool applies;
        *t = (struct tried){.name = control->name, .what = control->what, .wrong = i > 0};
        if (!sampling_try(&job->sample, &job->law, control, &applies, &t->report))
            return false;
        if (applies)
            count_trial(trials);
    }
    return true;
}

/* ------------------------------------------------------------------------------------ for programs, page */

static json_t *trials_json(const struct trials *trials)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < trials->count; i++) {
        const struct tried *t = &trials->tried[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:b, s:b, s:o}", "control", t->name, "what", t->what,
                                        "tried", !t->idle, "rejected", t->report.rejected > 0, "findings",
                                        audit_findings_json(t->report.findings, t->report.count)));
    }
    return json_pack("{s:b, s:o}", "ok", trials->as_due == trials->count, "controls", list);
}

static json_t *introduction(const struct audit_job *job)
{
    const struct audit_sample *s = &job->sample;
    char text[600];
    snprintf(
        text, sizeof text,
        "Orders of the records of the store: %s records in %s blocks; %s epochs of seed %llu, in batches "
        "of %s. They are made by methods in common use, and audited like those of a reader, at the level "
        "%g: this is what an audit looks like that fails.",
        count_text(s->n), count_text(s->blocks), count_text(s->epochs), (unsigned long long)s->seed,
        count_text(s->batch), s->level);
    return json_string(text);
}

static int write_page(const struct audit_job *job, const struct trials *trials)
{
    char text[200];
    json_t *document = trials_json(trials);
    verdict(trials, text, sizeof text);
    json_object_update_new(document, json_pack("{s:o, s:s, s:s, s:s, s:o}", "db", json_db(job->path),
                                               "heading", "Does the audit find wrong orders?", "kind",
                                               trials->as_due == trials->count ? "good" : "wrong", "verdict",
                                               text, "introduction", introduction(job)));
    for (unsigned i = 0; i < trials->count; i++) {
        const struct tried *t = &trials->tried[i];
        json_t *object = json_array_get(json_object_get(document, "controls"), i);
        json_object_update_new(object, json_pack("{s:s, s:b}", "result", word(t), "as_due",
                                                 (t->report.rejected > 0) == t->wrong));
        page_add_report(object, &t->report, &job->sample, true);
    }
    return audit_save_page(job->html, document);
}

static int report(const struct audit_job *job, const struct trials *trials)
{
    int status = trials->as_due == trials->count ? EXIT_SUCCESS : EXIT_FAILURE;
    if (job->html && write_page(job, trials))
        return EXIT_FAILURE;
    if (job->json)
        return print_json(trials_json(trials), status);
    for (unsigned i = 0; !job->quiet && i < trials->count; i++)
        print_trial(&trials->tried[i]);
    return status;
}

int audit_the_controls(struct audit_job *job)
{
    struct trials trials = {.job = job};
    bool tried = job->law.groups ? try_samples(&trials) : try_orders(&trials);
    int status = tried ? report(job, &trials) : failed("out of memory");
    for (unsigned i = 0; i < trials.count; i++)
        audit_report_free(&trials.tried[i].report);
    return status;
}
