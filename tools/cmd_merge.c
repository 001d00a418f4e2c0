/* apldata merge: one store of several. */
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "interrupt.h"
#include "merge.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    struct copy copy;
    struct copy_source *sources;
    const char *const *paths;
    unsigned count;
};

static int open_stores(struct job *job)
{
    apl_error err;
    for (unsigned s = 0; s < job->count; s++) {
        if (apl_store_open(job->paths[s], NULL, &job->sources[s].store, &err) != APL_OK)
            return failed("%s", err.message);
        const apl_info *info = apl_store_info(job->sources[s].store);
        job->copy.total += info->records;
        if (s == 0)
            job->copy.options.block_records = info->block_records;
        else if (info->block_records != job->copy.options.block_records)
            job->copy.options.block_records = 0; /* chosen again */
    }
    if (job->count == 1 && !apl_store_info(job->sources[0].store)->shards)
        return misuse("a single store needs no merging, unless it is a set");
    return apl_set_check_parts(job->paths, job->count, &err) == APL_OK
               ? merge_check_twice(&job->copy, job->sources, job->paths, job->count)
               : failed("%s", err.message);
}

/* Appends what one store has of the split. */
static int copy_split(struct job *job, const struct copy_source *source, const char *name)
{
    int i = apl_store_find_split(source->store, name);
    if (i < 0)
        return 0;
    const apl_split *split = apl_store_split(source->store, (unsigned)i);
    uint64_t *ids = malloc(((size_t)split->count + 1) * sizeof *ids);
    if (!ids)
        return failed("out of memory");
    for (uint64_t r = 0; r < split->count; r++)
        ids[r] = split->first + r;
    int status = copy_records(&job->copy, source, name, ids, split->count);
    free(ids);
    return status;
}

static bool is_new_split(const struct job *job, unsigned source, const char *name)
{
    for (unsigned s = 0; s < source; s++)
        if (apl_store_find_split(job->sources[s].store, name) >= 0)
            return false;
    return true;
}

/* Appends what the stores from that on have of it, in their order. */
static int copy_of_all(struct job *job, unsigned first, const char *name)
{
    int status = 0;
    for (unsigned s = first; s < job->count && !status; s++)
        status = copy_split(job, &job->sources[s], name);
    return status;
}

/* Is train to be the first split, which readers take unless told otherwise? Not if a store has others before
 * it, whose order is kept. */
static bool train_leads(const struct job *job)
{
    bool found = false;
    for (unsigned s = 0; s < job->count; s++) {
        int at = apl_store_find_split(job->sources[s].store, "train");
        if (at > 0)
            return false;
        found = found || at == 0;
    }
    return found;
}

/* Split by split: train, then the others in the order in which they are met first. */
static int copy_all(struct job *job)
{
    bool leads = train_leads(job);
    int status = leads ? copy_of_all(job, 0, "train") : 0;
    for (unsigned s = 0; s < job->count; s++)
        for (unsigned i = 0; i < apl_store_info(job->sources[s].store)->splits && !status; i++) {
            const char *name = apl_store_split(job->sources[s].store, i)->name;
            if (is_new_split(job, s, name) && !(leads && strcmp(name, "train") == 0))
                status = copy_of_all(job, s, name);
        }
    return status;
}

/* What all of them came from. */
static const char *source_format(const struct job *job)
{
    const char *first = apl_store_info(job->sources[0].store)->source_format;
    for (unsigned s = 1; s < job->count; s++)
        if (strcmp(apl_store_info(job->sources[s].store)->source_format, first) != 0)
            return "merge";
    return first;
}

/* What was left out of the stores was left out of this one. */
static int pass_skipped_on(struct job *job)
{
    for (unsigned s = 0; s < job->count; s++) {
        const char *path, *why;
        apl_error err;
        for (uint64_t i = 0; (path = apl_store_skipped(job->sources[s].store, i, &why)); i++)
            if (apl_writer_skipped(job->copy.writer, path, why, &err) != APL_OK)
                return failed("%s", err.message);
    }
    return 0;
}

static int write_store(struct job *job)
{
    int status = open_stores(job);
    if (!status)
        status = merge_schema(&job->copy, job->sources, job->paths, job->count);
    if (!status)
        status = copy_begin(&job->copy);
    if (!status)
        status = copy_all(job);
    if (!status)
        status = pass_skipped_on(job);
    if (!status)
        status = copy_commit(&job->copy, source_format(job));
    if (!status && !job->copy.quiet)
        printf("%s: %s of %s\n", shown(job->copy.path), counted(job->copy.total, "record"),
               counted(job->count, "store"));
    return status;
}

static int merge(struct job *job)
{
    job->sources = calloc(job->count, sizeof *job->sources);
    if (!job->sources)
        return failed("out of memory");
    interrupt_catch();
    progress_begin(&job->copy.progress, !job->copy.quiet && !job->copy.no_progress);
    int status = write_store(job);
    copy_close(&job->copy);
    merge_free(&job->copy, job->sources, job->count);
    for (unsigned s = 0; s < job->count; s++)
        apl_store_close(job->sources[s].store);
    free(job->sources);
    return status;
}

static const struct option_row rows[] = {
    COPY_ROWS(struct job, copy),
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata merge [OPTION]... DB... OUT\n"
            "Make the store OUT of all records of the stores or sets DB, which have the same fields.\n"
            "\n",
    .column = 23,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

int cmd_merge(int argc, char **argv)
{
    struct job job = {.copy.options = APL_WRITER_OPTIONS_INIT};
    int status = options_read(&line, &job, argc, argv);
    int count = argc - optind;
    if (!status)
        status =
            take_operands(count < 2 ? count : 2, argv + optind, (const char *const[]){"DB", "OUT", NULL});
    if (status)
        return options_status(status);
    for (int i = optind; i < argc; i++)
        if (!*argv[i])
            return misuse("a store's name is empty");
    job.paths = (const char *const *)(argv + optind);
    job.count = (unsigned)count - 1;
    job.copy.path = argv[argc - 1];
    return merge(&job);
}
