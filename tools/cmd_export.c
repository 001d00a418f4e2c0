/* apldata export: all of a store, as files that others read. */
#include "cmd_export.h"

#include "args.h"
#include "cache_args.h"
#include "cmd.h"
#include "command_line.h"
#include "expect_args.h"
#include "interrupt.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options that some formats take and others refuse. */
enum { TAKES_FIELD = 1, TAKES_MANY = 2, TAKES_NAMES = 4, TAKES_LABEL = 8, TAKES_SHARDS = 16 };

static const struct format {
    const char *name;
    int (*write)(struct export *x);
    unsigned takes;
} formats[] = {
    {"cifar-binary", export_cifar, 0},
    {"folder", export_folder, TAKES_FIELD | TAKES_NAMES | TAKES_LABEL},
    {"idx", export_idx, TAKES_FIELD | TAKES_MANY},
    {"npy", export_npy, TAKES_FIELD | TAKES_MANY},
    {"raw", export_raw, TAKES_FIELD | TAKES_MANY},
    {"tfrecord", export_tfrecord, TAKES_FIELD | TAKES_MANY},
    {"webdataset", export_webdataset, TAKES_FIELD | TAKES_MANY | TAKES_NAMES | TAKES_SHARDS},
};
#define FORMATS (sizeof formats / sizeof *formats)

struct job {
    struct export x;
    const struct format *format;
    bool force, no_progress;
    unsigned given; /* of the options above */
};

static int write_files(struct job *job)
{
    struct export *x = &job->x;
    x->info = apl_store_info(x->store);
    x->total = x->info->records;
    int status = outset_open(&x->out, x->folder, true, job->force);
    if (!status)
        status = job->format->write(x);
    progress_clear(&x->progress);
    if (!status && interrupted())
        status = EXIT_FAILURE;
    if (!status)
        status = outset_commit(&x->out);
    if (!status && !job->x.quiet)
        printf("%s: %s in %s\n", shown(x->folder), counted(x->info->records, "record"),
               counted(outset_count(&x->out), "file"));
    outset_close(&x->out);
    return status;
}

static int run(struct job *job)
{
    apl_error err;
    if (expect_open(job->x.path, &job->x.store, &err) != APL_OK)
        return failed("%s", err.message);
    interrupt_catch();
    progress_begin(&job->x.progress, !job->x.quiet && !job->no_progress);
    int status = write_files(job);
    apl_store_close(job->x.store);
    return status;
}

static int take_format(void *user, const char *name)
{
    struct job *job = user;
    char known[128] = "";
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(name, formats[i].name) == 0) {
            job->format = &formats[i];
            return 0;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s",
                 i == 0            ? ""
                 : i + 1 < FORMATS ? ", "
                                   : " and ",
                 formats[i].name);
    }
    return misuse("no such format: '%s'; known are %s", shown(name), known);
}

static int take_fields(void *user, const char *names)
{
    struct job *job = user;
    int status = field_names_take(&job->x.fields, names);
    job->given |= job->x.fields.count > 1 ? TAKES_MANY : TAKES_FIELD;
    return status;
}

static int take_label(void *user, const char *name)
{
    struct job *job = user;
    job->x.label = name;
    job->given |= TAKES_LABEL;
    return 0;
}

static int take_names(void *user, const char *which)
{
    struct job *job = user;
    job->x.by_id = strcmp(which, "id") == 0;
    job->given |= TAKES_NAMES;
    return job->x.by_id || strcmp(which, "path") == 0
               ? 0
               : misuse("names are those of 'path' or of 'id', not '%s'", shown(which));
}

static int take_shard_size(void *user, const char *text)
{
    struct job *job = user;
    if (!parse_size(text, 1, UINT64_MAX >> 1, &job->x.shard_bytes))
        return misuse("the size of a shard is a number of bytes such as 500M or 2G, not '%s'", shown(text));
    job->given |= TAKES_SHARDS;
    return 0;
}

static int take_shard_records(void *user, const char *text)
{
    struct job *job = user;
    if (!parse_number(text, 1, UINT64_MAX, &job->x.shard_records))
        return misuse("the records of a shard are a number from 1, not '%s'", shown(text));
    job->given |= TAKES_SHARDS;
    return 0;
}

static int check_given(const struct job *job)
{
    static const struct {
        unsigned option;
        const char *name;
    } options[] = {{TAKES_FIELD, "takes no --fields"},
                   {TAKES_MANY, "takes one field"},
                   {TAKES_NAMES, "takes no --names"},
                   {TAKES_LABEL, "takes no --label"},
                   {TAKES_SHARDS, "has no shards"}};
    unsigned wrong = job->given & ~job->format->takes;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (wrong & options[i].option)
            return misuse("the format %s %s", job->format->name, options[i].name);
    return 0;
}

static const struct option_row rows[] = {
    {0, "format", "cifar-binary", "the members of the binary CIFAR archive, byte for byte", OPTION_CALL, 0,
     take_format},
    {0, "format", "folder", "a file for every record, as SPLIT/CLASS/NAME", OPTION_CALL, 0, take_format},
    {0, "format", "idx", "a file for every split and field, in MNIST's layout", OPTION_CALL, 0, take_format},
    {0, "format", "npy", "a NumPy array for every split and field", OPTION_CALL, 0, take_format},
    {0, "format", "raw", "a file of values for every field, and schema.json", OPTION_CALL, 0, take_format},
    {0, "format", "tfrecord", "a TFRecord file for every split, and schema.json", OPTION_CALL, 0,
     take_format},
    {0, "format", "webdataset", "tar archives with a file for every field of a record", OPTION_CALL, 0,
     take_format},
    {0, "fields", "FIELD,...", "only these fields", OPTION_CALL, 0, take_fields},
    {0, "label", "FIELD", "folder: the field whose classes become folders (default: label)", OPTION_CALL, 0,
     take_label},
    {0, "names", "WHICH",
     "folder: path, or id to number the files (default: path);\n"
     "webdataset: id to number the records, also where they have keys",
     OPTION_CALL, 0, take_names},
    {0, "shard-size", "SIZE", "webdataset: bytes in an archive, such as 500M (default: 1G)", OPTION_CALL, 0,
     take_shard_size},
    {0, "shard-records", "N", "webdataset: at most N records in an archive", OPTION_CALL, 0,
     take_shard_records},
    CACHE_ROWS,
    EXPECT_ROW,
    THREADS_ROW("decode", struct job, x.threads),
    FORCE_ROW("an earlier export in OUT, or files that exist", OPTION_FLAG, struct job, force),
    NO_PROGRESS_ROW(struct job, no_progress),
    QUIET_ROW(struct job, x.quiet),
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata export [OPTION]... DB OUT --format FORMAT\n"
            "Write the contents of the store DB to files in the directory OUT.\n"
            "\n",
    .column = 31,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

int cmd_export(int argc, char **argv)
{
    struct job job = {.x = {.shard_bytes = (uint64_t)1 << 30}};
    int status = options_read(&line, &job, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", "OUT", NULL});
    if (status)
        return options_status(status);
    if (!job.format)
        return misuse("which --format?");
    status = check_given(&job);
    if (status)
        return status;
    job.x.path = argv[optind];
    job.x.folder = argv[optind + 1];
    return run(&job);
}
