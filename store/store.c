/* Opening and describing stores. */
#define _GNU_SOURCE /* O_PATH */
#include "store_file.h"

#include "part_name.h"
#include "pinned.h"
#include "set.h"
#include "sized.h"
#include "staging.h"
#include "statistics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------- opening */

/* The path, or, if it is a link, that of the file it leads to; the caller frees it. */
static char *path_of_list(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : strdup(path);
}

/* The path is one of a file: perhaps it is the list of a set. Shards lie beside the list, wherever a link to it may be. */
static apl_status open_list_file(apl_store *store, const char *path, const apl_store_options *o,
                                 apl_error *err)
{
    char *copy = path_of_list(path), *slash = copy ? strrchr(copy, '/') : NULL;
    if (!copy)
        return fail_errno(err, errno, "%s", store->name);
    if (slash)
        *slash = 0;
    const char *directory = !slash ? "." : *copy ? copy : "/", *file = slash ? slash + 1 : copy;
    free(store->name);
    store->name = shown_path(directory);
    store->directory_name = shown_path(directory);
    apl_status status = store->name && store->directory_name ? APL_OK : fail_nomem(err);
    if (status == APL_OK)
        status = store_open_directory(store, AT_FDCWD, directory, err);
    if (status == APL_OK)
        status = set_open(store, file, NULL, o->io, o->open_shards, err);
    free(copy);
    return status;
}

static bool is_list(const char *path)
{
    static const char suffix[] = ".apl";
    struct stat st;
    size_t n = strlen(path);
    return n >= sizeof suffix && strcmp(path + n + 1 - sizeof suffix, suffix) == 0 && stat(path, &st) == 0 &&
           S_ISREG(st.st_mode);
}

/* Neither is there: perhaps parts of a set that is being made are. */
static apl_status say_missing(const apl_store *store, const apl_error *none, apl_error *err)
{
    struct parts_seen seen;
    char name[PART_NAME_BYTES];
    parts_look(store->directory, &seen);
    *err = *none;
    if (seen.parts == 0)
        return none->status;
    part_name_make(seen.missing, seen.parts, name);
    return seen.missing ? fail(err, APL_E_NOTFOUND,
                               "%s: is not a whole set yet: %u of %u parts are there, and %s is missing",
                               store->name, seen.there, seen.parts, name)
                        : fail(err, APL_E_NOTFOUND,
                               "%s: all %u parts are there, but the list is not: run any of them again, or "
                               "apldata join",
                               store->name, seen.parts);
}

/* A store, or a set. */
static apl_status open_file(apl_store *store, const char *path, const apl_store_options *o, apl_error *err)
{
    apl_error none;
    apl_status status = store_open_directory(store, AT_FDCWD, path, err);
    if (status == APL_E_NOTFOUND && is_list(path))
        return open_list_file(store, path, o, err);
    TRY(status);
    store->directory_name = shown_path(path);
    if (!store->directory_name)
        return fail_nomem(err);
    status = store_open_pages(store, o->io, &none);
    if (status == APL_E_NOTFOUND) {
        status = set_open(store, SET_FILE, o->expected_content, o->io, o->open_shards, err);
        if (status != APL_E_NOTFOUND)
            return status;
    }
    if (status == APL_E_NOTFOUND)
        return say_missing(store, &none, err);
    if (status != APL_OK)
        *err = none;
    return status;
}

/* A URL, which may be one of a file. */
static apl_status open_url(apl_store *store, const char *path, const apl_store_options *o, apl_error *err)
{
    struct url url;
    char *file = NULL;
    if (strncmp(path, "file://", 7) != 0)
        return store_open_url(store, path, o, err);
    TRY(url_parse(path, &url, err));
    apl_status status = url_path(&url, &file, err);
    url_free(&url);
    if (status == APL_OK)
        status = open_file(store, file, o, err);
    free(file);
    return status;
}

/* Split files are elsewhere. */
static apl_status open_splits(apl_store *store, const char *path, apl_error *err)
{
    char *name = shown_path(path);
    if (!name)
        return fail_nomem(err);
    free(store->directory_name);
    store->directory_name = name;
    if (store->directory >= 0)
        close(store->directory);
    store->directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    store->splits_apart = true;
    if (store->directory < 0)
        return fail_errno(err, errno, "%s: cannot open the directory for splits", name);
    return APL_OK;
}

/* The manifest's lists as the public header has them. */
static apl_status publish_lists(apl_store *store, apl_error *err)
{
    const struct manifest *m = &store->manifest;
    store->splits = calloc(m->split_count + 1, sizeof *store->splits);
    store->members = calloc(m->member_count + 1, sizeof *store->members);
    if (!store->splits || !store->members)
        return fail_nomem(err);
    for (uint32_t i = 0; i < m->split_count; i++)
        store->splits[i] = (apl_split){m->splits[i].name, m->splits[i].first, m->splits[i].count};
    for (uint32_t i = 0; i < m->member_count; i++) {
        const struct member *member = &m->members[i];
        store->members[i] = (apl_member){member->name, m->splits[member->split].name, member->first,
                                         member->count, member->number};
    }
    return APL_OK;
}

static apl_status check_expected(apl_store *store, const apl_store_options *options, apl_error *err)
{
    if (options->expected_content &&
        memcmp(options->expected_content, store->manifest.info.content_digest, 32) != 0)
        return fail(err, APL_E_MISMATCH, "%s: the content digest is not the one expected", store->name);
    return options->expected_digest ? store_pin(store, options->expected_digest, err) : APL_OK;
}

apl_status apl_store_open(const char *path, const apl_store_options *options, apl_store **store,
                          apl_error *err)
{
    if (!path || !store)
        return fail(err, APL_E_INVALID, "apl_store_open: path or store is NULL");
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    TRY(options_take(&o, sizeof o, options, "apl_store_options", err));
    if ((unsigned)o.io > APL_IO_READ)
        return fail(err, APL_E_INVALID, "apl_store_options: io is %d, which no way to read has", (int)o.io);
    apl_error own; /* inner calls put their place in front of the message, and need one to put it in */
    err = err ? err : &own;
    apl_store *s;
    TRY(store_new(url_is(path) ? shown_url(path) : shown_path(path), &s, err));
    apl_status status = url_is(path) ? open_url(s, path, &o, err) : open_file(s, path, &o, err);
    if (status == APL_OK)
        status = publish_lists(s, err);
    if (status == APL_OK)
        status = check_expected(s, &o, err);
    if (status == APL_OK && o.split_directory)
        status = open_splits(s, o.split_directory, err);
    if (status == APL_OK)
        *store = s;
    else
        apl_store_close(s);
    return status;
}

void apl_store_close(apl_store *store)
{
    store_release(store);
}

void store_release(apl_store *store)
{
    if (!store || !store_drop(store))
        return;
    set_close(store->set);
    store_free(store);
}

/* ------------------------------------------------------------------------------------------ describing */

const char *store_file_name(const apl_store *store)
{
    return store->set ? set_place_of(store->set)->file : STORE_FILE;
}

const apl_info *apl_store_info(const apl_store *store)
{
    return store ? &store->manifest.info : NULL;
}

const apl_field *apl_store_field(const apl_store *store, unsigned i)
{
    return store && i < store->manifest.schema.count ? &store->manifest.schema.fields[i] : NULL;
}

const char *apl_store_skipped(const apl_store *store, uint64_t i, const char **why)
{
    return store ? manifest_skipped(&store->manifest, i, why) : NULL;
}

const apl_split *apl_store_split(const apl_store *store, unsigned i)
{
    return store && i < store->manifest.split_count ? &store->splits[i] : NULL;
}

const apl_shard *apl_store_shard(const apl_store *store, unsigned i)
{
    return store && store->set ? set_shard(store->set, i) : NULL;
}

const apl_member *apl_store_member(const apl_store *store, unsigned i)
{
    return store && i < store->manifest.member_count ? &store->members[i] : NULL;
}

apl_status apl_store_block(const apl_store *store, uint64_t id, uint64_t *first, uint64_t *count,
                           apl_error *err)
{
    uint32_t records;
    if (!store || !first || !count)
        return fail(err, APL_E_INVALID, "apl_store_block: store, first or count is NULL");
    const struct manifest *m = &store->manifest;
    if (id >= m->info.records)
        return fail(err, APL_E_NOTFOUND, "%s: there is no record %llu", store->name, (unsigned long long)id);
    manifest_block_ids(m, manifest_block_of(m, id), first, &records);
    *count = records;
    return APL_OK;
}

int apl_store_find_field(const apl_store *store, const char *name)
{
    return store ? schema_find(&store->manifest.schema, name) : -1;
}

int apl_store_find_split(const apl_store *store, const char *name)
{
    for (uint32_t i = 0; store && name && i < store->manifest.split_count; i++)
        if (strcmp(store->splits[i].name, name) == 0)
            return (int)i;
    return -1;
}

apl_status store_find_field(const apl_store *store, const char *name, unsigned *field, apl_error *err)
{
    char shown[256];
    int found = schema_find(&store->manifest.schema, name);
    name = name ? name : "(NULL)";
    if (found < 0)
        return fail(err, APL_E_NOTFOUND, "%s: has no field %s", store->name,
                    printable(shown, sizeof shown, name, strlen(name)));
    *field = (unsigned)found;
    return APL_OK;
}

uint64_t apl_store_class_count(const apl_store *store, unsigned split, unsigned field, uint64_t cls)
{
    const struct manifest *m = store ? &store->manifest : NULL;
    if (!m || split >= m->split_count || field >= m->schema.count ||
        cls >= m->schema.fields[field].class_count)
        return 0;
    const uint64_t *counts = split_summary(&m->splits[split], field).classes;
    return counts ? counts[cls] : 0;
}

const struct moments *store_moments(const apl_store *store, unsigned split, unsigned field, unsigned channel)
{
    const struct manifest *m = &store->manifest;
    if (split >= m->split_count || field >= m->schema.count ||
        channel >= field_channels(&m->schema.fields[field]))
        return NULL;
    const struct moments *moments = split_summary(&m->splits[split], field).moments;
    return moments && moments[channel].count > 0 ? &moments[channel] : NULL;
}

apl_status apl_store_moments(const apl_store *store, unsigned split, unsigned field, unsigned channel,
                             double *mean, double *std)
{
    if (!store || !mean || !std)
        return APL_E_INVALID;
    struct colour_sums sums;
    enum colours_kind kind;
    if (store_sum_colours(store, split, field, &sums, &kind)) {
        if (channel >= COLOURS)
            return APL_E_NOTFOUND;
        colours_figures(&sums, kind, channel, mean, std);
        return APL_OK;
    }
    const struct moments *moments = store_moments(store, split, field, channel);
    if (!moments)
        return APL_E_NOTFOUND;
    moments_figures(moments, mean, std);
    return APL_OK;
}

apl_status apl_store_training_moments(const apl_store *store, unsigned field, unsigned channel, double *mean,
                                      double *std)
{
    if (!store || !mean || !std)
        return APL_E_INVALID;
    const struct manifest *m = &store->manifest;
    int train = apl_store_find_split(store, "train");
    if (train >= 0)
        return apl_store_moments(store, (unsigned)train, field, channel, mean, std);
    if (field >= m->schema.count || !m->training[field] || channel >= training_channels(&m->schema, field))
        return APL_E_NOTFOUND;
    *mean = m->training[field][channel].mean;
    *std = m->training[field][channel].std;
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- blocks */

const char *store_member_of(const apl_store *store, uint64_t id)
{
    const struct manifest *m = &store->manifest;
    return m->info.shuffled ? m->splits[manifest_split_of(m, id)].name
                            : m->members[manifest_member_of(m, id)].name;
}

apl_status store_block_error(const apl_store *store, uint64_t number, apl_status status, apl_error *err)
{
    uint64_t first;
    uint32_t count;
    const struct segment *s = manifest_block_ids(&store->manifest, number, &first, &count);
    fail_in(err, status, "%s: %s: block %llu (records %llu to %llu)", store->name,
            store_member_of(store, first), (unsigned long long)(number - s->first_block),
            (unsigned long long)first, (unsigned long long)(first + count - 1));
    return fail_records(err, status, first, count);
}
