/* apl_ingest: a source is read member by member, and what its format makes of them appended to a writer. */
#include "choose.h"
#include "gather.h"
#include "hash.h"
#include "image_options.h"
#include "members.h"
#include "parts.h"
#include "sized.h"
#include "unread.h"

#include <stdio.h>
#include <sys/stat.h>

static apl_status describe_source(struct ingest *in, apl_ingest_summary *sum, apl_error *err)
{
    TRY(in->format->finish(in->state, sum->format, err));
    if (in->share.parts) { /* it has not read the source to its end */
        TRY(parts_splits(in, err));
        return apl_writer_set_source(in->writer, sum->format, NULL, err);
    }
    TRY(members_digest(in, sum->source_digest, err));
    return apl_writer_set_source(in->writer, sum->format, sum->source_digest, err);
}

/* The size of the file that has been made. */
static uint64_t file_size(const char *db)
{
    size_t size = strlen(db) + sizeof "/data.mdb";
    char *path = malloc(size);
    struct stat st = {0};
    if (path) {
        snprintf(path, size, "%s/data.mdb", db);
        if (stat(path, &st) != 0)
            st.st_size = 0;
    }
    free(path);
    return (uint64_t)st.st_size;
}

static apl_status commit(struct ingest *in, apl_ingest_summary *sum, apl_error *err)
{
    apl_progress appended;
    apl_writer_progress(in->writer, &appended);
    count_source(in);
    sum->source_bytes = in->progress.source_bytes;
    said_kinds_tell(&in->host, in->writer);
    end_format(in); /* what reading needed: the memory is free for reading back */
    apl_writer_on_commit(in->writer, report_checking, in);
    TRY(apl_writer_commit(in->writer, err));
    sum->records = in->progress.records = appended.records;
    sum->raw_bytes = in->progress.raw_bytes = appended.raw_bytes;
    sum->file_bytes = in->progress.stored_bytes = file_size(in->db);
    in->progress.phase = APL_INGEST_DONE;
    report_read(in);
    return APL_OK;
}

/* A list of texts that an option points to. */
static apl_status check_texts(const char *name, const char *count_name, const char *const *texts,
                              size_t count, apl_error *err)
{
    if (count > 0 && !texts)
        return fail(err, APL_E_INVALID, "%s is NULL, but %s is %zu", name, count_name, count);
    for (size_t i = 0; i < count; i++)
        if (!texts[i])
            return fail(err, APL_E_INVALID, "%s[%zu] is NULL", name, i);
    return APL_OK;
}

static apl_status check_lists(const apl_ingest_options *o, apl_error *err)
{
    TRY(check_texts("more", "more_count", o->more, o->more_count, err));
    TRY(check_texts("map", "map_count", o->map, o->map_count, err));
    TRY(check_texts("more_image_columns", "more_image_column_count", o->more_image_columns,
                    o->more_image_column_count, err));
    TRY(check_texts("kinds", "kind_count", o->kinds, o->kind_count, err));
    TRY(check_texts("mask_columns", "mask_column_count", o->mask_columns, o->mask_column_count, err));
    return check_texts("column_types", "column_type_count", o->column_types, o->column_type_count, err);
}

static apl_status take_ingest_options(struct ingest *in, const apl_ingest_options *options, apl_error *err)
{
    in->options = (apl_ingest_options)APL_INGEST_OPTIONS_INIT;
    in->writing = (apl_writer_options)APL_WRITER_OPTIONS_INIT;
    TRY(options_take(&in->options, sizeof in->options, options, "apl_ingest_options", err));
    TRY(options_take(&in->writing, sizeof in->writing, in->options.writer, "apl_writer_options", err));
    TRY(check_lists(&in->options, err));
    TRY(said_kinds_read(&in->options, &in->kinds, err));
    host_begin(in);
    TRY(image_options_take(&in->options, &in->host.images, err));
    in->writing.tool = image_options_tool(
        &in->options, in->writing.tool ? in->writing.tool : "aplingest " APL_VERSION_STRING, in->tool,
        sizeof in->tool);
    return APL_OK;
}

static apl_status make_store(struct ingest *in, const char *source, struct files **files,
                             apl_ingest_summary *sum, apl_error *err)
{
    TRY(gather_sources(in, source, err));
    apl_status status = choose_format(in, files, err);
    if (status == APL_OK)
        status = unread_check(in, err);
    if (status == APL_OK)
        status = unread_tell(in, false, err);
    if (status == APL_OK)
        status = members_read(in, err);
    if (status == APL_OK)
        status = unread_tell(in, true, err);
    if (status == APL_OK)
        status = describe_source(in, sum, err);
    TRY(refuse_pipe(in, status, err));
    return commit(in, sum, err);
}

/* A part of a set; the last one to be made seals it. */
static apl_status make_part(struct ingest *in, const char *source, struct files **files,
                            apl_ingest_summary *sum, apl_error *err)
{
    TRY(parts_begin(in, in->db, source, err));
    apl_status status = make_store(in, source, files, sum, err);
    if (status == APL_E_EXISTS && in->present)
        status = parts_present(in, sum, err);
    TRY(status);
    apl_writer_close(in->writer); /* who seals the list reads the shard */
    in->writer = NULL;
    return parts_seal(in, err);
}

apl_status apl_ingest(const char *source, const char *db, const apl_ingest_options *options,
                      apl_ingest_summary *summary, apl_error *err)
{
    apl_error own;
    apl_ingest_summary sum = {.format = ""};
    struct ingest in = {.db = db, .standard = {.fd = -1}};
    struct files *files = NULL;
    if (!err)
        err = &own;
    if (!source || !db)
        return fail(err, APL_E_INVALID, "the source and the store must be named");
    apl_status status = take_ingest_options(&in, options, err);
    if (status == APL_OK)
        status = in.options.parts || in.options.part ? make_part(&in, source, &files, &sum, err)
                                                     : make_store(&in, source, &files, &sum, err);
    if (status == APL_OK && summary)
        *summary = sum;
    end_format(&in);
    files_free(files);
    sha256_free(in.sha);
    gather_free(&in);
    said_kinds_free(&in.kinds);
    buffer_free(&in.listed);
    apl_writer_close(in.writer);
    parts_end(&in, status != APL_OK);
    return status;
}
