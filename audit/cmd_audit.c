/* apldata audit: is what training sees the data's own distribution? */
#include "cmd_audit.h"
#include "args.h"
#include "cache_args.h"
#include "cmd.h"
#include "command_line.h"
#include "expect_args.h"
#include "inputs.h"
#include "report.h"
#include "sampling_args.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_EPOCHS 100

/* ---------------------------------------------------------------------------------------------- timing */

/* An epoch by some number of threads, with values loaded; odd choices delay threads and caller. */
static bool take_timed(struct audit_job *job, unsigned choice, uint32_t *order, uint64_t *digest)
{
    static const unsigned threads[] = {APL_NO_THREADS, 1, 2, 8};
    struct reader_orders o = job->orders;
    o.readers = NULL;
    o.load = true;
    o.raw = false;
    o.taken = job->choice.options.transform_count ? NULL : o.taken;
    o.digest = 0;
    o.delay_us = choice % 2 ? 1000 : 0;
    o.options.threads = threads[choice];
    o.options.loaders = o.options.consumers = 0;
    bool ok = reader_orders_take(&o, job->sample.seed, job->sample.first_epoch, order);
    *digest = o.digest;
    job->orders.error = o.error;
    o.ids = NULL; /* they are the job's */
    reader_orders_close(&o, &(struct audit_sample){.n = 0});
    return ok;
}

#define TIMED 4u

/* Whatever the timing, the same epoch must have the same records and the same bytes. */
static bool compare_timed(struct audit_job *job, unsigned *orders, unsigned *values)
{
    uint32_t n = job->orders.length, *first = malloc(n * sizeof *first), *other = malloc(n * sizeof *other);
    uint64_t digest, first_digest;
    bool ok = first && other && take_timed(job, 0, first, &first_digest);
    *orders = *values = 0;
    for (unsigned i = 1; ok && i < TIMED; i++) {
        ok = take_timed(job, i, other, &digest);
        *orders += ok && memcmp(first, other, n * sizeof *first) != 0;
        *values += ok && digest != first_digest;
    }
    free(first);
    free(other);
    return ok;
}

static bool add_timing(struct audit_job *job, struct audit_report *report)
{
    unsigned orders, values;
    if (!compare_timed(job, &orders, &values))
        return false;
    bool same = orders == 0 && values == 0;
    struct finding *f = &report->findings[report->count++];
    *f =
        (struct finding){.name = "timing", .certain = true, .p = same, .value = orders + values, .effect = 1};
    f->hypothesis = "neither the order nor any byte depends on threads, or on how long anything takes";
    f->statistic = "orders, and values, that differ";
    f->unit = "record (nothing is left to chance)";
    f->rejected = !same;
    report->rejected += !same;
    snprintf(f->detail, sizeof f->detail,
             same ? "%u runs by 0 to 8 threads, also delayed: equal bytes"
                  : "of %u runs by 0 to 8 threads, %u differ in order, %u in bytes",
             TIMED, orders, values);
    return true;
}

/* ------------------------------------------------------------------------------------------------ runs */

static bool is_uniform(const struct audit_job *job, bool covers)
{
    const apl_reader_options *o = &job->choice.options;
    return (o->order == APL_STRICT || o->fill) && o->ranks.lanes <= 1 && covers;
}

static apl_status audit_order(struct audit_job *job, struct audit_result *result, apl_error *err)
{
    struct order_source source = {reader_orders_take, &job->orders};
    bool covers = false;
    if (job->choice.options.order == APL_FREE) { /* timing matters: as in training, and worse */
        job->orders.load = true;
        job->orders.delay_us = 200;
    }
    apl_status status = reader_orders_covers(&job->orders, &covers, err);
    result->uniform = is_uniform(job, covers);
    if (status != APL_OK || (status = audit_values_open(job, err)) != APL_OK)
        return status;
    bool ran;
    if (job->law.groups) {
        job->law.ordered = result->uniform;
        result->uniform = true; /* all tests count */
        ran = sampling_audit(&job->sample, &job->law, &source, &result->order);
    } else {
        ran = audit_run(&job->sample, &source, &result->order);
    }
    if (ran && (status = audit_add_crops(job, &result->order, err)) != APL_OK)
        return status;
    if (ran && (job->choice.options.order != APL_STRICT || add_timing(job, &result->order)))
        return audit_add_values(job, &result->order, err);
    *err = job->orders.error;
    return err->message[0] ? err->status : inputs_error(err, APL_E_NOMEM, "out of memory");
}

/* If both families of tests run, each gets half of the level. */
static apl_status audit_all(struct audit_job *job, struct audit_result *result, apl_error *err)
{
    unsigned files = 0;
    apl_status status = splits_count(job->store, &files, err);
    result->has_order = job->scope != AUDIT_SPLITS;
    result->has_splits = job->scope == AUDIT_SPLITS || (job->scope == AUDIT_BOTH && files > 0);
    double level = result->has_order && result->has_splits ? job->level / 2 : job->level;
    job->sample.level = level;
    if (status == APL_OK && result->has_order)
        status = audit_order(job, result, err);
    if (status == APL_OK && result->has_order && job->windows)
        status = windows_measure(&job->orders, &job->sample, &result->windows, err);
    if (status == APL_OK && result->has_splits)
        status = splits_audit(job->store, level, &split_statistics, &result->splits, err);
    return status;
}

static int report_audit(struct audit_job *job, const struct audit_result *result)
{
    if (job->html && audit_write_page(job, result))
        return EXIT_FAILURE;
    if (job->json)
        return audit_print_json(job, result);
    if (!job->quiet)
        return audit_print(job, result);
    return audit_failures(result) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Most messages of the library name the store already. */
static int failed_with(const struct audit_job *job, const apl_error *err)
{
    const char *path = shown_db(job->path);
    bool named = strncmp(err->message, path, strlen(path)) == 0;
    size_t count;
    char *const *with = reader_args_items(&job->args, "with", &count);
    for (size_t i = 0; i < count; i++)
        named |= strncmp(err->message, with[i], strcspn(with[i], ":=")) == 0;
    return named ? failed("%s", err->message) : failed("%s: %s", path, err->message);
}

static int audit(struct audit_job *job)
{
    struct audit_result result = {.uniform = false};
    apl_error err = {.status = APL_OK};
    double began = now_seconds();
    apl_status status = audit_all(job, &result, &err);
    result.seconds = now_seconds() - began;
    int code = status == APL_OK ? report_audit(job, &result) : failed_with(job, &err);
    audit_report_free(&result.order);
    splits_report_free(&result.splits);
    return code;
}

/* The law, if a reader accepts the options: it refuses impossible ones. */
static apl_status law_of_reader(struct audit_job *job, apl_error *err)
{
    apl_reader *reader;
    apl_status status = apl_reader_open(job->store, &job->choice.options, &reader, err);
    if (status != APL_OK)
        return status;
    apl_reader_close(reader);
    return audit_law_open(job, err);
}

static bool all_have(const struct audit_job *job, const char *field)
{
    for (size_t i = 0; i < job->sources.mix_count; i++)
        if (apl_store_find_field(job->sources.mix[i].store, field) < 0)
            return false;
    return true;
}

/* Values come from fields that all stores have. */
static void pick_fields(struct audit_job *job)
{
    apl_reader_options *o = &job->choice.options;
    const apl_field *f;
    for (unsigned i = 0; (f = apl_store_field(job->store, i)) != NULL; i++)
        if (all_have(job, f->name))
            job->fields[o->field_count++] = f->name;
    o->fields = job->fields;
}

/* What is read and sampled, also if only stores have weights. */
static apl_status open_sources(struct audit_job *job, apl_error *err)
{
    apl_reader_options *o = &job->choice.options;
    apl_status status = sampling_args(job->store, &job->choice, err);
    if (status == APL_OK)
        status = source_args_open(&job->sources, &job->args, job->store, o->split, err);
    source_args_set(&job->sources, o);
    if (status == APL_OK && o->mix.count > 0)
        pick_fields(job);
    if (o->mix.weight > 0)
        o->sampling = &job->choice.sampling;
    return status;
}

/* What a reader refuses for training, the audit refuses too, before it tests anything. */
static apl_status try_reader(struct audit_job *job, apl_error *err)
{
    apl_reader_options o = job->choice.options;
    apl_reader *reader = NULL;
    o.loaders = o.consumers = 0;
    o.threads = APL_NO_THREADS;
    apl_status status = o.transform_count ? apl_reader_open(job->store, &o, &reader, err) : APL_OK;
    apl_reader_close(reader);
    return status;
}

static int run_audit(struct audit_job *job)
{
    apl_error err;
    if (expect_open(job->path, &job->store, &err) != APL_OK)
        return failed("%s", err.message);
    int code;
    apl_status opened = open_sources(job, &err);
    if (opened == APL_OK)
        opened = try_reader(job, &err);
    if (opened == APL_OK && (job->controls || job->scope != AUDIT_SPLITS))
        opened = reader_orders_open(job->store, &job->choice.options, &job->orders, &job->sample, &err);
    job->orders.load = job->load;
    job->sample.level = job->level;
    job->sample.epochs = reader_args_given(&job->args, "epochs") ? job->choice.epochs : DEFAULT_EPOCHS;
    if (opened == APL_OK && job->choice.options.sampling && job->orders.n)
        opened = law_of_reader(job, &err);
    if (opened != APL_OK)
        code = failed_with(job, &err);
    else
        code = job->controls ? audit_the_controls(job) : audit(job);
    audit_law_close(job);
    own_values_close(&job->values);
    reader_orders_close(&job->orders, &job->sample);
    sampling_args_free(&job->choice);
    source_args_close(&job->sources);
    apl_store_close(job->store);
    return code;
}

/* --------------------------------------------------------------------------------------------- options */

static int take_splits(void *job, const char *value)
{
    (void)value;
    ((struct audit_job *)job)->scope = AUDIT_SPLITS;
    return 0;
}

static int take_no_splits(void *job, const char *value)
{
    (void)value;
    ((struct audit_job *)job)->scope = AUDIT_ORDER;
    return 0;
}

static const struct option_row rows[] = {
    READER_ROW,
    {0, "level", "P", "chance of a false alarm, of all tests together (default: 0.01)", OPTION_CHANCE,
     offsetof(struct audit_job, level), NULL},
    {0, "splits", NULL, "only the splits, and equal inputs in those of the source", OPTION_CALL, 0,
     take_splits},
    {0, "no-splits", NULL, "only the order (default: both, where there are split files)", OPTION_CALL, 0,
     take_no_splits},
    {0, "windows", NULL, "measure how far smaller windows are from uniform", OPTION_FLAG,
     offsetof(struct audit_job, windows), NULL},
    {0, "html", "FILE", "write a page with all findings and plots", OPTION_TEXT,
     offsetof(struct audit_job, html), NULL},
    {0, "controls", NULL, "audit orders that are known to be wrong: each must be rejected", OPTION_FLAG,
     offsetof(struct audit_job, controls), NULL},
    {0, "load", NULL, "decode the values too, and compare each with its record's", OPTION_FLAG,
     offsetof(struct audit_job, load), NULL},
    CACHE_ROWS,
    EXPECT_ROW,
    {'v', "verbose", NULL, "for each test its hypothesis, its statistic, and the effect it would find",
     OPTION_FLAG, offsetof(struct audit_job, verbose), NULL},
    JSON_ROW(struct audit_job, json),
    QUIET_ROW(struct audit_job, quiet),
    HELP_ROW,
};

static const struct command_line line = {
    .head =
        "Usage: apldata audit [OPTION]... DB\n"
        "Test whether training sees the data's own distribution. Order: a reader delivers a split of the\n"
        "store DB, epoch after epoch; each record must come exactly once an epoch, in a uniformly random\n"
        "order, independent of other epochs, other seeds and all timing. Splits: those made by apldata\n"
        "split must be divided by chance, or exactly where they are stratified, with equal inputs on one\n"
        "side.\n"
        "\n",
    .tail =
        "\n"
        "With --balance, --weights, --record-weights (which needs --replacement here), --replacement or\n"
        "--epoch-records, each epoch must be a sample by that law. With --crop or --flip, places and\n"
        "flips must be uniform and independent of each other, of records and of epochs. A window that\n"
        "does not cover the split, lanes, and free order without --fill are not uniform: they are\n"
        "reported, not tested.\n"
        "Exit status: 0 if nothing is rejected (with --controls: if every control is), 1 if something is,\n"
        "2 for wrong use.\n",
    .column = 28,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .reader = FOR_AUDIT,
    .reader_args = offsetof(struct audit_job, args),
};

static int parse(struct audit_job *job, int argc, char **argv)
{
    int status = options_read(&line, job, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", NULL});
    if (!status && reader_args_choices(&job->args) != 1)
        status = misuse("an audit takes one value of each option");
    if (!status && job->windows &&
        (reader_args_given_in(&job->args, IN_SAMPLING) || reader_args_given(&job->args, "with")))
        status = misuse("--windows takes one store, and epochs that are not samples");
    if (status)
        return status;
    job->path = argv[optind];
    reader_args_choose(&job->args, 0, &job->choice);
    if (job->controls && job->choice.options.transform_count > 0)
        return misuse("--controls are orders, which no transform changes");
    const apl_ranks *ranks = &job->choice.options.ranks;
    if (ranks->lanes > 1 && ranks->world && ranks->lanes % ranks->world)
        return misuse("an audit takes --lanes that are a multiple of --world");
    return APL_OK;
}

int cmd_audit(int argc, char **argv)
{
    struct audit_job job = {.level = AUDIT_LEVEL, .args = {.who = FOR_AUDIT}};
    int status = parse(&job, argc, argv);
    if (status == 0)
        status = run_audit(&job);
    reader_args_free(&job.args);
    return options_status(status);
}
