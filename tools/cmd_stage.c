/* apldata stage: what training will read from a URL, on this machine's disk before it does. */
#include "args.h"
#include "cache_args.h"
#include "cmd.h"
#include "command_line.h"
#include "expect_args.h"
#include "interrupt.h"
#include "json.h"
#include "progress.h"
#include "reader_args.h"
#include "report.h"
#include "sampling_args.h"
#include "source_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 200 /* how often signals and the progress bar are seen to while a batch is waited for */

/* Bytes that are fetched before they are read. */
#define LEAST_AHEAD ((uint64_t)1 << 20)
#define MOST_AHEAD  ((uint64_t)128 << 20)

struct stage {
    const char *path, *directory;
    bool budgeted, json, quiet, no_progress;
    struct rank_args ranks;
    struct reader_args args;
    apl_store *store;
    apl_reader *reader;
    uint64_t epochs, records, expected; /* of a split; expected: in all epochs; 0: not known */
    uint64_t before;                    /* records of the splits before it */
    bool filled, disk_full;             /* there is no more room, by the budget or on the disk */
    apl_stats stats;
    struct progress progress;
};

/* --------------------------------------------------------------------------------------------- progress */

/* By what has been delivered or, as all blocks may have to be there before the first batch, by what has been read. */
static double fraction_of(const struct stage *s)
{
    const apl_info *info = apl_store_info(s->store);
    if (s->expected == 0)
        return -1;
    double delivered = (double)s->records / (double)s->expected,
           bytes = (double)info->file_bytes * (double)s->expected / (double)(s->epochs * info->records),
           read = bytes > 0 ? (double)s->stats.bytes_read / bytes : 0;
    double most = read > delivered ? read : delivered;
    return most < 0.99 ? most : 0.99;
}

static void show(struct stage *s)
{
    if (!s->progress.on || apl_reader_stats(s->reader, &s->stats, sizeof s->stats) != APL_OK)
        return;
    struct progress_state state = {.what = "staging",
                                   .fraction = fraction_of(s),
                                   .records = s->records,
                                   .raw_bytes = s->stats.bytes_read};
    progress_show(&s->progress, &state);
}

/* ---------------------------------------------------------------------------------------------- reading */

/* The next batch of a rank, which is as good as copied; APL_END: there are no more in this epoch. */
static apl_status take_batch(struct stage *s, unsigned rank, apl_error *err)
{
    apl_batch *batch;
    apl_status status;
    do {
        status = apl_reader_next_of(s->reader, rank, &batch, err);
        show(s);
    } while (status == APL_E_TIMEOUT && !interrupted());
    if (status == APL_OK) {
        s->records += apl_batch_rows(batch);
        apl_batch_release(batch);
    }
    return interrupted() ? APL_E_CANCELLED : status;
}

/* A step of each rank after the other, as training takes them. */
static apl_status take_steps(struct stage *s, apl_error *err)
{
    apl_status status = APL_OK;
    while (status == APL_OK)
        for (unsigned i = 0; i < s->ranks.count; i++) {
            apl_status taken = take_batch(s, s->ranks.list[i], err);
            if (taken != APL_OK && taken != APL_END)
                return taken;
            status = taken;
        }
    return APL_OK;
}

static apl_status begin_epoch(struct stage *s, apl_error *err)
{
    for (unsigned i = 0; i < s->ranks.count; i++) {
        apl_status status;
        do
            status = apl_reader_next_epoch_of(s->reader, s->ranks.list[i], err);
        while (status == APL_E_TIMEOUT && !interrupted());
        if (status != APL_OK)
            return interrupted() ? APL_E_CANCELLED : status;
    }
    return APL_OK;
}

static apl_status take_epochs(struct stage *s, apl_error *err)
{
    for (uint64_t i = 0; i < s->epochs; i++) {
        apl_status status = i ? begin_epoch(s, err) : APL_OK;
        if (status == APL_OK)
            status = take_steps(s, err);
        if (status != APL_OK)
            return status;
    }
    return APL_OK;
}

/* A split, by its options. */
static apl_status read_split(struct stage *s, apl_reader_options *o, apl_error *err)
{
    o->ranks.list = s->ranks.list;
    o->ranks.count = s->ranks.count;
    o->ranks.world = o->ranks.world ? o->ranks.world : s->ranks.highest + 1;
    o->faults.timeout_ms = LOOK_MS;
    o->stage = 1;
    apl_status status = apl_reader_open(s->store, o, &s->reader, err);
    if (status != APL_OK)
        return status;
    interrupt_catch();
    s->before += s->records;
    s->records = 0;
    s->expected =
        o->ranks.world > 1 ? 0 : s->epochs * apl_reader_batches(s->reader) * apl_reader_batch_size(s->reader);
    status = take_epochs(s, err);
    progress_clear(&s->progress);
    if (apl_reader_stats(s->reader, &s->stats, sizeof s->stats) != APL_OK)
        memset(&s->stats, 0, sizeof s->stats);
    apl_reader_close(s->reader);
    return status;
}

/* The other splits, which training will read to evaluate: as they come. */
static apl_status read_others(struct stage *s, const struct reader_choice *choice, apl_error *err)
{
    const apl_split *split;
    apl_status status = APL_OK;
    s->epochs = 1;
    s->ranks = (struct rank_args){.count = 1};
    for (unsigned i = 1; status == APL_OK && (split = apl_store_split(s->store, i)); i++) {
        apl_reader_options o = APL_READER_OPTIONS_INIT;
        o.split = split->name;
        o.fields = choice->options.fields;
        o.field_count = choice->options.field_count;
        o.faults.skip_corrupt = choice->options.faults.skip_corrupt;
        o.sequential = 1;
        if (split->count)
            status = read_split(s, &o, err);
    }
    return status;
}

static apl_status read_all(struct stage *s, struct reader_choice *choice, apl_error *err)
{
    static const char *const chosen[] = {"split", "where", "with"};
    bool others = true;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        others = others && !reader_args_given(&s->args, chosen[i]);
    s->epochs = choice->epochs ? choice->epochs : 1;
    progress_begin(&s->progress, !s->quiet && !s->json && !s->no_progress);
    apl_status status = read_split(s, &choice->options, err);
    return status == APL_OK && others ? read_others(s, choice, err) : status;
}

/* ---------------------------------------------------------------------------------------------- telling */

static int tell(const struct stage *s, const apl_error *err, double seconds)
{
    const apl_stats *t = &s->stats;
    if (s->disk_full && !s->quiet)
        note("%s; the budget would allow more", err->message);
    if (s->json)
        return print_json(json_pack("{s:b, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:f}", "ok", 1, "db",
                                    json_db(s->path), "cache", json_text(s->directory), "complete",
                                    !s->filled, "disk_full", s->disk_full, "records",
                                    json_count(s->before + s->records), "requests", json_count(t->requests),
                                    "fetched_bytes", json_count(t->bytes_fetched), "cached_bytes",
                                    json_count(t->bytes_cached), "damaged_parts",
                                    json_count(t->cache_damaged), "seconds", seconds),
                          EXIT_SUCCESS);
    if (s->quiet)
        return EXIT_SUCCESS;
    printf("%s: %s %s: %s fetched, %s already there, %s\n", shown_db(s->path),
           s->disk_full ? "what the disk has room for is in"
           : s->filled  ? "what the budget has room for is in"
                        : "staged in",
           shown(s->directory), size_text(t->bytes_fetched), size_text(t->bytes_cached),
           duration_text(seconds));
    return EXIT_SUCCESS;
}

static int tell_failure(const struct stage *s, apl_status status, apl_error *err)
{
    err->status = status;
    if (status == APL_E_CANCELLED)
        return EXIT_FAILURE; /* the signal speaks for itself */
    if (s->disk_full)
        failed("%s; --budget SIZE copies what there is room for", err->message);
    else if (s->filled)
        failed("%s, nine tenths of the free disk space: --budget SIZE copies what it has room for",
               err->message);
    else
        failed("%s", err->message);
    return s->json ? print_json(json_failure(err), EXIT_FAILURE) : EXIT_FAILURE;
}

static apl_status stage_choice(struct stage *s, struct reader_choice *choice, apl_error *err)
{
    struct source_args sources = {.mix = NULL};
    apl_status status = sampling_args(s->store, choice, err);
    if (status == APL_OK)
        status = source_args_open(&sources, &s->args, s->store, choice->options.split, err);
    if (status == APL_OK) {
        source_args_set(&sources, &choice->options);
        status = read_all(s, choice, err);
    }
    source_args_close(&sources);
    return status;
}

static int stage(struct stage *s)
{
    apl_error err;
    struct reader_choice choice;
    double began = now_seconds();
    reader_args_choose(&s->args, 0, &choice);
    s->ranks = choice.ranks;
    if (s->ranks.count == 0)
        s->ranks.count = 1; /* rank 0 of 1 */
    apl_status status = expect_open(s->path, &s->store, &err), opened = status;
    if (status == APL_OK)
        status = stage_choice(s, &choice, &err);
    s->filled = opened == APL_OK && status == APL_E_NOSPACE;
    s->disk_full = s->filled && err.sys_errno;
    sampling_args_free(&choice);
    apl_store_close(s->store);
    if (status == APL_OK || (s->filled && s->budgeted))
        return tell(s, &err, now_seconds() - began);
    return tell_failure(s, status, &err);
}

/* ---------------------------------------------------------------------------------------------- options */

/* What is asked for ahead is fetched, though the budget may have no room for it: so the smaller the budget, the less of it. */
static int ask_less_ahead(uint64_t budget)
{
    char bytes[24];
    uint64_t ahead = budget / 16 > LEAST_AHEAD ? budget / 16 : LEAST_AHEAD;
    if (ahead >= MOST_AHEAD || getenv("APL_REMOTE_AHEAD"))
        return 0;
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)ahead);
    return say_variable("APL_REMOTE_AHEAD", bytes);
}

static int take_budget(void *user, const char *value)
{
    struct stage *s = user;
    uint64_t bytes;
    if (!parse_size(value, 1, UINT64_MAX, &bytes))
        return misuse("--budget takes a number of bytes, or of K, M, G or T, such as 100G");
    s->budgeted = true;
    return say_variable("APL_CACHE_BUDGET", value) || ask_less_ahead(bytes);
}

static const struct option_row rows[] = {
    {0, "budget", "SIZE", "the most that DIR may hold, in bytes or with K, M, G or T: what\nis needed first",
     OPTION_CALL, 0, take_budget},
    REQUESTS_ROW,
    READER_ROW,
    EXPECT_ROW,
    JSON_ROW(struct stage, json),
    NO_PROGRESS_ROW(struct stage, no_progress),
    QUIET_ROW(struct stage, quiet),
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata stage [OPTION]... URL DIR\n"
            "Copy what training will read from the store or set at URL to the cache DIR, in\n"
            "the order in which training needs it. Then train with APL_CACHE=DIR. Nothing is\n"
            "fetched twice: an interrupted copy resumes where it stopped.\n"
            "\n",
    .tail = "\n"
            "Give the options that training will use: they say what it needs, and when.\n"
            "Without --split, --where or --with, all splits are copied: the first by these\n"
            "options, then the others.\n",
    .column = 28,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .reader = FOR_STAGE,
    .reader_args = offsetof(struct stage, args),
};

static int check(struct stage *s)
{
    const char *said = getenv("APL_CACHE_BUDGET");
    s->budgeted = s->budgeted || (said && *said);
    if (reader_args_given(&s->args, "world") && !reader_args_given(&s->args, "ranks"))
        return misuse("--world: which of them? give --ranks LIST, such as 0-7");
    return cache_take_directory(s, s->directory);
}

int cmd_stage(int argc, char **argv)
{
    static struct stage s = {.args = {.who = FOR_STAGE}};
    int status = options_read(&line, &s, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"URL", "DIR", NULL});
    if (!status) {
        s.path = argv[optind];
        s.directory = argv[optind + 1];
        status = check(&s);
    }
    if (!status)
        status = stage(&s);
    reader_args_free(&s.args);
    return options_status(status);
}
