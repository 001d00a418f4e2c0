/* apldata verify: decode and check every byte of a store. */
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "expect_args.h"
#include "interrupt.h"
#include "json.h"
#include "progress.h"
#include "report.h"
#include "splits.h"
#include "wrapped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bad block, kept until all have been found and can be reported in order. */
struct finding {
    char *member, *message;
    uint64_t block, first, count;
    uint64_t *ranges; /* pairs: first and last id that is bad */
    size_t range_count;
};

struct job {
    const char *path;
    unsigned threads;
    bool json, quiet, no_progress;
    struct progress progress;
    struct finding *findings;
    size_t count;
    uint64_t bad_records, blocks, records, raw_bytes;
    bool out_of_memory;
    size_t splits;
    int split_status; /* an exit status */
    json_t *split_list;
};

static json_t *split_json(const apl_split_file *f, const char *error)
{
    if (!error)
        return json_pack("{s:b, s:o}", "ok", 1, "name", json_text(f->name));
    json_t *object =
        json_pack("{s:b, s:o, s:o}", "ok", 0, "name", json_text(f->name), "error", json_text(error));
    if (object && split_is_stale(f))
        json_object_set_new(object, "stale", json_true());
    if (object && f->list)
        json_object_set_new(object, "list", json_text(f->list));
    return object;
}

/* Checks one and reports faults on stderr. A split of another store, or of another list of the set, is not damage. */
static int verify_split(struct job *job, apl_store *store, const apl_split_file *f)
{
    apl_error err;
    int status = EXIT_SUCCESS;
    bool ok = apl_split_verify(store, f->name, job->threads, &err) == APL_OK;
    if (ok)
        job->splits++;
    else if (!split_is_stale(f) && !f->list)
        status = failed("%s", err.message);
    else if (!job->quiet)
        note(f->list ? "%s" : "%s; it is not used, and can be removed", err.message);
    if (job->json)
        json_array_append_new(job->split_list, split_json(f, ok ? NULL : err.message));
    return status;
}

/* Names the files of lists that are gone: nothing is wrong with them. */
static int tell_left(struct job *job, apl_store *store)
{
    apl_split_list *list;
    const apl_split_file *f;
    apl_error err;
    if (apl_split_list_left(store, &list, &err) != APL_OK)
        return failed("%s", err.message);
    for (size_t i = 0; (f = apl_split_list_file(list, i)); i++) {
        if (!job->quiet)
            note("%s; it is not used, and can be removed", f->message);
        if (job->json)
            json_array_append_new(job->split_list, split_json(f, f->message));
    }
    apl_split_list_close(list);
    return EXIT_SUCCESS;
}

/* Checks the split files. */
static int verify_splits(struct job *job, apl_store *store)
{
    apl_split_list *list;
    const apl_split_file *f;
    apl_error err;
    int status = EXIT_SUCCESS;
    if (split_list(store, &list, &err) != APL_OK)
        return failed("%s", err.message);
    for (size_t i = 0; (f = apl_split_list_file(list, i)); i++)
        status |= verify_split(job, store, f);
    if (list) {
        status |= tell_left(job, store);
    } else {
        json_decref(job->split_list);
        job->split_list = json_null();
    }
    apl_split_list_close(list);
    return status;
}

/* The ids as pairs of first and last. */
static uint64_t *ranges_of(const uint64_t *ids, size_t n, size_t *count)
{
    uint64_t *ranges = malloc((2 * n + 1) * sizeof *ranges);
    *count = 0;
    for (size_t i = 0; ranges && i < n; i++) {
        if (*count && ids[i] == ranges[2 * *count - 1] + 1) {
            ranges[2 * *count - 1] = ids[i];
        } else {
            ranges[2 * *count] = ranges[2 * *count + 1] = ids[i];
            ++*count;
        }
    }
    return ranges;
}

static void free_finding(struct finding *f)
{
    free(f->member);
    free(f->message);
    free(f->ranges);
}

static void on_bad_block(void *user, const apl_bad_block *block)
{
    struct job *job = user;
    struct finding f = {.block = block->block, .first = block->first, .count = block->count};
    struct finding *findings = realloc(job->findings, (job->count + 1) * sizeof *findings);
    if (findings)
        job->findings = findings;
    f.member = strdup(block->member);
    f.message = strdup(block->message);
    f.ranges = ranges_of(block->bad, block->bad_count, &f.range_count);
    if (!findings || !f.member || !f.message || !f.ranges) {
        free_finding(&f);
        job->out_of_memory = true;
        return;
    }
    job->findings[job->count++] = f;
    job->bad_records += block->bad_count;
}

static int by_place(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static int on_progress(void *user, uint64_t records, uint64_t of)
{
    struct job *job = user;
    struct progress_state state = {.what = "checking", .records = records, .fraction = -1};
    if (of) {
        state.fraction = (double)records / (double)of;
        state.raw_bytes = (uint64_t)(state.fraction * (double)job->raw_bytes);
    }
    progress_show(&job->progress, &state);
    return interrupted();
}

static void print_ranges(const struct finding *f)
{
    for (size_t i = 0; i < f->range_count; i++) {
        unsigned long long first = f->ranges[2 * i], last = f->ranges[2 * i + 1];
        printf("%s%llu", i ? ", " : "", first);
        if (last != first)
            printf("-%llu", last);
    }
}

static void print_findings(const struct job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        const struct finding *f = &job->findings[i];
        printf("%s: %s: block %llu: %s; bad records: ", shown_db(job->path), shown(f->member),
               (unsigned long long)f->block, shown(f->message));
        if (f->range_count)
            print_ranges(f);
        else
            fputs("none", stdout);
        putchar('\n');
    }
}

static json_t *finding_json(const struct finding *f)
{
    json_t *ranges = json_array();
    for (size_t i = 0; i < f->range_count; i++)
        json_array_append_new(
            ranges, json_pack("[o,o]", json_count(f->ranges[2 * i]), json_count(f->ranges[2 * i + 1])));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "member", json_text(f->member), "block",
                     json_count(f->block), "first", json_count(f->first), "count", json_count(f->count),
                     "bad_ranges", ranges, "message", json_text(f->message));
}

static int report_json(const struct job *job, const apl_error *err, double seconds)
{
    json_t *list = json_array();
    for (size_t i = 0; i < job->count; i++)
        json_array_append_new(list, finding_json(&job->findings[i]));
    bool ok = err->status == APL_OK && job->split_status == EXIT_SUCCESS;
    json_t *object = err->status == APL_OK ? json_pack("{s:b}", "ok", ok) : json_failure(err);
    json_t *rest =
        json_pack("{s:o, s:o, s:o, s:o, s:f, s:o, s:o, s:O}", "db", json_db(job->path), "records",
                  json_count(job->records), "blocks", json_count(job->blocks), "raw_bytes",
                  json_count(job->raw_bytes), "seconds", seconds, "bad_records", json_count(job->bad_records),
                  "bad_blocks", list, "named_splits", job->split_list);
    if (object && rest)
        json_object_update(object, rest);
    json_decref(rest);
    return print_json(object, ok ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int report(const struct job *job, const apl_error *err, double seconds)
{
    if (err->status == APL_E_CANCELLED)
        return EXIT_FAILURE; /* the signal speaks for itself */
    if (job->out_of_memory)
        return failed("out of memory");
    if (!job->json)
        print_findings(job);
    if (err->status != APL_OK) {
        fflush(stdout);
        failed("%s", err->message);
    }
    if (job->json)
        return report_json(job, err, seconds);
    if (err->status != APL_OK)
        return EXIT_FAILURE;
    if (!job->quiet)
        print_line(0, "%s: %s in %s %s written, %s, %s", shown_db(job->path), counted(job->records, "record"),
                   counted(job->blocks, "block"), job->records == 1 ? "is as it was" : "are as they were",
                   duration_text(seconds), rate_text(job->raw_bytes, seconds));
    if (!job->quiet && job->splits && job->split_status == EXIT_SUCCESS)
        printf("%s: %s split%s as the rule says\n", shown_db(job->path), count_text(job->splits),
               job->splits > 1 ? "s are" : " is");
    return job->split_status;
}

static int verify(struct job *job)
{
    apl_store *store;
    apl_error err = {.status = APL_OK};
    if (expect_open(job->path, &store, &err) != APL_OK) {
        failed("%s", err.message);
        return job->json ? print_json(json_failure(&err), EXIT_FAILURE) : EXIT_FAILURE;
    }
    const apl_info *info = apl_store_info(store);
    job->records = info->records;
    job->blocks = info->blocks;
    job->raw_bytes = info->raw_bytes;
    apl_verify_options options = APL_VERIFY_OPTIONS_INIT;
    options.threads = job->threads;
    options.user = job;
    options.progress = on_progress;
    options.bad_block = on_bad_block;
    interrupt_catch();
    progress_begin(&job->progress, !job->quiet && !job->json && !job->no_progress);
    double began = now_seconds();
    err.status = apl_store_verify(store, &options, &err);
    progress_clear(&job->progress);
    double seconds = now_seconds() - began;
    job->split_list = json_array();
    if (err.status == APL_OK || err.status == APL_E_CORRUPT)
        job->split_status = verify_splits(job, store);
    if (job->count)
        qsort(job->findings, job->count, sizeof *job->findings, by_place);
    int status = report(job, &err, seconds);
    json_decref(job->split_list);
    for (size_t i = 0; i < job->count; i++)
        free_finding(&job->findings[i]);
    free(job->findings);
    apl_store_close(store);
    return status;
}

static const struct option_row rows[] = {
    THREADS_ROW("check", struct job, threads),
    EXPECT_ROW,
    JSON_ROW(struct job, json),
    NO_PROGRESS_ROW(struct job, no_progress),
    QUIET_ROW(struct job, quiet),
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata verify [OPTION]... DB\n"
            "Decode and check every byte of the store DB; name every bad block and record.\n"
            "\n",
    .column = 23,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

int cmd_verify(int argc, char **argv)
{
    struct job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", NULL});
    if (status)
        return options_status(status);
    job.path = argv[optind];
    return verify(&job);
}
