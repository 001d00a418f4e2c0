/* aplingest: turn a dataset archive into a store. */
#include "aplingest.h"
#include "args.h"
#include "interrupt.h"
#include "report.h"
#include "sandbox.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGE_BYTES (4 << 20)

static int on_progress(void *user, const apl_ingest_progress *p)
{
    struct job *job = user;
    if (interrupted())
        return 1;
    struct progress_state state = {.records = p->records, .raw_bytes = p->raw_bytes, .fraction = -1};
    if (p->phase == APL_INGEST_READING) {
        job->records = p->records;
        state.what = "reading";
        if (p->source_size)
            state.fraction = (double)p->source_bytes / (double)p->source_size;
    } else {
        state.what = "checking";
        if (job->records)
            state.fraction = (double)p->records / (double)job->records;
    }
    progress_show(&job->progress, &state);
    return 0;
}

static void on_notice(void *user, const char *message)
{
    struct job *job = user;
    if (job->quiet)
        return;
    progress_clear(&job->progress);
    note("%s", message);
}

static void list_file(struct job *job, struct listed_files *files, const char *what, const char *path,
                      const char *why)
{
    files->count++;
    if (files->list)
        json_array_append_new(files->list,
                              json_pack("{s:o, s:o}", "path", json_text(path), "why", json_text(why)));
    if (job->quiet || job->json)
        return;
    progress_clear(&job->progress);
    fprintf(stderr, "%s: %s: %s: %s\n", program_name, what, path, why);
}

static void on_skipped(void *user, const char *path, const char *why)
{
    struct job *job = user;
    list_file(job, &job->skipped, "skipped", path, why);
}

static void on_warned(void *user, const char *path, const char *why)
{
    struct job *job = user;
    list_file(job, &job->warned, "kept with a warning", path, why);
}

/* Makes the splits of a finished store, which stays even if they fail. */
static apl_status make_splits(const struct job *job, apl_error *err)
{
    apl_store *store;
    apl_split_options asked = APL_SPLIT_OPTIONS_INIT;
    asked.stratify = job->stratify;
    asked.threads = job->writer.threads;
    asked.replace = job->writer.replace;
    apl_status status = apl_store_open(job->db, NULL, &store, err);
    if (status != APL_OK)
        return status;
    for (unsigned i = 0; i < job->split_count && status == APL_OK; i++)
        status = split_make(store, &job->splits[i], &asked, err);
    apl_store_close(store);
    return status;
}

/* What cannot be printed is a failure, but none of the store. */
static int tell_success(const struct job *job, const apl_ingest_summary *sum, double seconds)
{
    int status = report_success(job, sum, seconds);
    if (fflush(stdout) != 0)
        note("%s: the store has been made; only this could not be printed", shown(job->db));
    return status;
}

static int ingest(struct job *job)
{
    apl_ingest_summary sum = {0};
    apl_error err;
    job->ingest.user = job;
    job->ingest.writer = &job->writer;
    job->ingest.progress = on_progress;
    job->ingest.notice = on_notice;
    job->ingest.skipped = on_skipped;
    job->ingest.warned = on_warned;
    interrupt_catch();
    sandbox_limit_memory(job->writer.threads);
    sandbox_enter(0);
    progress_begin(&job->progress, !job->quiet && !job->json && !job->no_progress);
    double began = now_seconds();
    apl_status status = apl_ingest(job->source, job->db, &job->ingest, &sum, &err);
    progress_clear(&job->progress);
    if (status != APL_OK)
        return report_failure(job, &err);
    if (job->split_count && make_splits(job, &err) != APL_OK)
        return report_split_failure(job, &err);
    if (job->writer.replace && !job->quiet && !job->ingest.parts)
        report_stale_splits(job);
    return tell_success(job, &sum, now_seconds() - began);
}

/* Reads the command line and does what it says. */
static int run_job(struct job *job, int argc, char **argv)
{
    int status = options_read(&ingest_line, job, argc, argv);
    if (status)
        return status;
    if (job->stratify && !job->split_count)
        return misuse("--stratify needs --split");
    /* The first of the sources, and what stands last. */
    char *ends[] = {argc > optind ? argv[optind] : NULL, argv[argc - 1]};
    int given = argc - optind < 2 ? argc - optind : 2;
    status = take_operands(given, ends, (const char *const[]){"SOURCE", "DB", NULL});
    if (status)
        return status;
    job->source = ends[0];
    job->db = ends[1];
    job->ingest.more = (const char *const *)argv + optind + 1;
    job->ingest.more_count = (size_t)(argc - optind - 2);
    status = part_find(job);
    if (!status)
        status = ingest_names_read(job);
    return status ? status : ingest(job);
}

static int run(int argc, char **argv)
{
    struct job job = {.ingest = APL_INGEST_OPTIONS_INIT, .writer = APL_WRITER_OPTIONS_INIT};
    job.skipped.list = json_array();
    job.warned.list = json_array();
    opterr = 0;
    int status = run_job(&job, argc, argv);
    for (unsigned i = 0; i < job.split_count; i++)
        split_spec_free(&job.splits[i]);
    ingest_names_free(&job);
    json_decref(job.skipped.list);
    json_decref(job.warned.list);
    return options_status(status);
}

/* Buffers of large images go back to the system when they are freed. By default, glibc keeps those of up to 32 MiB: as images differ in
 * size, what one leaves the next does not fit into, and memory would grow with the source. */
static void return_large_memory(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
}

int main(int argc, char **argv)
{
    program_name = "aplingest";
    return_large_memory();
    interrupt_ignore_limits();
    int status = finish_output(run(argc, argv));
    if (status)
        interrupt_die();
    return status;
}
