/* apldata extract: a store of some records of another. */
#include "args.h"
#include "cache_args.h"
#include "cmd.h"
#include "command_line.h"
#include "copy.h"
#include "expect_args.h"
#include "field_names.h"
#include "interrupt.h"
#include "report.h"
#include "where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 256 /* options of one kind */

/* The records of one split. */
struct part {
    const char *split;
    uint64_t *ids; /* ascending */
    uint64_t count;
};

struct job {
    const char *path;
    struct copy copy;
    const char *splits[MOST], *conditions[MOST];
    struct field_names fields;
    unsigned split_count, condition_count;
    apl_store *store;
    struct part *parts;
    unsigned part_count;
    uint64_t in_splits; /* records, whatever the conditions */
};

/* ------------------------------------------------------------------------------------------ which records */

static int find_ids(struct job *job, struct part *part)
{
    apl_error err;
    apl_status status = apl_split_ids(job->store, part->split, NULL, &part->count, &err);
    if (status == APL_OK) {
        job->in_splits += part->count;
        part->ids = malloc(((size_t)part->count + 1) * sizeof *part->ids);
        if (!part->ids)
            return failed("out of memory");
        status = apl_split_ids(job->store, part->split, part->ids, &part->count, &err);
    }
    for (unsigned i = 0; i < job->condition_count && status == APL_OK; i++)
        status = where_sift(job->store, part->split, job->conditions[i], part->ids, &part->count, &err);
    return status == APL_OK ? 0 : failed("%s", err.message);
}

/* No record may come twice: two of the splits would share it. */
static int check_overlaps(const struct job *job)
{
    uint64_t records = apl_store_info(job->store)->records, shared = 0;
    uint8_t *seen = calloc((size_t)(records / 8 + 1), 1);
    if (!seen)
        return failed("out of memory");
    for (unsigned p = 0; p < job->part_count && !shared; p++) {
        const struct part *part = &job->parts[p];
        for (uint64_t i = 0; i < part->count; i++) {
            uint8_t bit = (uint8_t)(1u << part->ids[i] % 8);
            shared += (seen[part->ids[i] / 8] & bit) != 0;
            seen[part->ids[i] / 8] |= bit;
        }
        if (shared)
            failed("%s: the split %s shares %s records with those before it", shown_db(job->path),
                   shown(part->split), count_text(shared));
    }
    free(seen);
    return shared ? EXIT_FAILURE : 0;
}

/* As a part of few records may be. */
static int has_no_records(const struct job *job)
{
    if (job->in_splits > 0)
        return failed("%s: no record is like that", shown_db(job->path));
    return job->part_count == 1
               ? failed("%s: the split %s is empty, and there are no stores without records",
                        shown_db(job->path), shown(job->parts[0].split))
               : failed("%s: all of the splits are empty, and there are no stores without records",
                        shown_db(job->path));
}

/* Readers take the first split of a store unless told otherwise. */
static void put_train_first(struct job *job)
{
    for (unsigned i = 1; i < job->split_count; i++)
        if (strcmp(job->splits[i], "train") == 0) {
            memmove(&job->splits[1], &job->splits[0], i * sizeof *job->splits);
            job->splits[0] = "train";
            return;
        }
}

static int find_records(struct job *job)
{
    put_train_first(job);
    unsigned all = apl_store_info(job->store)->splits;
    unsigned count = job->split_count ? job->split_count : all;
    int status = 0;
    job->parts = calloc((size_t)count + 1, sizeof *job->parts);
    if (!job->parts)
        return failed("out of memory");
    for (; job->part_count < count && !status; job->part_count++) {
        struct part *part = &job->parts[job->part_count];
        part->split = job->split_count ? job->splits[job->part_count]
                                       : apl_store_split(job->store, job->part_count)->name;
        status = find_ids(job, part);
        job->copy.total += part->count;
    }
    if (!status && job->copy.total == 0)
        status = has_no_records(job);
    return status ? status : check_overlaps(job);
}

/* ------------------------------------------------------------------------------------------- which fields */

static int find_fields(struct job *job, struct copy_source *source)
{
    bool wanted[APL_MAX_FIELDS] = {false};
    for (unsigned i = 0; i < job->fields.count; i++) {
        int field = apl_store_find_field(job->store, job->fields.name[i]);
        if (field < 0)
            return failed("%s: no field '%s'", shown_db(job->path), shown(job->fields.name[i]));
        if (apl_store_field(job->store, (unsigned)field)->role == APL_POSITION)
            return failed("%s: field %s is left out of other stores: it has the places of a shuffled store's "
                          "records in its source",
                          shown_db(job->path), shown(job->fields.name[i]));
        wanted[field] = true;
    }
    for (unsigned i = 0; i < apl_store_info(job->store)->fields; i++) {
        const apl_field *f = apl_store_field(job->store, i);
        if (f->role == APL_POSITION || (job->fields.count && !wanted[i]))
            continue;
        source->fields[job->copy.count] = i;
        job->copy.fields[job->copy.count++] = (struct copy_field){.like = f, .dtype = f->dtype};
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ the whole */

static bool has_training_split(const struct job *job)
{
    bool has = false;
    for (unsigned p = 0; p < job->part_count; p++)
        has |= strcmp(job->parts[p].split, "train") == 0;
    return has;
}

static int write_store(struct job *job)
{
    struct copy_source source = {.store = job->store};
    int status = find_records(job);
    if (!status)
        status = find_fields(job, &source);
    if (!status)
        status = copy_begin(&job->copy);
    if (!status && !has_training_split(job))
        status = copy_keep_moments(&job->copy, &source);
    for (unsigned p = 0; p < job->part_count && !status; p++)
        status =
            copy_records(&job->copy, &source, job->parts[p].split, job->parts[p].ids, job->parts[p].count);
    if (!status)
        status = copy_commit(&job->copy, apl_store_info(job->store)->source_format);
    if (!status && !job->copy.quiet)
        printf("%s: %s of %s\n", shown(job->copy.path), count_text(job->copy.total),
               counted(apl_store_info(job->store)->records, "record"));
    return status;
}

static int extract(struct job *job)
{
    apl_error err;
    if (expect_open(job->path, &job->store, &err) != APL_OK)
        return failed("%s", err.message);
    job->copy.options.block_records = apl_store_info(job->store)->block_records;
    interrupt_catch();
    progress_begin(&job->copy.progress, !job->copy.quiet && !job->copy.no_progress);
    int status = write_store(job);
    copy_close(&job->copy);
    for (unsigned p = 0; p < job->part_count; p++)
        free(job->parts[p].ids);
    free(job->parts);
    apl_store_close(job->store);
    return status;
}

static int take_text(const char **list, unsigned *count, unsigned most, const char *what, const char *text)
{
    if (*count == most)
        return misuse("more than %u times --%s", most, what);
    if (!*text)
        return misuse("option '--%s' needs a value", what);
    list[(*count)++] = text;
    return 0;
}

static int take_split(void *user, const char *text)
{
    struct job *job = user;
    return take_text(job->splits, &job->split_count, MOST, "split", text);
}

static int take_where(void *user, const char *text)
{
    struct job *job = user;
    return take_text(job->conditions, &job->condition_count, MOST, "where", text);
}

static int take_fields(void *user, const char *names)
{
    return field_names_take(&((struct job *)user)->fields, names);
}

static const struct option_row rows[] = {
    {0, "split", "NAME", "only this split; may be repeated (default: all of the source)", OPTION_CALL, 0,
     take_split},
    {0, "where", "CONDITION",
     "only records such as label=cat,dog, or with !=; whole numbers (bools\n"
     "are 0 and 1) also with <, <=, > or >=; a comma in a name is \\,; if\n"
     "repeated, all must hold",
     OPTION_CALL, 0, take_where},
    {0, "fields", "FIELD,...", "only these fields", OPTION_CALL, 0, take_fields},
    CACHE_ROWS,
    EXPECT_ROW,
    COPY_ROWS(struct job, copy),
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata extract [OPTION]... DB OUT\n"
            "Make the store OUT of some records of the store DB.\n"
            "\n",
    .column = 25,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

int cmd_extract(int argc, char **argv)
{
    struct job job = {.copy.options = APL_WRITER_OPTIONS_INIT};
    int status = options_read(&line, &job, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", "OUT", NULL});
    if (status)
        return options_status(status);
    job.path = argv[optind];
    job.copy.path = argv[optind + 1];
    return extract(&job);
}
