/* The calls that write a store: opening, members and records, committing; those that describe its fields are in writer_fields.c. */
#include "writer.h"

#include "forks.h"
#include "sized.h"

#include <stdlib.h>
#include <unistd.h>

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

/* ----------------------------------------------------------------------------------------------- calls */

/* Every call that may break the writer ends with this. */
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
    TRY(writer_close_schema(w, err));
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
    kind_values_count(&w->kinds, values);
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
    if (kind_values_check(&w->kinds, values, &error) !=
        APL_OK) /* nothing has been taken: the writer goes on */
        return fail(err, error.status, "%s: record %llu, %s", w->path, (unsigned long long)w->records,
                    error.message);
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
