/*
 * WebDataset as a format: tar archives in which files in a row that share a key are a record. The shards are read twice: first to learn
 * what the endings are and which keys come twice; then records are gathered, made on all cores, and appended in their order.
 */
#include "file_name.h"
#include "key_log.h"
#include "member.h"
#include "parallel.h"
#include "wds_value.h"

#include <inttypes.h>
#include <stdio.h>

#define GATHER_SAMPLES 64u
#define GATHER_BYTES   ((size_t)16 << 20) /* of files and samples of images, unless one record has more */
#define SCHEMA_NAME    "__apl__/schema.json"
#define SCHEMA_MAX     ((uint64_t)4 << 20)
#define SPLITS_MAX     32u

/* A record on its way. */
struct sample {
    struct wds_value *values; /* of each field */
    char *shown;              /* its key, safe to print */
    apl_status status;
    apl_error error;
};

struct wds_split {
    char name[APL_MAX_NAME + 1];
    uint32_t rank, members;
};

struct webdataset {
    const struct format_host *host;
    struct wds_fields fields;
    struct key_log *keys;
    apl_writer *writer;
    char *shard;      /* its name, safe to print */
    bool reading;     /* the second time */
    uint64_t members; /* of samples, in this shard */
    uint64_t passed;  /* files that belong to no sample */

    struct buffer key; /* of the sample that is being read */
    bool open;         /* there is one */
    uint64_t endings;  /* that it has; the first time */

    struct sample samples[GATHER_SAMPLES];
    unsigned gathered; /* the one that is open comes behind them */
    size_t gathered_bytes;
    unsigned threads;
    struct image_maker **makers; /* of each thread */
    struct buffer look;
    struct wds_split splits[SPLITS_MAX];
    unsigned split_count;
    struct wds_split *split, *begun; /* of the shard; of the member that was begun last */
    uint64_t records, remarks[REMARKS];
};

/* ------------------------------------------------------------------------------------------------------- telling */

/* Has the sample of the archive's first files several of them, and is none of them a folder's? */
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
    return grouped && (flat || labelled);
}

static bool wants_webdataset(const void *state, const char *name)
{
    struct wds_name n;
    (void)state;
    return strcmp(name, SCHEMA_NAME) == 0 || wds_name_read(&n, name);
}

/* -------------------------------------------------------------------------------------------------------- samples */

static apl_status take_key(struct webdataset *w, const char *name, size_t length, apl_error *err)
{
    w->key.size = 0;
    buffer_put(&w->key, name, length);
    buffer_put(&w->key, "", 1);
    w->key.size--;
    return w->key.failed ? fail_nomem(err) : APL_OK;
}

static bool is_of_open(const struct webdataset *w, const char *name, const struct wds_name *n)
{
    return w->open && w->key.size == n->key && memcmp(w->key.data, name, n->key) == 0;
}

/* The schema of an export: that of every shard must be the same. */
static apl_status take_schema(struct webdataset *w, const struct format_member *m, apl_error *err)
{
    struct declared d;
    w->look.size = 0;
    if (m->size > SCHEMA_MAX)
        return fail(err, APL_E_SOURCE, "has more than 4 MiB");
    TRY(member_append(m, m->size, &w->look, err));
    apl_status status = declared_read(w->look.data, w->look.size, &d, err);
    if (status == APL_OK && w->fields.declared.count && !declared_same(&d, &w->fields.declared))
        status = fail(err, APL_E_SOURCE, "has other fields than the shards before");
    if (status == APL_OK && !w->fields.declared.count) {
        w->fields.declared = d;
        d = (struct declared){0};
    }
    declared_free(&d);
    return status;
}

/* ------------------------------------------------------------------------------------------------ the first reading */

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
        TRY(key_log_add(w->keys, name, n.key, err));
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
                    image_maker_decoder(w->makers[0]), m, &w->look, err);
}

/* Room for the values of all samples. */
static apl_status make_sample_room(struct webdataset *w, apl_error *err)
{
    for (unsigned i = 0; i < GATHER_SAMPLES; i++) {
        w->samples[i].values = calloc(w->fields.count, sizeof *w->samples[i].values);
        if (!w->samples[i].values)
            return fail_nomem(err);
    }
    return APL_OK;
}

static apl_status check_shard(const struct webdataset *w, apl_error *err)
{
    if (!w->shard || w->members > 0 || w->host->partial)
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
    apl_status status = key_log_end(w->keys, err);
    if (status == APL_OK)
        status = wds_decide(&w->fields, w->host, err);
    if (status != APL_OK)
        return fail_in(err, status, "%s", w->host->source);
    w->reading = true;
    return make_sample_room(w, err);
}

/* ------------------------------------------------------------------------------------------------------- appending */

static apl_status begin_wds_member(struct webdataset *w, apl_error *err)
{
    if (!w->writer) {
        TRY(w->host->writer(w->host->user, &w->writer, err));
        TRY(w->host->not_the_source(w->host->user, wds_add_fields(&w->fields, w->host, w->writer, err)));
    }
    if (w->begun == w->split)
        return APL_OK;
    uint32_t number = w->split->members++;
    if (number > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "%s: splits come mixed: name the shards in their order", w->shard);
    w->begun = w->split;
    return w->host->not_the_source(w->host->user,
                                   apl_writer_begin_member(w->writer, w->split->name, w->split->name,
                                                           w->split->rank << 16 | number, err));
}

static bool does_vary(const struct wds_field *f)
{
    for (unsigned d = 0; d < f->ndim; d++)
        if (f->shape[d] < 0)
            return true;
    return false;
}

static apl_status append_sample(struct webdataset *w, const struct sample *s, apl_error *err)
{
    apl_value values[3 * (APL_MAX_FIELDS + 1)];
    unsigned n = 0;
    TRY(begin_wds_member(w, err));
    for (unsigned i = 0; i < w->fields.count; i++) {
        const struct wds_value *v = &s->values[i];
        values[n++] = (apl_value){v->data ? v->data : "", does_vary(&w->fields.fields[i]) ? v->shape : NULL};
        for (unsigned r = 0; r < REMARKS && w->fields.fields[i].kind == WDS_IMAGE; r++)
            w->remarks[r] += v->made.remarks[r];
    }
    for (unsigned i = 0; i < w->fields.count; i++) {
        if (w->fields.fields[i].shaped)
            values[n++] = (apl_value){s->values[i].made.shape, NULL};
        if (w->fields.fields[i].shaped && w->fields.fields[i].plan.orientations)
            values[n++] = (apl_value){&s->values[i].made.orientation, NULL};
    }
    w->records++;
    return w->host->append(w->host->user, values, err);
}

static apl_status make_sample(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct webdataset *w = context;
    struct sample *s = &w->samples[task];
    apl_error why;
    if (!w->makers[worker] && !(w->makers[worker] = image_maker_new()))
        return fail_nomem(err);
    for (unsigned i = 0; i < w->fields.count && s->status == APL_OK; i++) {
        const struct wds_field *f = &w->fields.fields[i];
        s->status = wds_make(f, w->host, w->makers[worker], &s->values[i], &why);
        if (s->status == APL_E_NOMEM)
            return fail_nomem(err);
        if (s->status != APL_OK)
            fail(&s->error, s->status, ".%s: %s", f->ending, why.message);
    }
    return APL_OK;
}

/* Makes what has been gathered, and appends it. */
static apl_status flush_samples(struct webdataset *w, apl_error *err)
{
    unsigned n = w->gathered;
    w->gathered = 0;
    w->gathered_bytes = 0;
    apl_status status = parallel_for(w->threads, n, make_sample, w, err);
    if (status != APL_OK)
        return w->host->not_the_source(w->host->user, status);
    for (unsigned i = 0; i < n; i++) {
        struct sample *s = &w->samples[i];
        apl_error why = s->error;
        TRY(s->status == APL_OK ? append_sample(w, s, err)
                                : w->host->bad(w->host->user, s->shown, &why, err));
    }
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- the second reading */

/* The first thing that is wrong with a sample. */
static void spoil(struct sample *s, const apl_error *why)
{
    if (s->status != APL_OK)
        return;
    s->status = why->status;
    s->error = *why;
}

static void check_complete(const struct webdataset *w, struct sample *s)
{
    apl_error why;
    for (unsigned i = 0; i < w->fields.count; i++) {
        const struct wds_field *f = &w->fields.fields[i];
        if (s->values[i].present)
            continue;
        fail(&why, APL_E_SOURCE, "has no .%s, which %" PRIu64 " of the %" PRIu64 " keys have", f->ending,
             f->seen, w->fields.samples);
        spoil(s, &why);
    }
}

/* Ends the sample that is open. */
static apl_status end_sample(struct webdataset *w, apl_error *err)
{
    if (!w->open)
        return APL_OK;
    w->open = false;
    check_complete(w, &w->samples[w->gathered]);
    w->gathered++;
    return w->gathered == GATHER_SAMPLES || w->gathered_bytes >= GATHER_BYTES ? flush_samples(w, err)
                                                                              : APL_OK;
}

static apl_status begin_sample(struct webdataset *w, const char *name, size_t length, apl_error *err)
{
    struct sample *s = &w->samples[w->gathered];
    const char *first;
    apl_error why;
    TRY(end_sample(w, err));
    s = &w->samples[w->gathered];
    TRY(take_key(w, name, length, err));
    size_t room = 4 * length + 8;
    free(s->shown);
    if (!(s->shown = malloc(room)))
        return fail_nomem(err);
    printable(s->shown, room < 512 ? room : 512, name, length);
    s->status = APL_OK;
    w->open = true;
    for (unsigned i = 0; i < w->fields.count; i++) {
        s->values[i].present = w->fields.fields[i].kind == WDS_KEY;
        s->values[i].made.bytes.size = 0;
        if (s->values[i].present)
            buffer_put(&s->values[i].made.bytes, name, length);
        if (s->values[i].made.bytes.failed)
            return fail_nomem(err);
    }
    TRY(key_log_show(w->keys, name, length, w->shard, &first, err));
    if (!first)
        return APL_OK;
    if (strcmp(first, w->shard) == 0)
        fail(&why, APL_E_SOURCE, "the key comes again, behind other keys");
    else
        fail(&why, APL_E_SOURCE, "the key is in %s too", first);
    spoil(s, &why);
    return APL_OK;
}

/* Why the sample cannot take the file; APL_OK if it can. */
static apl_status check_wds_file(const struct webdataset *w, const struct sample *s, const struct wds_name *n,
                                 const struct format_member *m, unsigned *field, apl_error *why)
{
    int ending = wds_find_ending(&w->fields, n->ending);
    *field = ending < 0 ? WDS_NO_FIELD : w->fields.endings[ending].field;
    if (*field == WDS_NO_FIELD && w->fields.declared.count)
        return fail(why, APL_E_SOURCE, "has a .%s, which schema.json does not have", n->ending);
    if (*field == WDS_NO_FIELD)
        return fail(why, APL_E_SOURCE, "has a .%s, which only %" PRIu64 " of the %" PRIu64 " keys have",
                    n->ending, ending < 0 ? 0 : w->fields.endings[ending].seen, w->fields.samples);
    if (s->values[*field].present)
        return fail(why, APL_E_SOURCE, "has two files .%s", n->ending);
    if (m->size > APL_MAX_VALUE)
        return fail(why, APL_E_SOURCE, ".%s has %" PRIu64 " bytes, more than the %u of a value", n->ending,
                    m->size, APL_MAX_VALUE);
    return APL_OK;
}

/* The split of that name, which may be new. */
static apl_status use_split(struct webdataset *w, const char *name, uint32_t rank, apl_error *err)
{
    for (unsigned i = 0; i < w->split_count; i++)
        if (strcmp(w->splits[i].name, name) == 0) {
            w->split = &w->splits[i];
            return APL_OK;
        }
    if (w->split_count == SPLITS_MAX)
        return fail(err, APL_E_UNSUPPORTED, "has one more than %u splits", SPLITS_MAX);
    if (strlen(name) > APL_MAX_NAME || rank > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "is of a split that cannot be");
    w->split = &w->splits[w->split_count++];
    *w->split = (struct wds_split){.rank = rank};
    memcpy(w->split->name, name, strlen(name) + 1);
    return APL_OK;
}

/* Of an export, each shard says which split it is of, and where that comes among the splits. */
static apl_status take_split_of(struct webdataset *w, const struct format_member *m, apl_error *err)
{
    struct declared d;
    w->look.size = 0;
    TRY(member_append(m, m->size, &w->look, err));
    apl_status status = declared_read(w->look.data, w->look.size, &d, err);
    if (status == APL_OK && d.split)
        status = use_split(w, d.split, d.place, err);
    declared_free(&d);
    return status;
}

static apl_status webdataset_member(void *state, const struct format_member *m, apl_error *err)
{
    struct webdataset *w = state;
    struct wds_name n;
    apl_error why;
    unsigned field;
    if (strcmp(m->name, SCHEMA_NAME) == 0)
        return take_split_of(w, m, err);
    if (!wds_name_read(&n, m->name)) /* unreached: only others are wanted */
        return APL_OK;
    if (!is_of_open(w, m->name, &n))
        TRY(begin_sample(w, m->name, n.key, err));
    struct sample *s = &w->samples[w->gathered];
    if (check_wds_file(w, s, &n, m, &field, &why) != APL_OK) {
        spoil(s, &why);
        return APL_OK;
    }
    struct wds_value *v = &s->values[field];
    TRY(member_append(m, m->size, &v->made.bytes, err));
    v->present = true;
    w->gathered_bytes += v->made.bytes.size;
    if (w->fields.fields[field].kind == WDS_IMAGE)
        w->gathered_bytes += image_maker_need(w->makers[0], &w->fields.fields[field].plan, &v->made);
    return APL_OK;
}

/* By a word of the shard's name, or else the name of its folder. */
static apl_status find_shard_split(struct webdataset *w, const char *path, apl_error *err)
{
    struct file_name n;
    const char *slash = strrchr(path, '/'), *folder = slash;
    bool known = file_name_read(&n, slash ? slash + 1 : path) && n.split;
    while (folder && folder > path && folder[-1] != '/')
        folder--;
    if (!known && folder) {
        char name[APL_MAX_NAME + 1];
        snprintf(name, sizeof name, "%.*s", (int)(slash - folder), folder);
        known = file_name_read(&n, name) && n.split && n.count == 0;
    }
    return use_split(w, known ? n.split : "train", known ? n.split_rank : 0, err);
}

static apl_status begin_shard(void *state, const char *path, const char *shown, apl_error *err)
{
    struct webdataset *w = state;
    if (w->reading) {
        TRY(end_sample(w, err));
        TRY(flush_samples(w, err));
    } else {
        end_listed(w);
        TRY(check_shard(w, err));
    }
    free(w->shard);
    w->shard = strdup(shown);
    w->members = 0;
    if (!w->shard)
        return fail_nomem(err);
    apl_status status = find_shard_split(w, path, err);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s", w->shard);
}

static apl_status finish_webdataset(void *state, char format[32], apl_error *err)
{
    struct webdataset *w = state;
    char text[128];
    TRY(end_sample(w, err));
    TRY(flush_samples(w, err));
    if (w->records == 0)
        return fail(err, APL_E_SOURCE, "%s: all of its samples are bad", w->host->source);
    for (unsigned i = 0; i < REMARKS; i++) {
        snprintf(text, sizeof text, "%s: %" PRIu64, image_remark_text((enum image_remark)i), w->remarks[i]);
        if (w->remarks[i])
            w->host->notice(w->host->user, "", text);
    }
    snprintf(format, 32, "webdataset");
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------------- open and close */

static void close_webdataset(void *state)
{
    struct webdataset *w = state;
    if (!w)
        return;
    for (unsigned i = 0; i < GATHER_SAMPLES; i++) {
        for (unsigned f = 0; w->samples[i].values && f < w->fields.count; f++)
            wds_value_free(&w->samples[i].values[f]);
        free(w->samples[i].values);
        free(w->samples[i].shown);
    }
    for (unsigned i = 0; w->makers && i < w->threads; i++)
        image_maker_free(w->makers[i]);
    free(w->makers);
    free(w->shard);
    buffer_free(&w->key);
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
    w->threads = threads_for(host->threads);
    w->makers = calloc(w->threads, sizeof *w->makers);
    w->keys = key_log_new(host);
    if (!w->makers || !w->keys || !(w->makers[0] = image_maker_new())) {
        close_webdataset(w);
        return fail_nomem(err);
    }
    *state = w;
    return APL_OK;
}

const struct format format_webdataset = {
    .name = "webdataset",
    .title = "WebDataset: archives of files that share keys, such as 17.jpg and 17.cls",
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
    .finish = finish_webdataset,
};
