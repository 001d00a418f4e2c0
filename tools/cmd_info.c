/* apldata info: what is in a store. */
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "describe.h"
#include "image_sizes.h"
#include "json.h"
#include "report.h"
#include "splits.h"

#include <stdio.h>
#include <stdlib.h>

struct job {
    bool json, verbose;
};

static const struct option_row rows[] = {
    JSON_ROW(struct job, json),
    {'v', "verbose", NULL, "every class, every digest, and sizes of images, however many", OPTION_FLAG,
     offsetof(struct job, verbose), NULL},
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata info [OPTION]... DB\n"
            "Describe the store DB.\n"
            "\n",
    .column = 19,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

static json_t *shape_json(const apl_field *field)
{
    json_t *shape = json_array();
    for (unsigned d = 0; d < field->ndim; d++)
        json_array_append_new(shape, json_integer(field->shape[d]));
    return shape;
}

static json_t *classes_json(const apl_field *field)
{
    json_t *classes = json_array();
    for (uint64_t c = 0; c < field->class_count; c++)
        json_array_append_new(classes, json_text(field->classes[c]));
    return classes;
}

/* As text that apldata set-kind takes, without the name of the field, and who has said it. */
static json_t *kind_json(const apl_kind *kind)
{
    char text[APL_KIND_BYTES];
    if (!kind)
        return json_null();
    return json_pack("{s:o, s:s}", "kind", json_text(apl_kind_print(NULL, kind, text, sizeof text)), "origin",
                     origin_text(kind->origin));
}

static json_t *field_json(const apl_store *store, unsigned i)
{
    const apl_field *f = apl_store_field(store, i);
    return json_pack("{s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:s, s:i, s:o, s:o, s:o}", "name",
                     json_text(f->name), "dtype", apl_dtype_name(f->dtype), "shape", shape_json(f), "mark",
                     role_text(f->role), "kind", kind_json(f->kind), "classes", classes_json(f), "media",
                     f->media ? json_text(f->media) : json_null(), "indexed", json_count(f->indexed), "codec",
                     f->codec, "level", f->level, "raw_bytes", json_count(f->raw_bytes), "stored_bytes",
                     json_count(f->stored_bytes), "sha256", json_digest(f->digest));
}

/* The most counts that are listed: even a small file can claim more splits and classes than fit in memory. */
#define COUNTS_LISTED ((uint64_t)1 << 22)

static bool counts_listed(const apl_store *store)
{
    uint64_t classes = 0; /* below 2^26 */
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++)
        classes += apl_store_field(store, i)->class_count;
    return classes * apl_store_info(store)->splits <= COUNTS_LISTED;
}

/* The number of records of the split in each class. */
static json_t *class_counts_json(const apl_store *store, unsigned split)
{
    json_t *fields = json_object();
    bool listed = counts_listed(store);
    for (unsigned i = 0; listed && i < apl_store_info(store)->fields; i++) {
        const apl_field *f = apl_store_field(store, i);
        if (!f->class_count)
            continue;
        json_t *counts = json_array();
        for (uint64_t c = 0; c < f->class_count; c++)
            json_array_append_new(counts, json_count(apl_store_class_count(store, split, i, c)));
        json_object_set_new(fields, shown(f->name), counts);
    }
    return fields;
}

static json_t *moments_json(const apl_store *store, unsigned split)
{
    json_t *fields = json_object();
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        json_t *means = json_array(), *deviations = json_array();
        double mean, std;
        for (unsigned c = 0; apl_store_moments(store, split, i, c, &mean, &std) == APL_OK; c++) {
            json_array_append_new(means, json_real(mean));
            json_array_append_new(deviations, json_real(std));
        }
        if (apl_store_field(store, i)->role == APL_INPUT && json_array_size(means))
            json_object_set_new(fields, shown(apl_store_field(store, i)->name),
                                json_pack("{s:O, s:O}", "mean", means, "deviation", deviations));
        json_decref(means);
        json_decref(deviations);
    }
    return fields;
}

static json_t *split_json(const apl_store *store, unsigned i)
{
    const apl_split *s = apl_store_split(store, i);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", json_text(s->name), "first", json_count(s->first),
                     "count", json_count(s->count), "class_counts", class_counts_json(store, i), "moments",
                     moments_json(store, i));
}

static json_t *member_json(const apl_store *store, unsigned i)
{
    const apl_member *m = apl_store_member(store, i);
    return json_pack("{s:o, s:o, s:o, s:o}", "name", json_text(m->name), "split", json_text(m->split),
                     "first", json_count(m->first), "count", json_count(m->count));
}

static json_t *list_json(const apl_store *store, unsigned count,
                         json_t *(*item)(const apl_store *store, unsigned i))
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(list, item(store, i));
    return list;
}

/* A seed has 64 bits, more than numbers hold in many JSON readers, so it is written as a string. */
static json_t *seed_json(const apl_info *info)
{
    char seed[24];
    if (!info->shuffled)
        return json_null();
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)info->shuffle_seed);
    return json_string(seed);
}

static json_t *split_files_json(apl_store *store, const apl_split_list *list)
{
    json_t *files = list ? json_array() : json_null();
    const apl_split_file *f;
    for (size_t i = 0; (f = apl_split_list_file(list, i)); i++)
        json_array_append_new(files, split_file_json(store, f, true));
    return files;
}

/* Files of the source that were left out, as far as they are listed. */
static json_t *skipped_json(const apl_store *store)
{
    json_t *list = json_array();
    const char *path, *why;
    for (uint64_t i = 0; (path = apl_store_skipped(store, i, &why)); i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "path", json_text(path), "why", json_text(why)));
    return list;
}

static json_t *shards_json(const apl_store *store)
{
    json_t *list = json_array();
    const apl_shard *s;
    for (unsigned i = 0; (s = apl_store_shard(store, i)); i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "name", json_text(s->name), "records",
                                              json_count(s->records), "file_bytes", json_count(s->file_bytes),
                                              "content_sha256", json_digest(s->content_digest)));
    return list;
}

static json_t *store_json(const char *path, apl_store *store, const apl_split_list *list, bool all)
{
    const apl_info *info = apl_store_info(store);
    json_t *source = info->has_source_digest ? json_digest(info->source_digest) : json_null();
    json_t *head = json_pack(
        "{s:b, s:o, s:[i,i], s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "ok", 1, "db", json_db(path),
        "format_version", (int)info->format_major, (int)info->format_minor, "tool", json_text(info->tool),
        "records", json_count(info->records), "blocks", json_count(info->blocks), "block_records",
        json_count(info->block_records), "raw_bytes", json_count(info->raw_bytes), "file_bytes",
        json_count(info->file_bytes), "source_format", json_text(info->source_format), "source_sha256",
        source, "content_sha256", json_digest(info->content_digest), "shuffle_seed", seed_json(info));
    json_t *lists = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "skipped_count", json_count(info->skipped), "skipped",
        skipped_json(store), "fields", list_json(store, info->fields, field_json), "splits",
        list_json(store, info->splits, split_json), "named_splits", split_files_json(store, list), "members",
        list_json(store, info->members, member_json), "images",
        all || image_sizes_are_near(store, path) ? image_sizes_json(store) : json_object());
    if (head && lists)
        json_object_update(head, lists);
    if (head && info->shards)
        json_object_set_new(head, "shards", shards_json(store));
    if (head)
        json_object_set_new(head, "digest", info->has_digest ? json_digest(info->digest) : json_null());
    json_decref(lists);
    return head;
}

static int info_json(const char *path, apl_store *store, bool all)
{
    apl_split_list *list;
    apl_error err;
    if (split_list(store, &list, &err) != APL_OK) {
        failed("%s", err.message);
        return print_json(json_failure(&err), EXIT_FAILURE);
    }
    int status = print_json(store_json(path, store, list, all), EXIT_SUCCESS);
    apl_split_list_close(list);
    return status;
}

static int info(const char *path, bool json, bool verbose)
{
    apl_store *store;
    apl_error err;
    if (apl_store_open(path, NULL, &store, &err) != APL_OK) {
        failed("%s", err.message);
        return json ? print_json(json_failure(&err), EXIT_FAILURE) : EXIT_FAILURE;
    }
    int status = json ? info_json(path, store, verbose) : describe_store(path, store, verbose);
    apl_store_close(store);
    return status;
}

int cmd_info(int argc, char **argv)
{
    struct job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", NULL});
    return options_status(status ? status : info(argv[optind], job.json, job.verbose));
}
