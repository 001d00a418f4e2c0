/* apldata bench: how fast a store can be read for training. */
#include "args.h"
#include "cache_args.h"
#include "cmd.h"
#include "command_line.h"
#include "expect_args.h"
#include "json.h"
#include "reader_args.h"
#include "report.h"
#include "run_reader.h"
#include "sampling_args.h"
#include "source_args.h"
#include "table.h"
#include "wrapped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_RUNS   10000u
#define MOST_EPOCHS 10u /* that have rows of their own */

struct bench {
    const char *path;
    bool json, explain;
    struct reader_args args;
    apl_store *store;
    struct source_args sources;
    json_t *rows;
    struct table table; /* of a sweep */
};

/* ------------------------------------------------------------------------------------------ for people */

static const char *wait_text(double seconds)
{
    if (seconds < 1e-3)
        return number_text("%.1f µs", seconds * 1e6);
    return seconds < 1 ? number_text("%.2f ms", seconds * 1e3) : number_text("%.2f s", seconds);
}

static const char *per_second(const struct run_figures *f)
{
    return count_text(f->seconds > 0 ? (uint64_t)((double)f->records / f->seconds + 0.5) : 0);
}

static const char *cpu_text(const struct run_figures *f)
{
    return f->records ? number_text("%.2f s", f->cpu * 1e6 / (double)f->records) : "-";
}

static void add_cells(struct table *table, const char *const *cells)
{
    for (; *cells; cells++)
        table_add(table, *cells);
}
#define ADD(table, ...) add_cells((table), (const char *const[]){__VA_ARGS__, NULL})

static void add_figures(struct table *table, const struct run_figures *f)
{
    ADD(table, per_second(f), cpu_text(f), rate_text(f->bytes, f->seconds), wait_text(f->wait_mean),
        wait_text(f->wait_p50), wait_text(f->wait_p99), wait_text(f->wait_p999), wait_text(f->wait_max),
        number_text("%.2f %%", f->stall * 100));
}

#define FIGURES "records/s", "CPU/million", "data", "wait", "p50", "p99", "p99.9", "longest", "stall"

#define BESIDE 13u /* the column of what stands beside these names */

static void print_memory(const struct run_result *r)
{
    print_line(BESIDE, "first batch  after %s", wait_text(r->first_batch));
    print_line(BESIDE, "memory       %s of a budget of %s; the process at most %s, not counting files",
               size_text(r->stats.memory), size_text(r->stats.memory_budget), size_text(r->peak_anonymous));
}

/* Of stores at URLs. */
static void print_remote(const apl_stats *s)
{
    if (s->requests == 0)
        return;
    printf("network      %s, %s", counted(s->requests, "request"), size_text(s->bytes_fetched));
    if (s->retries)
        printf(", %s of them again", count_text(s->retries));
    if (s->cache_hits)
        printf("; %s from the cache", size_text(s->bytes_cached));
    if (s->cache_damaged)
        printf(", where %s %s damaged", counted(s->cache_damaged, "part"),
               s->cache_damaged == 1 ? "was" : "were");
    putchar('\n');
}

static void print_demand(const struct run_result *r, double demand)
{
    if (r->step == 0)
        return;
    print_line(BESIDE,
               "demand       %s records/s, a step of %s: waited %.2f %% of the time, p99.9 %.2f of a step",
               count_text((uint64_t)(demand + 0.5)), wait_text(r->step), r->all.stall * 100,
               r->all.wait_p999 / r->step);
}

struct explanation {
    apl_bottleneck what;
    bool later; /* of all epochs but the first */
    char text[2048];
};

/* Of what came after the first epoch, which may load what stays in memory; of the whole run, if that was too little. */
static void explain(const struct run_result *r, struct explanation *e)
{
    *e = (struct explanation){.later = r->count > 1};
    if (e->later)
        apl_stats_explain(&r->stats, &r->after_first, sizeof r->stats, &e->what, e->text, sizeof e->text);
    e->later = e->later && e->what != APL_BOTTLENECK_UNKNOWN;
    if (!e->later)
        apl_stats_explain(&r->stats, NULL, sizeof r->stats, &e->what, e->text, sizeof e->text);
}

static const char *bottleneck_text(const struct run_result *r)
{
    static const char *const names[] = {"unknown",    "training", "reading",  "decoding",
                                        "assembling", "on_batch", "planning", "queue",
                                        "memory",     "rank",     "server"};
    struct explanation e;
    explain(r, &e);
    return names[e.what];
}

static void print_explanation(const struct run_result *r)
{
    struct explanation e;
    explain(r, &e);
    const char *text = e.text;
    size_t first = strcspn(text, "\n");
    putchar('\n');
    print_line(0, "%s%.*s%s", e.later ? "after the first epoch, " : "", (int)first, text,
               e.what == APL_BOTTLENECK_UNKNOWN ? " Read for longer, with --seconds." : "");
    for (text += first; *text; text += first) { /* figures, each beside its name */
        first = strcspn(++text, "\n");
        print_line(10, "%.*s", (int)first, text);
    }
}

/* A row an epoch; of many, of the first and the last. */
static void add_epochs(struct table *table, const struct run_result *r)
{
    for (size_t i = 0; i < r->count; i++) {
        bool gap = r->count > MOST_EPOCHS && i == MOST_EPOCHS / 2;
        if (gap) {
            ADD(table, "...", "", "", "", "", "", "", "", "", "", "");
            i = r->count - MOST_EPOCHS / 2;
        }
        ADD(table, number_text("%.0f", (double)r->epochs[i].epoch), count_text(r->epochs[i].records));
        add_figures(table, &r->epochs[i]);
    }
}

/* One run: epochs, and all of them. */
static int print_run(const struct bench *b, const struct reader_choice *choice, const struct run_result *r)
{
    const apl_split *first = apl_store_split(b->store, 0);
    const char *split = choice->options.split ? choice->options.split : first ? first->name : "";
    size_t batch = choice->options.batch_size ? choice->options.batch_size : 256;
    printf("%s: %s of %s", shown_db(b->path), counted(r->epochs[0].records, "record"), shown(split));
    if (b->sources.mix_count)
        printf(" and %s", counted(b->sources.mix_count, "more store"));
    printf(" in batches of %s\n\n", count_text(batch));
    struct table table = TABLE("lrrrrrrrrrr");
    table.turns = true;
    ADD(&table, "epoch", "records", FIGURES);
    add_epochs(&table, r);
    ADD(&table, "all", count_text(r->all.records));
    add_figures(&table, &r->all);
    int status = table_print(&table);
    putchar('\n');
    print_memory(r);
    print_remote(&r->stats);
    print_demand(r, choice->demand);
    if (b->explain)
        print_explanation(r);
    return status;
}

/* One run of a sweep: a row. */
static void add_run(struct bench *b, size_t i, const struct run_result *r)
{
    if (b->table.count == 0)
        ADD(&b->table, "run", FIGURES, "first", "last epoch/s", "memory", "p99.9/step",
            b->explain ? "waits for" : NULL);
    table_add(&b->table, reader_args_label(&b->args, i));
    add_figures(&b->table, &r->all);
    ADD(&b->table, wait_text(r->first_batch), per_second(&r->epochs[r->count - 1]),
        size_text(r->peak_anonymous), r->step > 0 ? number_text("%.2f", r->all.wait_p999 / r->step) : "-",
        b->explain ? bottleneck_text(r) : NULL);
}

/* ---------------------------------------------------------------------------------------- for programs */

static json_t *figures_json(const struct run_figures *f)
{
    double records = f->records ? (double)f->records : 1, seconds = f->seconds > 0 ? f->seconds : 1;
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f}", "epoch", json_count(f->epoch),
                               "batches", json_count(f->batches), "records", json_count(f->records), "bytes",
                               json_count(f->bytes), "seconds", f->seconds, "records_per_second",
                               (double)f->records / seconds, "bytes_per_second", (double)f->bytes / seconds,
                               "cpu_seconds", f->cpu, "cpu_seconds_per_million", f->cpu * 1e6 / records);
    json_t *waits =
        json_pack("{s:{s:f, s:f, s:f, s:f, s:f}, s:f}", "wait", "mean", f->wait_mean, "p50", f->wait_p50,
                  "p99", f->wait_p99, "p999", f->wait_p999, "max", f->wait_max, "stall", f->stall);
    if (object && waits)
        json_object_update(object, waits);
    json_decref(waits);
    return object;
}

static json_t *remote_json(const apl_stats *s)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "requests", json_count(s->requests), "bytes",
                     json_count(s->bytes_fetched), "retries", json_count(s->retries), "cache_hits",
                     json_count(s->cache_hits), "cache_bytes", json_count(s->bytes_cached), "cache_damaged",
                     json_count(s->cache_damaged));
}

/* As apl_stats_json() writes them; its text is not parsed, because jansson's parser aborts when out of memory. */
static json_t *stats_json(const apl_stats *s)
{
    json_t *wait = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "total", s->wait, "mean", s->wait_mean, "p50",
                             s->wait_p50, "p99", s->wait_p99, "p999", s->wait_p999, "max", s->wait_max);
    json_t *bytes = json_pack("{s:o, s:o, s:o}", "read", json_count(s->bytes_read), "decoded",
                              json_count(s->bytes_decoded), "assembled", json_count(s->bytes_assembled));
    return json_pack("{s:f, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:f, s:o, s:o, "
                     "s:o, s:o, s:o}",
                     "elapsed", s->elapsed, "batches", json_count(s->batches), "records",
                     json_count(s->records), "blocks", json_count(s->blocks), "wait", wait, "stall", s->stall,
                     "first_batch", s->first_batch, "loading", s->loading, "assembling", s->assembling,
                     "planning", s->planning, "blocked", s->blocked, "bytes", bytes, "memory",
                     json_count(s->memory), "memory_budget", json_count(s->memory_budget), "cpu", s->cpu,
                     "queued", json_count(s->queued), "lent", json_count(s->lent), "standing_slots",
                     json_count(s->standing_slots), "slots", json_count(s->slots), "remote", remote_json(s));
}

static json_t *run_json(const struct bench *b, size_t i, const struct run_result *r)
{
    json_t *epochs = json_array(), *all = figures_json(&r->all);
    for (size_t k = 0; k < r->count; k++)
        json_array_append_new(epochs, figures_json(&r->epochs[k]));
    json_object_del(all, "epoch");
    return json_pack("{s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o}", "options",
                     reader_args_json(&b->args, i), "all", all, "epochs", epochs, "first_batch",
                     r->first_batch, "step", r->step > 0 ? json_real(r->step) : json_null(), "memory",
                     json_count(r->stats.memory), "memory_budget", json_count(r->stats.memory_budget),
                     "peak_anonymous", json_count(r->peak_anonymous), "stats", stats_json(&r->stats));
}

/* With what --explain says, if it was given. */
static json_t *row_json(const struct bench *b, size_t i, const struct run_result *r)
{
    struct explanation e;
    json_t *row = run_json(b, i, r);
    if (b->explain) {
        explain(r, &e);
        json_object_set_new(row, "explanation", json_text(e.text));
    }
    return row;
}

/* --------------------------------------------------------------------------------------------- running */

static int run_choice(struct bench *b, size_t i, apl_error *err)
{
    struct reader_choice choice;
    struct run_result result = {0};
    int status = EXIT_SUCCESS;
    reader_args_choose(&b->args, i, &choice);
    source_args_set(&b->sources, &choice.options);
    apl_status ran = sampling_args(b->store, &choice, err);
    if (ran == APL_OK)
        ran = run_reader(b->store, &choice, &result, err);
    if (ran != APL_OK)
        status = failed("%s", err->message);
    else if (b->json)
        json_array_append_new(b->rows, row_json(b, i, &result));
    else if (reader_args_choices(&b->args) > 1)
        add_run(b, i, &result);
    else
        status = print_run(b, &choice, &result);
    run_result_free(&result);
    sampling_args_free(&choice);
    return status;
}

static int finish(struct bench *b, int status, const apl_error *err)
{
    if (b->json && status)
        return print_json(json_failure(err), status);
    if (b->json)
        return print_json(json_pack("{s:b, s:o, s:o, s:O}", "ok", 1, "db", json_db(b->path), "cores",
                                    json_count((uint64_t)sysconf(_SC_NPROCESSORS_ONLN)), "rows", b->rows),
                          status);
    int printed = table_print(&b->table);
    return status ? status : printed;
}

/* The same for all runs. */
static apl_status open_sources(struct bench *b, apl_error *err)
{
    struct reader_choice first;
    reader_args_choose(&b->args, 0, &first);
    return source_args_open(&b->sources, &b->args, b->store, first.options.split, err);
}

static int bench(struct bench *b)
{
    apl_error err;
    int status = EXIT_SUCCESS;
    size_t runs = reader_args_choices(&b->args);
    if (runs > MOST_RUNS)
        return misuse("more than %u runs", MOST_RUNS);
    b->rows = json_array();
    if (expect_open(b->path, &b->store, &err) != APL_OK)
        status = failed("%s", err.message);
    if (!status && open_sources(b, &err) != APL_OK)
        status = failed("%s", err.message);
    for (size_t i = 0; i < runs && !status; i++)
        status = run_choice(b, i, &err);
    status = finish(b, status, &err);
    json_decref(b->rows);
    source_args_close(&b->sources);
    apl_store_close(b->store);
    return status;
}

static const struct option_row rows[] = {
    READER_ROW,
    {.name = "explain",
     .help = "say in words what sets the pace, and what would help",
     .kind = OPTION_FLAG,
     .at = offsetof(struct bench, explain)},
    CACHE_ROWS,
    EXPECT_ROW,
    JSON_ROW(struct bench, json),
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata bench [OPTION]... DB\n"
            "Read the store DB as training would, and say how fast that goes.\n"
            "\n",
    .tail = "\n"
            "Values may be lists: --threads none,1,2 --batch-size 128,512 makes six runs, a row each.\n",
    .column = 28,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .reader = FOR_BENCH,
    .reader_args = offsetof(struct bench, args),
};

int cmd_bench(int argc, char **argv)
{
    struct bench b = {.args = {.who = FOR_BENCH}, .table = TABLE("lrrrrrrrrrrrrr")};
    b.table.turns = true;
    int status = options_read(&line, &b, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", NULL});
    if (!status) {
        b.path = argv[optind];
        b.table.columns = b.explain ? "lrrrrrrrrrrrrrl" : "lrrrrrrrrrrrrr";
        status = bench(&b);
    }
    reader_args_free(&b.args);
    return options_status(status);
}
