/* What aplingest says in the end. */
#include "aplingest.h"
#include "args.h"
#include "describe.h"
#include "report.h"
#include "table.h"
#include "wrapped.h"

#include <stdio.h>
#include <stdlib.h>

int report_failure(const struct job *job, const apl_error *err)
{
    if (err->status == APL_E_CANCELLED)
        return EXIT_FAILURE; /* the signal speaks for itself */
    failed_unless_forced(err);
    return job->json ? print_json(json_failure(err), EXIT_FAILURE) : EXIT_FAILURE;
}

int report_split_failure(const struct job *job, const apl_error *err)
{
    failed_unless_forced(err);
    failed("%s: the store has been made, but not all of its splits", shown(job->db));
    return job->json ? print_json(json_failure(err), EXIT_FAILURE) : EXIT_FAILURE;
}

/* The splits that were made. */
static json_t *splits_json(const struct job *job)
{
    apl_store *store;
    json_t *list = json_array();
    if (job->split_count == 0 || apl_store_open(job->db, NULL, &store, NULL) != APL_OK)
        return list;
    for (unsigned i = 0; i < job->split_count; i++)
        json_array_append_new(list, split_named_json(store, job->splits[i].name));
    apl_store_close(store);
    return list;
}

/* What there is, and who has said so. */
static json_t *fields_json(const struct job *job)
{
    apl_store *store;
    const apl_field *f;
    char kind[APL_KIND_BYTES];
    json_t *list = json_array();
    if (apl_store_open(made_path(job), NULL, &store, NULL) != APL_OK)
        return list;
    for (unsigned i = 0; (f = apl_store_field(store, i)); i++) {
        apl_kind_print(NULL, f->kind, kind, sizeof kind);
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o}", "name", json_text(f->name), "type",
                            json_text(type_text(f)), "kind", f->kind ? json_text(kind) : json_null(), "from",
                            f->kind ? json_text(origin_text(f->kind->origin)) : json_null()));
    }
    apl_store_close(store);
    return list;
}

static int report_json(const struct job *job, const apl_ingest_summary *sum, double seconds)
{
    json_t *digest = job->ingest.parts ? json_null() : json_digest(sum->source_digest);
    json_t *object =
        json_pack("{s:b, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o, s:O, s:O}", "ok", 1, "source",
                  json_text(job->source), "db", json_text(job->db), "format", sum->format, "records",
                  json_count(sum->records), "raw_bytes", json_count(sum->raw_bytes), "source_bytes",
                  json_count(sum->source_bytes), "file_bytes", json_count(sum->file_bytes), "ratio",
                  json_real((double)sum->file_bytes / (double)(sum->raw_bytes + !sum->raw_bytes)), "seconds",
                  seconds, "source_sha256", digest, "named_splits", splits_json(job), "skipped",
                  job->skipped.list, "warned", job->warned.list);
    json_object_set_new(object, "fields", fields_json(job));
    if (job->ingest.parts)
        json_object_set_new(object, "part", part_json(job));
    return print_json(object, EXIT_SUCCESS);
}

/* What there is, and who has said so. */
static int report_fields(const apl_store *store)
{
    struct table table = TABLE("llll");
    const apl_field *f;
    for (const char *const *head = (const char *const[]){"field", "type", "kind", "from", NULL}; *head;
         head++)
        table_add(&table, *head);
    for (unsigned i = 0; (f = apl_store_field(store, i)); i++) {
        table_add(&table, shown(f->name));
        table_add(&table, f->media ? shown(f->media) : type_text(f));
        table_add(&table, kind_text(f->kind));
        table_add(&table, f->kind ? origin_text(f->kind->origin) : "-");
    }
    return table_print(&table);
}

/* The fields, and the splits; and what -v adds: how the fields are stored, as `apldata info` shows it. */
static int report_store(const struct job *job)
{
    apl_store *store;
    apl_error err;
    int status = EXIT_SUCCESS;
    if (apl_store_open(made_path(job), NULL, &store, &err) != APL_OK)
        return failed("%s", err.message);
    if (!job->verbose)
        status = report_fields(store);
    for (unsigned i = 0; i < job->split_count && !status; i++)
        status = split_tell(job->db, store, job->splits[i].name);
    if (job->verbose && !status) {
        status = describe_fields(store);
        printf("content sha256 %s\n", digest_text(apl_store_info(store)->content_digest));
        printf("digest         %s\n", digest_text(apl_store_info(store)->digest));
    }
    apl_store_close(store);
    return status;
}

int report_success(const struct job *job, const apl_ingest_summary *sum, double seconds)
{
    if (job->json)
        return report_json(job, sum, seconds);
    if (job->quiet)
        return EXIT_SUCCESS;
    print_line(0, "%s: %s, %s -> %s (%s), %s, %s", shown(made_path(job)), counted(sum->records, "record"),
               size_text(sum->raw_bytes), size_text(sum->file_bytes),
               ratio_text(sum->file_bytes, sum->raw_bytes), duration_text(seconds),
               rate_text(sum->raw_bytes, seconds));
    if (job->skipped.count)
        printf("bad files skipped: %s\n", count_text(job->skipped.count));
    if (job->warned.count)
        printf("files kept with warnings: %s\n", count_text(job->warned.count));
    if (job->ingest.parts)
        part_tell(job);
    if (job->verbose && !job->ingest.parts)
        printf("source sha256 %s, %s, %s\n", digest_text(sum->source_digest), sum->format,
               size_text(sum->source_bytes));
    return report_store(job);
}

void report_stale_splits(const struct job *job)
{
    apl_store *store;
    apl_split_list *list;
    const apl_split_file *f;
    if (apl_store_open(job->db, NULL, &store, NULL) != APL_OK)
        return;
    if (apl_split_list_open(store, &list, NULL) == APL_OK) {
        for (size_t i = 0; (f = apl_split_list_file(list, i)); i++)
            if (split_is_stale(f))
                note("%s; it is not used, and can be removed", f->message);
        apl_split_list_close(list);
    }
    apl_store_close(store);
}
