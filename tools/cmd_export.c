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

struct job {
    struct export x;
    int (*format)(struct export *x);
    bool force, quiet, no_progress;
};

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
