/* apldata audit: is what training sees the data's own distribution? */
#include "args.h"
#include "cmd.h"
#include "controls.h"
#include "reader_args.h"
#include "reader_orders.h"
#include "report.h"
#include "table.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: apldata audit [OPTION]... DB\n"
    "Test whether the orders in which a reader hands out a split of the store DB are what they should be: "
    "each record\n"
    "exactly once an epoch, in a uniformly random order, independent of the other epochs and of all timing.\n"
    "\n"
    "      --epochs N            to look at (default: 100)\n"
    "      --level P             the chance of a false alarm, all tests together (0.01)\n"
    "      --controls            audit orders that are known to be wrong: each must be rejected\n"
    "      --load                decode the values too; otherwise ids alone, which come in the same order\n"
    "      --json                print one JSON object\n"
    "  -q, --quiet               print nothing: the exit status tells\n"
    "  -h, --help                print this help\n"
    "\n"
    "The reader:\n"
    "      --split NAME          default: the first of the store\n"
    "      --batch-size N        records in a batch (256)\n"
    "      --order ORDER         strict (default) or free\n"
    "      --seed N, --first-epoch N    default: 0\n"
    "      --window N            records that mix (default: all of the split, if 4 GiB hold them)\n"
    "      --bins N              1 to 4096 (64)\n"
    "      --world W             as W processes that share an epoch: all of them, put together\n"
    "      --lanes N             deal blocks to N lanes, a multiple of W\n"
    "      --threads N, --loaders N, --consumers N, --queue-depth N    as for apldata bench\n"
    "\n"
    "Exit status: 0 if nothing is rejected (with --controls: if every control is), 1 if something is, 2 for "
    "wrong use.\n"
    "A window that does not cover the split, lanes and free order are not uniform, and are told of, but not "
    "judged.\n";

#define DEFAULT_EPOCHS 100

struct job {
    const char *path;
    bool json, quiet, controls, load;
    double level;
    struct reader_args args;
    struct reader_choice choice;
    apl_store *store;
    struct reader_orders orders;
    struct audit_sample sample;
};

/* ---------------------------------------------------------------------------------------------- timing */

/* The same epoch by other numbers of threads, with values loaded and a caller that dawdles, must be the same. */
static bool same_however_timed(struct job *job, uint64_t *compared, bool *same)
{
    static const unsigned threads[] = {APL_NO_THREADS, 1, 2, 8};
    uint32_t n = job->sample.n, *first = malloc(n * sizeof *first), *other = malloc(n * sizeof *other);
    bool ok = first && other;
    *same = true;
    *compared = 0;
    for (size_t i = 0; ok && i < sizeof threads / sizeof *threads; i++) {
        struct reader_orders o = job->orders;
        o.readers = NULL;
        o.load = true;
        o.delay_us = i % 2 ? 200 : 0;
        o.options.threads = threads[i];
        o.options.loaders = o.options.consumers = 0;
        ok = reader_orders_take(&o, job->sample.seed, job->sample.first_epoch, i ? other : first);
        *same &= !ok || i == 0 || memcmp(first, other, n * sizeof *first) == 0;
        *compared += ok;
        job->orders.error = o.error;
        o.ids = NULL; /* they are the job's */
        reader_orders_close(&o, &(struct audit_sample){.n = 0});
    }
    free(first);
    free(other);
    return ok;
}

static bool add_timing(struct job *job, struct audit_report *report)
{
    uint64_t compared;
    bool same;
    if (!same_however_timed(job, &compared, &same))
        return false;
    struct finding *f = &report->findings[report->count++];
    *f = (struct finding){
        .name = "timing", .statistic = "orders that differ", .value = !same, .p = same, .effect = 1};
    f->hypothesis = "the order does not depend on threads, nor on how long anything takes";
    f->unit = "record (nothing is left to chance)";
    f->rejected = !same;
    report->rejected += !same;
    snprintf(f->detail, sizeof f->detail, "%llu runs with 0, 1, 2 and 8 threads, with and without delays",
             (unsigned long long)compared);
    return true;
}

/* --------------------------------------------------------------------------------------------- verdict */

static bool is_uniform(const struct job *job)
{
    const apl_reader_options *o = &job->choice.options;
    return o->order == APL_STRICT && o->lanes <= 1 && (o->window == 0 || o->window >= job->sample.n);
}

/* What rejects an order that is not meant to be uniform. */
static unsigned rejections(const struct job *job, const struct audit_report *report)
{
    unsigned n = 0;
    for (unsigned i = 0; i < report->count; i++) {
        const char *name = report->findings[i].name;
        bool certain = strcmp(name, audit_once.name) == 0 || strcmp(name, "timing") == 0;
        n += report->findings[i].rejected && (certain || is_uniform(job));
    }
    return n;
}

static const char *p_text(double p)
{
    return p < 1e-99 ? "0" : number_text(p < 0.001 ? "%.1e" : "%.3f", p);
}

static int print_findings(const struct audit_report *report)
{
    struct table table = TABLE("llrll");
    table_add(&table, "test");
    table_add(&table, "statistic");
    table_add(&table, "p");
    table_add(&table, "");
    table_add(&table, "seen; what would be found");
    for (unsigned i = 0; i < report->count; i++) {
        const struct finding *f = &report->findings[i];
        char text[400], statistic[200];
        snprintf(statistic, sizeof statistic, f->df ? "%s = %.5g, df %.0f" : "%s = %.5g", f->statistic,
                 f->value, f->df);
        snprintf(text, sizeof text, "%s; %.2g %s", f->detail, f->effect, f->unit);
        table_add(&table, f->name);
        table_add(&table, statistic);
        table_add(&table, p_text(f->p));
        table_add(&table, f->rejected ? "REJECTED" : "");
        table_add(&table, text);
    }
    return table_print(&table);
}

static void print_verdict(const struct job *job, const struct audit_report *report)
{
    unsigned n = rejections(job, report);
    if (n > 0)
        printf("\n%u of %u hypotheses are rejected: the order is not what it should be.\n", n, report->count);
    else if (is_uniform(job))
        printf("\nNothing is rejected: what training sees is a uniform permutation of the split, as far as "
               "%llu epochs can "
               "tell.\n",
               (unsigned long long)job->sample.epochs);
    else
        printf("\nEach record comes exactly once. This order is not meant to be uniform over the split%s; "
               "the table tells how "
               "far it is from that.\n",
               report->rejected ? "" : ", though nothing here tells it from that");
    printf("The chance of a false alarm is at most %g, all tests together (Holm's procedure).\n",
           job->sample.level);
}

static json_t *finding_json(const struct finding *f)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:s, s:s, s:b}", "test", f->name, "hypothesis",
                     f->hypothesis, "statistic", f->statistic, "value", isfinite(f->value) ? f->value : 0.0,
                     "df", f->df, "p", f->p, "detectable", isfinite(f->effect) ? f->effect : 0.0,
                     "detectable_unit", f->unit, "detail", f->detail, "rejected", f->rejected);
}

static json_t *findings_json(const struct audit_report *report)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < report->count; i++)
        json_array_append_new(list, finding_json(&report->findings[i]));
    return list;
}

/* ------------------------------------------------------------------------------------------------ runs */

static int report_audit(struct job *job, const struct audit_report *report, double seconds)
{
    const struct audit_sample *s = &job->sample;
    int status = rejections(job, report) ? EXIT_FAILURE : EXIT_SUCCESS;
    if (job->quiet)
        return status;
    if (job->json)
        return print_json(json_pack("{s:b, s:o, s:b, s:I, s:I, s:I, s:f, s:f, s:o}", "ok",
                                    status == EXIT_SUCCESS, "db", json_text(job->path), "judged_as_uniform",
                                    is_uniform(job), "records", (json_int_t)s->n, "epochs",
                                    (json_int_t)s->epochs, "seed", (json_int_t)s->seed, "level", s->level,
                                    "seconds", seconds, "findings", findings_json(report)),
                          status);
    printf("%s: %s records in %s blocks%s, %s epochs of seed %llu, %s\n\n", shown(job->path),
           count_text(s->n), count_text(s->blocks), s->cls ? number_text(", %.0f classes", s->classes) : "",
           count_text(s->epochs), (unsigned long long)s->seed, duration_text(seconds));
    int printed = print_findings(report);
    print_verdict(job, report);
    return printed ? printed : status;
}

static int audit_reader(struct job *job)
{
    struct audit_report report;
    struct order_source source = {reader_orders_take, &job->orders};
    double began = now_seconds();
    if (!audit_run(&job->sample, &source, &report) ||
        (job->choice.options.order == APL_STRICT && !add_timing(job, &report)))
        return failed("%s",
                      job->orders.error.message[0] ? job->orders.error.message : "memory could not be had");
    int status = report_audit(job, &report, now_seconds() - began);
    audit_report_free(&report);
    return status;
}

/* Names of the tests that reject, for people. */
static const char *rejecting(const struct audit_report *report, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (unsigned i = 0; i < report->count && at < size; i++)
        if (report->findings[i].rejected)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", report->findings[i].name);
    return text;
}

static bool run_control(struct job *job, const struct control *control, struct audit_report *report)
{
    struct order_source source = {control->order, &job->sample};
    return audit_run(&job->sample, &source, report);
}

static int audit_the_controls(struct job *job)
{
    json_t *list = json_array();
    unsigned passed = 0;
    for (unsigned i = 0; i <= audit_control_count; i++) {
        const struct control *c = i ? &audit_controls[i - 1] : &audit_right;
        struct audit_report report;
        char text[400];
        if (!run_control(job, c, &report))
            return failed("memory could not be had");
        bool as_due = (report.rejected > 0) == (i > 0);
        passed += as_due;
        if (!job->json && !job->quiet)
            printf("%-15s %s: %s\n%s%s%s", c->name,
                   report.rejected ? "rejected"
                   : i             ? "NOT REJECTED"
                                   : "not rejected",
                   c->what, report.rejected ? "                by " : "",
                   rejecting(&report, text, sizeof text), report.rejected ? "\n" : "");
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:b, s:o}", "control", c->name, "what", c->what,
                                        "rejected", report.rejected > 0, "findings", findings_json(&report)));
        audit_report_free(&report);
    }
    int status = passed == audit_control_count + 1 ? EXIT_SUCCESS : EXIT_FAILURE;
    if (job->json)
        return print_json(json_pack("{s:b, s:o}", "ok", status == EXIT_SUCCESS, "controls", list), status);
    json_decref(list);
    return status;
}

static int run_audit(struct job *job)
{
    apl_error err;
    if (apl_store_open(job->path, NULL, &job->store, &err) != APL_OK)
        return failed("%s", err.message);
    int status = EXIT_FAILURE;
    apl_status opened =
        reader_orders_open(job->store, &job->choice.options, &job->orders, &job->sample, &err);
    job->orders.load = job->load;
    job->sample.level = job->level;
    job->sample.epochs = reader_args_given(&job->args, "epochs") ? job->choice.epochs : DEFAULT_EPOCHS;
    if (opened != APL_OK)
        status = failed("%s: %s", shown(job->path), err.message);
    else
        status = job->controls ? audit_the_controls(job) : audit_reader(job);
    reader_orders_close(&job->orders, &job->sample);
    apl_store_close(job->store);
    return status;
}

static int parse_level(const char *text, double *level)
{
    char *end;
    *level = strtod(text, &end);
    return *text && !*end && *level > 0 && *level < 1
               ? 0
               : misuse("--level: a chance between 0 and 1 is needed, not '%s'", shown(text));
}

static int parse(struct job *job, int argc, char **argv)
{
    enum { OPT_JSON = 256 - 16, OPT_CONTROLS, OPT_LOAD, OPT_LEVEL };
    struct option options[READER_ARGS_MAX + 8] = {
        {"json", no_argument, NULL, OPT_JSON}, {"controls", no_argument, NULL, OPT_CONTROLS},
        {"load", no_argument, NULL, OPT_LOAD}, {"level", required_argument, NULL, OPT_LEVEL},
        {"quiet", no_argument, NULL, 'q'},     {"help", no_argument, NULL, 'h'},
    };
    int opt, status = 0;
    reader_args_getopt(FOR_AUDIT, options);
    while (!status && (opt = getopt_long(argc, argv, ":qh", options, NULL)) != -1)
        switch (opt) {
        case 'h':
            fputs(help, stdout);
            return -1;
        case 'q':
            job->quiet = true;
            break;
        case OPT_JSON:
            job->json = true;
            break;
        case OPT_CONTROLS:
            job->controls = true;
            break;
        case OPT_LOAD:
            job->load = true;
            break;
        case OPT_LEVEL:
            status = parse_level(optarg, &job->level);
            break;
        default:
            status = opt >= READER_ARGS_OPT ? reader_args_take(&job->args, opt, optarg)
                                            : misused_option(argv, opt);
        }
    if (!status && optind + 1 != argc)
        status = misuse(optind == argc ? "which store?" : "one store at a time");
    if (!status && reader_args_choices(&job->args) != 1)
        status = misuse("one choice of each option at a time");
    if (!status) {
        job->path = argv[optind];
        reader_args_choose(&job->args, 0, &job->choice);
    }
    return status;
}

int cmd_audit(int argc, char **argv)
{
    struct job job = {.level = 0.01, .args = {.who = FOR_AUDIT}};
    int status = parse(&job, argc, argv);
    if (status == 0)
        status = run_audit(&job);
    reader_args_free(&job.args);
    return status < 0 ? EXIT_SUCCESS : status;
}
