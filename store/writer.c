/* The calls that write a store: opening, describing its fields, members and records, committing. */
#include "writer.h"

#include "forks.h"
#include "sized.h"

#include <stdlib.h>
#include <unistd.h>

#define POSITION_FIELD "source_position"

/* -------------------------------------------------------------------------------------- open and close */

static apl_status check_writer_options(const apl_writer_options *o, apl_error *err)
{
    if (o->block_records > APL_MAX_BLOCK)
        return fail(err, APL_E_INVALID, "%u records per block: at most %u", o->block_records, APL_MAX_BLOCK);
    if (o->codec && codec_by_name(o->codec) < 0)
        return fail(err, APL_E_INVALID, "there is no codec %.64s", o->codec);
    if (o->level < -128 || o->level > 22)
        return fail(err, APL_E_INVALID, "level %d: not -128 to 22", o->level);
    if (o->tool && !name_ok(o->tool, strlen(o->tool)))
        return fail(err, APL_E_INVALID, "the tool's name is not 1 to %d bytes of printable UTF-8",
                    APL_MAX_NAME);
    return APL_OK;
}

static apl_status take_writer_options(apl_writer *w, const char *path, const apl_writer_options *o,
                                      apl_error *err)
{
    size_t size = strlen(path) * 4 + 1;
    w->path = malloc(size);
    w->tool = strdup(o->tool ? o->tool : "apldata " APL_VERSION_STRING);
    if (!w->path || !w->tool)
        return fail_nomem(err);
    printable(w->path, size, path, strlen(path));
    w->threads = o->threads == APL_NO_THREADS ? 0 : threads_for(o->threads);
    w->block_records = o->block_records;
    w->want_codec = o->codec ? codec_by_name(o->codec) : -1;
    w->want_level = o->level;
    w->shuffle = o->shuffle;
    w->shuffle_seed = o->shuffle_seed;
    w->scratch = -1;
    return APL_OK;
}

apl_status apl_writer_open(const char *path, const apl_writer_options *options, apl_writer **writer,
                           apl_error *err)
{
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    if (!path || !writer)
        return fail(err, APL_E_INVALID, "apl_writer_open: path or writer is NULL");
    TRY(options_take(&o, sizeof o, options, "apl_writer_options", err));
    TRY(check_writer_options(&o, err));
    apl_error own;
    err = err ? err : &own;
    apl_writer *w = calloc(1, sizeof *w);
    if (!w)
        return fail_nomem(err);
    w->forks = forks_so_far();
    apl_status status = take_writer_options(w, path, &o, err);
    if (status == APL_OK)
        status = staging_open(path, o.replace, &w->staging, err);
    if (status == APL_OK)
        status = staging_create(w->staging, &w->file, err);
    if (status == APL_OK) {
        status = lmdb_writer_create(w->file, staging_temporary(w->staging), &w->lmdb, err);
        if (status != APL_OK)
            fail_in(err, status, "%s", w->path);
    }
    if (status == APL_OK && w->shuffle)
        status = staging_scratch(w->staging, &w->scratch, err);
    if (status == APL_OK)
        status = writer_start_pipeline(w, err);
    if (status == APL_OK)
        *writer = w;
    else
        apl_writer_close(w);
    return status;
}

static void free_lists(apl_writer *w)
{
    size_t n;
    struct writer_member *members = writer_members(w, &n);
    for (size_t i = 0; i < n; i++)
        free(members[i].name);
    struct writer_split *splits = writer_splits(w, &n);
    for (size_t i = 0; i < n; i++) {
        free(splits[i].name);
        external_shuffle_free(splits[i].shuffle);
    }
    buffer_free(&w->members);
    buffer_free(&w->splits);
}

/* In a child, its files and threads are the parent's; in a callback, its commit still needs it. */
void apl_writer_close(apl_writer *w)
{
    if (!w || w->forks != forks_so_far() || w->committing)
        return;
    writer_free_pipeline(w);
    lmdb_writer_close(w->lmdb);
    if (w->scratch >= 0)
        close(w->scratch);
    staging_close(w->staging);
    free_lists(w);
    buffer_free(&w->fingerprints);
    for (unsigned f = 0; f < APL_MAX_FIELDS; f++)
        free(w->training[f]);
    schema_free(&w->schema);
    free(w->path);
    free(w->tool);
    free(w->source_format);
    manifest_free(&w->skipped);
    free(w);
}

/* ------------------------------------------------------------------------------------------ describing */

/* Every call begins with this: a writer that has failed stays failed. */
apl_status writer_ready(const apl_writer *w, apl_error *err)
{
    if (!w)
        return fail(err, APL_E_INVALID, "the writer is NULL");
    if (w->forks != forks_so_far())
        return fail(err, APL_E_FORKED, "%s: the writer belongs to the parent process", w->path);
    if (w->committing)
        return fail(err, APL_E_REENTRANT, "%s: called from the callback of its own commit", w->path);
    if (w->status != APL_OK && err)
        *err = w->error;
    if (w->status == APL_OK && w->committed)
        return fail(err, APL_E_INVALID, "%s: the store has been committed", w->path);
    return w->status;
}

/* And every call that may break the writer ends with this. */
static apl_status finish(apl_writer *w, apl_status status, const apl_error *error, apl_error *err)
{
    if (status == APL_OK)
        return APL_OK;
    w->status = status;
    w->error = *error;
    fail_in(&w->error, status, "%s", w->path);
    if (err)
        *err = w->error;
    return status;
}

apl_status apl_writer_add_field(apl_writer *w, const char *name, apl_dtype dtype, apl_role role,
                                unsigned ndim, const int64_t *shape, apl_error *err)
{
    TRY(writer_ready(w, err));
    if (w->schema_closed)
        return fail(err, APL_E_INVALID, "%s: fields come before the first member", w->path);
    if (role == APL_POSITION)
        return fail(err, APL_E_INVALID,
                    "%s: source positions are what the writer itself adds to shuffled stores", w->path);
    if (w->shuffle && name && strcmp(name, POSITION_FIELD) == 0)
        return fail(err, APL_E_INVALID,
                    "%s: " POSITION_FIELD " is the field that the writer itself adds to shuffled stores",
                    w->path);
    if (w->shuffle && w->schema.count + 1 >= APL_MAX_FIELDS)
        return fail(err, APL_E_INVALID,
                    "%s: more than %u fields: a shuffled store has " POSITION_FIELD " too", w->path,
                    APL_MAX_FIELDS - 1);
    return schema_add(&w->schema, name, name ? strlen(name) : 0, dtype, role, ndim, shape, err);
}

apl_status apl_writer_set_media(apl_writer *w, const char *field, const char *media, apl_error *err)
{
    TRY(writer_ready(w, err));
    if (w->schema_closed)
        return fail(err, APL_E_INVALID, "%s: fields come before the first member", w->path);
    int f = schema_find(&w->schema, field);
    if (f < 0 || !media)
        return fail(err, APL_E_NOTFOUND, "%s: no such field, or no media type", w->path);
    return schema_set_media(&w->schema, (unsigned)f, media, strlen(media), err);
}

apl_status apl_writer_set_indexed(apl_writer *w, const char *field, apl_error *err)
{
    TRY(writer_ready(w, err));
    if (w->schema_closed)
        return fail(err, APL_E_INVALID, "%s: fields come before the first member", w->path);
    int f = schema_find(&w->schema, field);
    if (f < 0)
        return fail(err, APL_E_NOTFOUND, "%s: no such field", w->path);
    const char *media = w->schema.fields[f].media;
    if (!media || strcmp(media, "image/jpeg") != 0)
        return fail(err, APL_E_INVALID, "%s: field %s: only kept fields of type image/jpeg are indexed",
                    w->path, field);
    w->schema.indexed[f] = true;
    return APL_OK;
}

apl_status apl_writer_set_classes(apl_writer *w, const char *field, const char *const *names, uint64_t count,
                                  apl_error *err)
{
    TRY(writer_ready(w, err));
    int f = schema_find(&w->schema, field);
    if (f < 0 || !names)
        return fail(err, APL_E_NOTFOUND, "%s: no such field, or no names", w->path);
    return schema_set_new_classes(&w->schema, (unsigned)f, names, count, err);
}

/* Safe to print, and not too long. */
static size_t plain_text(const char *text, char shown[APL_MAX_SKIPPED_TEXT + 1])
{
    printable(shown, APL_MAX_SKIPPED_TEXT + 1, *text ? text : "-", *text ? strlen(text) : 1);
    return strlen(shown);
}

apl_status apl_writer_skipped(apl_writer *w, const char *path, const char *why, apl_error *err)
{
    char plain_path[APL_MAX_SKIPPED_TEXT + 1], plain_why[APL_MAX_SKIPPED_TEXT + 1];
    TRY(writer_ready(w, err));
    if (!path || !why)
        return fail(err, APL_E_INVALID, "%s: a skipped file without a path or a reason", w->path);
    w->skipped.info.skipped++;
    size_t path_length = plain_text(path, plain_path), why_length = plain_text(why, plain_why);
    return manifest_add_skipped(&w->skipped, plain_path, path_length, plain_why, why_length, err);
}

apl_status apl_writer_set_source(apl_writer *w, const char *format, const uint8_t *sha256, apl_error *err)
{
    TRY(writer_ready(w, err));
    if (format && *format && !name_ok(format, strlen(format)))
        return fail(err, APL_E_INVALID, "%s: the source's format is not printable UTF-8", w->path);
    free(w->source_format);
    w->source_format = strdup(format ? format : "");
    if (!w->source_format)
        return fail_nomem(err);
    w->has_source_digest = sha256 != NULL;
    if (sha256)
        memcpy(w->source_digest, sha256, 32);
    return APL_OK;
}

/* The schema is complete: adds the position to it if need be, and decides how many records a block holds. */
static apl_status close_schema(apl_writer *w, apl_error *err)
{
    if (w->schema_closed)
        return APL_OK;
    if (w->schema.count == 0)
        return fail(err, APL_E_INVALID, "%s: a member without fields to fill", w->path);
    w->user_fields = w->schema.count;
    if (w->shuffle)
        TRY(schema_add(&w->schema, POSITION_FIELD, strlen(POSITION_FIELD), APL_U64, APL_POSITION, 0, NULL,
                       err));
    if (w->block_records == 0)
        w->block_records = writer_usual_records(&w->schema);
    w->schema_closed = true;
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------- members */

static apl_status find_split(apl_writer *w, const char *name, uint32_t *index, apl_error *err)
{
    size_t n;
    struct writer_split *splits = writer_splits(w, &n);
    for (*index = 0; *index < n; (*index)++)
        if (strcmp(splits[*index].name, name) == 0)
            return APL_OK;
    struct writer_split split = {.name = strdup(name)};
    if (!split.name)
        return fail_nomem(err);
    apl_status status = APL_OK;
    if (w->shuffle)
        status =
            external_shuffle_new(&w->schema, w->user_fields, random_key(w->shuffle_seed, RANDOM_STORE_ORDER),
                                 w->scratch, &w->scratch_end, &w->coders[w->threads], &split.shuffle, err);
    if (status == APL_OK)
        buffer_put(&w->splits, &split, sizeof split);
    if (status == APL_OK && w->splits.failed)
        status = fail_nomem(err);
    if (status != APL_OK) {
        free(split.name);
        external_shuffle_free(split.shuffle);
    }
    return status; /* NOLINT(clang-analyzer-unix.Malloc): w->splits owns the name */
}

static apl_status start_member(apl_writer *w, const char *name, const char *split, uint32_t number,
                               apl_error *err)
{
    struct writer_member member = {.number = number};
    size_t n;
    struct writer_member *members = writer_members(w, &n);
    for (size_t i = 0; i < n; i++)
        if (members[i].number == number)
            return fail(err, APL_E_INVALID, "members %s and %s have the same number %u", members[i].name,
                        name, number);
    if (n >= MANIFEST_MAX_LIST)
        return fail(err, APL_E_INVALID, "more than %u members", MANIFEST_MAX_LIST);
    TRY(find_split(w, split, &member.split, err));
    if (!w->shuffle)
        TRY(writer_begin_segment(w, number, err));
    member.name = strdup(name);
    if (!member.name)
        return fail_nomem(err);
    buffer_put(&w->members, &member, sizeof member);
    if (w->members.failed) {
        free(member.name);
        return fail_nomem(err);
    }
    w->member = n + 1; /* NOLINT(clang-analyzer-unix.Malloc): w->members owns the name */
    return APL_OK;
}

apl_status apl_writer_begin_member(apl_writer *w, const char *name, const char *split, uint32_t number,
                                   apl_error *err)
{
    TRY(writer_ready(w, err));
    if (!name || !name_ok(name, strlen(name)) || !split || !name_ok(split, strlen(split)))
        return fail(err, APL_E_INVALID,
                    "%s: names of member and split must be 1 to %d bytes of printable UTF-8", w->path,
                    APL_MAX_NAME);
    TRY(close_schema(w, err));
    apl_error error;
    return finish(w, start_member(w, name, split, number, &error), &error, err);
}

/* A shuffled store's records go into the shuffle of their split, with a position that tells member and place;
 * what it is among all records is known once all members are, in seal.c. */
static apl_status shuffle_in(apl_writer *w, const struct writer_member *member, const apl_value *values,
                             apl_error *err)
{
    apl_value with_position[APL_MAX_FIELDS];
    size_t n;
    uint64_t position = (uint64_t)member->number << 32 | member->count;
    if (member->count > UINT32_MAX)
        return fail(err, APL_E_INVALID, "member %s: more than 2^32 records", member->name);
    memcpy(with_position, values, w->user_fields * sizeof *values);
    with_position[w->user_fields] = (apl_value){&position, NULL};
    return external_shuffle_add(writer_splits(w, &n)[member->split].shuffle, with_position, err);
}

static apl_status append(apl_writer *w, const apl_value *values, apl_error *err)
{
    size_t n;
    struct writer_member *member = &writer_members(w, &n)[w->member - 1];
    if (w->shuffle)
        TRY(shuffle_in(w, member, values, err));
    else
        TRY(writer_put(w, values, err));
    for (unsigned f = 0; f < w->user_fields; f++)
        w->raw_bytes += raw_value_bytes(&w->schema.fields[f], &values[f]);
    w->raw_bytes += w->shuffle ? sizeof(uint64_t) : 0; /* the position */
    member->count++;
    w->records++;
    return APL_OK;
}

apl_status apl_writer_append(apl_writer *w, const apl_value *values, apl_error *err)
{
    TRY(writer_ready(w, err));
    if (w->member == 0 || !values)
        return fail(err, APL_E_INVALID, "%s: a record without a member, or without values", w->path);
    apl_error error;
    return finish(w, append(w, values, &error), &error, err);
}

/* --------------------------------------------------------------------------------- progress and commit */

void apl_writer_progress(const apl_writer *w, apl_progress *progress)
{
    if (!progress)
        return;
    *progress = (apl_progress){0};
    if (!w)
        return;
    progress->records = w->records;
    progress->raw_bytes = w->raw_bytes;
    progress->stored_bytes = atomic_load_explicit(&w->stored_bytes, memory_order_relaxed);
}

void apl_writer_on_commit(apl_writer *w, int (*callback)(void *user, const apl_progress *progress),
                          void *user)
{
    if (!w)
        return;
    w->on_commit = callback;
    w->on_commit_user = user;
}

apl_status apl_writer_commit(apl_writer *w, apl_error *err)
{
    TRY(writer_ready(w, err));
    apl_error error;
    w->committing = true;
    apl_status status = writer_seal(w, &error);
    w->committing = false;
    w->committed = status == APL_OK;
    return finish(w, status, &error, err);
}
