/*
 * WebDataset as a format: tar archives in which files in a row that share a key are a record. The shards are read twice: first to learn
 * what the endings are and which keys come twice; then for their samples.
 */
#include "key_log.h"
#include "member.h"
#include "path_split.h"
#include "wds_decide.h"
#include "wds_endings.h"
#include "wds_exports.h"
#include "wds_folders.h"
#include "wds_samples.h"
#include "wds_shards.h"

#include <inttypes.h>
#include <stdio.h>

#define SCHEMA_NAME "__apl__/schema.json"
#define SCHEMA_MAX  ((uint64_t)4 << 20)

struct webdataset {
    const struct format_host *host;
    struct wds_fields fields;
    struct wds_splits splits;
    struct wds_samples samples;
    struct key_log *keys;
    struct buffer look;
    char *shard;      /* its name, safe to print */
    bool reading;     /* the second time */
    uint64_t members; /* of samples, in this shard */
    uint64_t passed;  /* files that belong to no sample */
    struct wds_folders folders;

    struct buffer key;    /* of the sample that is being read, */
    struct buffer unique; /* and with its split, in which no other has it */
    bool open;            /* there is one */
    uint64_t endings;     /* that it has; the first time */

    struct wds_shards shards;   /* what each has; of parts */
    struct wds_exports exports; /* and what those of exports say of the others */
    bool passing;               /* the sample that is being read is another part's */
};

/* ------------------------------------------------------------------------------------------------------- telling */

/* Do some of the archive's first files have a label's ending, or share a key, none of them as a folder has them? */
static bool sniff_webdataset(const struct format_file *file)
{
    bool grouped = false, labelled = false, flat = true;
    for (size_t i = 0; file->archive && i < file->member_count; i++) {
        struct wds_name name, before;
        const char *is = file->members[i];
        if (strcmp(is, SCHEMA_NAME) == 0)
            return true;
        if (!wds_name_read(&name, is))
            continue;
        flat = flat && !strchr(is, '/');
        labelled = labelled || strcmp(name.ending, "cls") == 0;
        grouped = grouped || (i > 0 && wds_name_read(&before, file->members[i - 1]) &&
                              before.key == name.key && memcmp(is, file->members[i - 1], name.key) == 0);
    }
    return labelled || (grouped && flat);
}

static bool wants_webdataset(const void *state, const char *name)
{
    struct wds_name n;
    (void)state;
    return strcmp(name, SCHEMA_NAME) == 0 || wds_name_read(&n, name);
}

/* ------------------------------------------------------------------------------------------------------- samples */

static apl_status take_key(struct webdataset *w, const char *name, size_t length, apl_error *err)
{
    w->key.size = 0;
    buffer_put(&w->key, name, length);
    buffer_put(&w->key, "", 1);
    w->key.size--;
    const char *split = wds_shards_split(&w->shards);
    w->unique.size = 0;
    buffer_put(&w->unique, split, strlen(split) + 1);
    buffer_put(&w->unique, name, length);
    return w->key.failed || w->unique.failed ? fail_nomem(err) : APL_OK;
}

static bool is_of_open(const struct webdataset *w, const char *name, const struct wds_name *n)
{
    return (w->open || w->passing) && w->key.size == n->key && memcmp(w->key.data, name, n->key) == 0;
}

/* The schema of an export: that of every shard must be the same. */
static apl_status take_schema(struct webdataset *w, const struct format_member *m, apl_error *err)
{
    struct declared d;
    w->look.size = 0;
    if (m->size > SCHEMA_MAX)
        return fail(err, APL_E_SOURCE, "has more than 4 MiB");
    TRY(member_append(m, m->size, &w->look, err));
    apl_status status = declared_read(w->look.data, w->look.size, "ending", &d, err);
    if (status == APL_OK && w->fields.declared.count && !declared_same(&d, &w->fields.declared))
        status = fail(err, APL_E_SOURCE, "has other fields than the shards before");
    if (status == APL_OK && d.split)
        status = wds_shards_rename(&w->shards, d.split, d.place, err);
    if (status == APL_OK && d.empty)
        wds_shards_say_empty(&w->shards);
    if (status == APL_OK)
        status = wds_exports_take(&w->exports, w->shards.count - 1, w->shard ? w->shard : "", &d,
                                  w->fields.declared.numbered ? &w->fields.declared : NULL, err);
    if (status == APL_OK && !w->fields.declared.count) {
        w->fields.declared = d;
        d = (struct declared){0};
    }
    declared_free(&d);
    return status;
}

/* --------------------------------------------------------------------------------------------- the first reading */

static void end_listed(struct webdataset *w)
{
    if (w->open)
        wds_take_sample(&w->fields, w->endings);
    w->open = false;
    w->endings = 0;
}

static apl_status list_webdataset(void *state, const char *name, bool directory, apl_error *err)
{
    struct webdataset *w = state;
    struct wds_name n;
    unsigned ending;
    if (directory || strcmp(name, SCHEMA_NAME) == 0)
        return APL_OK;
    if (!wds_name_read(&n, name)) {
        w->passed++;
        return APL_OK;
    }
    if (!is_of_open(w, name, &n)) {
        end_listed(w);
        TRY(take_key(w, name, n.key, err));
        TRY(key_log_add(w->keys, (const char *)w->unique.data, w->unique.size, err));
        wds_shards_sample(&w->shards);
        wds_folders_take(&w->folders, name, wds_shards_split(&w->shards));
        w->open = true;
    }
    w->members++;
    apl_error why;
    apl_status status = wds_add_ending(&w->fields, n.ending, &ending, &why);
    if (status != APL_OK) {
        char shown[256];
        return fail(err, status, "%s: %s: %s", w->host->source,
                    printable(shown, sizeof shown, name, strlen(name)), why.message);
    }
    w->endings |= UINT64_C(1) << ending;
    return APL_OK;
}

static bool webdataset_looks(void *state, const char *name)
{
    struct webdataset *w = state;
    struct wds_name n;
    if (strcmp(name, SCHEMA_NAME) == 0)
        return true;
    int ending = wds_name_read(&n, name) ? wds_find_ending(&w->fields, n.ending) : -1;
    return ending >= 0 && wds_looks(&w->fields, w->host, (unsigned)ending, name);
}

static apl_status webdataset_look(void *state, const struct format_member *m, apl_error *err)
{
    struct webdataset *w = state;
    struct wds_name n;
    if (strcmp(m->name, SCHEMA_NAME) == 0)
        return take_schema(w, m, err);
    if (!wds_name_read(&n, m->name)) /* unreached: it was asked before */
        return APL_OK;
    return wds_look(&w->fields, w->host, (unsigned)wds_find_ending(&w->fields, n.ending),
                    image_maker_decoder(w->samples.makers[0]), m, &w->look, err);
}

static apl_status check_shard(const struct webdataset *w, apl_error *err)
{
    if (!w->shard || w->members > 0 || w->host->partial || wds_shards_is_empty(&w->shards))
        return APL_OK;
    return fail(err, APL_E_INCOMPLETE, "%s: is an empty shard: it has no files of samples", w->shard);
}

static apl_status webdataset_listed(void *state, apl_error *err)
{
    struct webdataset *w = state;
    char text[96];
    end_listed(w);
    TRY(check_shard(w, err));
    if (w->fields.samples == 0)
        return fail(err, APL_E_SOURCE, "%s: has no files that share keys, such as 17.jpg and 17.cls",
                    w->host->source);
    snprintf(text, sizeof text, "files left out, as they belong to no key: %" PRIu64, w->passed);
    if (w->passed)
        w->host->notice(w->host->user, "", text);
    if (!w->fields.declared.count) /* an export says the splits itself */
        TRY(wds_folders_check(&w->folders, w->host, err));
    wds_shards_tell(&w->shards, w->host);
    TRY(wds_exports_check(&w->exports, &w->shards, w->host, err));
    apl_status status = key_log_end(w->keys, err);
    if (status == APL_OK)
        status = wds_shards_settle(&w->shards, err);
    if (status == APL_OK)
        status = wds_shards_count(&w->shards, w->host, err);
    if (status == APL_OK)
        status = wds_decide(&w->fields, w->host, err);
    if (status != APL_OK)
        return fail_in(err, status, "%s", w->host->source);
    w->reading = true;
    return wds_samples_room(&w->samples, err);
}

/* -------------------------------------------------------------------------------------------- the second reading */

/* Ends the sample that is open. */
static apl_status end_sample(struct webdataset *w, apl_error *err)
{
    if (!w->open)
        return APL_OK;
    w->open = false;
    return wds_samples_end(&w->samples, err);
}

static apl_status begin_sample(struct webdataset *w, const char *name, size_t length, apl_error *err)
{
    const char *first;
    apl_error why;
    TRY(end_sample(w, err));
    TRY(take_key(w, name, length, err));
    w->open = wds_shards_own(&w->shards, w->host);
    w->passing = !w->open;
    if (w->open)
        TRY(wds_samples_begin(&w->samples, name, length, err));
    TRY(key_log_show(w->keys, (const char *)w->unique.data, w->unique.size, w->shard, &first, err));
    if (!first || !w->open)
        return APL_OK;
    if (strcmp(first, w->shard) == 0)
        fail(&why, APL_E_SOURCE, "the key comes again, behind other keys");
    else
        fail(&why, APL_E_SOURCE, "the key is in %s too", first);
    wds_samples_spoil(&w->samples, &why);
    return APL_OK;
}

static apl_status webdataset_member(void *state, const struct format_member *m, apl_error *err)
{
    struct webdataset *w = state;
    struct wds_name n;
    if (!wds_name_read(&n, m->name)) /* an export's schema, which was read */
        return APL_OK;
    if (!is_of_open(w, m->name, &n))
        TRY(begin_sample(w, m->name, n.key, err));
    return w->open ? wds_samples_take(&w->samples, &n, m, err) : APL_OK;
}

/* A shard of others' samples, or what follows the last of the part's own; unless the rest must be seen for keys that come twice. */
static bool has_enough_samples(void *state)
{
    struct webdataset *w = state;
    if (key_log_has_twice(w->keys) || w->open)
        return false;
    return wds_shards_pass(&w->shards, w->host) || w->host->ended(w->host->user);
}

/* Of which split a shard is, its path says, or, when it has been listed, its schema. */
static apl_status find_shard_split(struct webdataset *w, const char *below, apl_error *err)
{
    if (w->reading) {
        const struct wds_shard *is = wds_shards_begin(&w->shards);
        return wds_splits_use(&w->splits, is->split, is->rank, w->shard, err);
    }
    const struct path_split told = split_of_path(below);
    return wds_shards_add(&w->shards, &told, w->shard, err);
}

static apl_status begin_shard(void *state, const char *below, const char *shown, apl_error *err)
{
    struct webdataset *w = state;
    if (w->reading) {
        TRY(end_sample(w, err));
        TRY(wds_samples_flush(&w->samples, err));
        w->passing = false;
    } else {
        end_listed(w);
        TRY(check_shard(w, err));
    }
    free(w->shard);
    w->shard = strdup(shown);
    w->members = 0;
    if (!w->shard)
        return fail_nomem(err);
    apl_status status = find_shard_split(w, below, err);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s", w->shard);
}

static apl_status finish_webdataset(void *state, char format[32], apl_error *err)
{
    struct webdataset *w = state;
    TRY(end_sample(w, err));
    TRY(wds_samples_flush(&w->samples, err));
    if (w->samples.records == 0)
        return fail(err, APL_E_SOURCE, "%s: all of its samples are bad", w->host->source);
    if (!w->host->part)
        TRY(wds_shards_begin_empty(&w->shards, &w->splits, w->host, w->samples.writer, err));
    image_tally_tell(&w->samples.tally, w->host);
    snprintf(format, 32, "webdataset");
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------ open and close */

static void close_webdataset(void *state)
{
    struct webdataset *w = state;
    if (!w)
        return;
    wds_samples_free(&w->samples);
    free(w->shard);
    wds_shards_free(&w->shards);
    wds_exports_free(&w->exports);
    buffer_free(&w->key);
    buffer_free(&w->unique);
    buffer_free(&w->look);
    key_log_free(w->keys);
    wds_fields_free(&w->fields);
    free(w);
}

static apl_status open_webdataset(const struct format_host *host, void **state, apl_error *err)
{
    struct webdataset *w = calloc(1, sizeof *w);
    if (!w)
        return fail_nomem(err);
    w->host = host;
    w->keys = key_log_new(host);
    apl_status status = wds_samples_init(&w->samples, host, &w->fields, &w->splits, err);
    if (status == APL_OK && !w->keys)
        status = fail_nomem(err);
    if (status != APL_OK)
        close_webdataset(w);
    else
        *state = w;
    return status;
}

static const char *where_in_webdataset(const void *state, char *out, size_t size)
{
    const struct webdataset *w = state;
    snprintf(out, size, "%s", w->samples.appending);
    return out;
}

const struct format format_webdataset = {
    .name = "webdataset",
    .title = "WebDataset: archives of files that share keys, such as 17.jpg and 17.cls",
    .uses = FORMAT_CLASSES | FORMAT_MASKS,
    .folders = true,
    .several = true,
    .passes_folders = true,
    .sniff = sniff_webdataset,
    .open = open_webdataset,
    .close = close_webdataset,
    .wants = wants_webdataset,
    .begin_source = begin_shard,
    .list = list_webdataset,
    .listed = webdataset_listed,
    .looks = webdataset_looks,
    .look = webdataset_look,
    .member = webdataset_member,
    .parts = true,
    .enough = has_enough_samples,
    .where = where_in_webdataset,
    .finish = finish_webdataset,
};
