/* apldata export: all of a store, as files that others read. */
#include "cmd_export.h"

#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "interrupt.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Decoded at a time: enough to keep the threads busy, little enough to be no burden. */
#define CHUNK_BYTES   (32u << 20)
#define CHUNK_RECORDS 8192

struct job {
    struct export x;
    int (*format)(struct export *x);
    bool force, quiet, no_progress;
};

/* Records to decode at a time: a whole number of blocks where it can be. */
static size_t chunk_records(const struct export *x)
{
    uint64_t mean = x->info->records ? x->info->raw_bytes / x->info->records + 1 : 1;
    uint64_t n = CHUNK_BYTES / mean;
    n = n > CHUNK_RECORDS ? CHUNK_RECORDS : n;
    if (n > x->info->block_records && x->info->block_records)
        n -= n % x->info->block_records;
    return n ? (size_t)n : 1;
}

static void show_progress(struct export *x)
{
    struct progress_state state = {.what = "writing", .records = x->done, .fraction = -1};
    if (x->total)
        state.fraction = (double)x->done / (double)x->total;
    progress_show(&x->progress, &state);
}

int export_each(struct export *x, uint64_t first, uint64_t count, const unsigned *fields, unsigned n,
                int (*take)(void *user, const apl_batch *batch), void *user)
{
    uint64_t ids[CHUNK_RECORDS];
    const char *names[APL_MAX_FIELDS];
    size_t chunk = chunk_records(x);
    apl_get_options options = APL_GET_OPTIONS_INIT;
    for (unsigned i = 0; i < n; i++)
        names[i] = apl_store_field(x->store, fields[i])->name;
    options.fields = names;
    options.field_count = n;
    options.threads = x->threads;
    int status = 0;
    for (uint64_t at = 0; at < count && !status; at += chunk) {
        size_t rows = count - at < chunk ? (size_t)(count - at) : chunk;
        for (size_t i = 0; i < rows; i++)
            ids[i] = first + at + i;
        apl_batch *batch;
        apl_error err;
        if (interrupted())
            return EXIT_FAILURE;
        if (apl_store_get_batch(x->store, ids, rows, &options, &batch, &err) != APL_OK)
            return failed("%s", err.message);
        status = take(user, batch);
        apl_batch_release(batch);
        x->done += rows;
        show_progress(x);
    }
    return status;
}

static int write_files(struct job *job)
{
    struct export *x = &job->x;
    x->info = apl_store_info(x->store);
    x->total = x->info->records;
    int status = outset_open(&x->out, x->folder, true, job->force);
    if (!status)
        status = job->format(x);
    progress_clear(&x->progress);
    if (!status && interrupted())
        status = EXIT_FAILURE;
    if (!status)
        status = outset_commit(&x->out);
    if (!status && !job->quiet)
        printf("%s: %s records in %zu files\n", shown(x->folder), count_text(x->info->records), x->out.count);
    outset_close(&x->out);
    return status;
}

static int run(struct job *job)
{
    apl_error err;
    if (apl_store_open(job->x.path, NULL, &job->x.store, &err) != APL_OK)
        return failed("%s", err.message);
    interrupt_catch();
    progress_begin(&job->x.progress, !job->quiet && !job->no_progress);
    int status = write_files(job);
    apl_store_close(job->x.store);
    return status;
}

static int take_format(void *user, const char *name)
{
    struct job *job = user;
    static const struct {
        const char *name;
        int (*format)(struct export *x);
    } formats[] = {{"cifar-binary", export_cifar}, {"npy", export_npy}, {"raw", export_raw}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(name, formats[i].name) == 0) {
            job->format = formats[i].format;
            return 0;
        }
    }
    return misuse("no such format: '%s'; known are cifar-binary, npy and raw", shown(name));
}

static const struct option_row rows[] = {
    {0, "format", "cifar-binary", "the members of the binary CIFAR archive, byte for byte", OPTION_CALL, 0,
     take_format},
    {0, "format", "npy", "an array of NumPy for every split and field", OPTION_CALL, 0, take_format},
    {0, "format", "raw", "a file of values for every field, and schema.json", OPTION_CALL, 0, take_format},
    {'j', "threads", "N", "threads that decode (default: one per core)", OPTION_THREADS,
     offsetof(struct job, x.threads), NULL},
    {0, "force", NULL, "replace files that exist", OPTION_FLAG, offsetof(struct job, force), NULL},
    {0, "no-progress", NULL, "no progress bar", OPTION_FLAG, offsetof(struct job, no_progress), NULL},
    {'q', "quiet", NULL, "print nothing but errors", OPTION_FLAG, offsetof(struct job, quiet), NULL},
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata export [OPTION]... DB OUT --format FORMAT\n"
            "Write what is in the store DB into files in the directory OUT.\n"
            "\n",
    .column = 31,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

int cmd_export(int argc, char **argv)
{
    struct job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", "OUT", NULL});
    if (status)
        return options_status(status);
    if (!job.format)
        return misuse("which --format?");
    job.x.path = argv[optind];
    job.x.folder = argv[optind + 1];
    return run(&job);
}
