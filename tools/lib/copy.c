/* Making a store of records of other stores: see copy.h. */
#include "copy.h"

#include "args.h"
#include "chunk.h"
#include "interrupt.h"
#include "kind_left.h"
#include "report.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CHANNELS 64 /* of which a store has moments */

static int fail_with(const apl_error *err)
{
    if (err->status == APL_E_CANCELLED)
        return EXIT_FAILURE; /* the signal speaks for itself */
    return failed_unless_forced(err);
}

static bool has_field(const void *user, const char *name)
{
    const struct copy *c = user;
    for (unsigned i = 0; i < c->count; i++)
        if (strcmp(c->fields[i].like->name, name) == 0)
            return true;
    return false;
}

static apl_status set_kind(struct copy *c, const apl_field *like, apl_error *err)
{
    const apl_kind kind = kind_left(like->kind, has_field, c);
    return apl_writer_set_kind(c->writer, like->name, &kind, err);
}

static apl_status add_field(struct copy *c, const struct copy_field *f, apl_error *err)
{
    const apl_field *like = f->like;
    apl_status status =
        apl_writer_add_field(c->writer, like->name, f->dtype, like->role, like->ndim, like->shape, err);
    if (status == APL_OK && like->media)
        status = apl_writer_set_media(c->writer, like->name, like->media, err);
    if (status == APL_OK && like->indexed)
        status = apl_writer_set_indexed(c->writer, like->name, err);
    if (status == APL_OK && like->kind)
        status = set_kind(c, like, err);
    if (status == APL_OK && f->classes)
        status = apl_writer_set_classes(c->writer, like->name, f->classes, f->class_count, err);
    else if (status == APL_OK && like->class_count)
        status = apl_writer_set_classes(c->writer, like->name, like->classes, like->class_count, err);
    return status;
}

/* A store without the training split keeps the figures by which images are normalised. */
static apl_status keep_moments(struct copy *c, const struct copy_source *source, unsigned i, apl_error *err)
{
    double mean[MOST_CHANNELS], std[MOST_CHANNELS];
    unsigned channels = 0;
    while (channels < MOST_CHANNELS && apl_store_training_moments(source->store, source->fields[i], channels,
                                                                  &mean[channels], &std[channels]) == APL_OK)
        channels++;
    if (channels == 0)
        return APL_OK;
    return apl_writer_keep_moments(c->writer, c->fields[i].like->name, mean, std, channels, err);
}

int copy_keep_moments(struct copy *c, const struct copy_source *source)
{
    apl_error err;
    apl_status status = APL_OK;
    for (unsigned i = 0; i < c->count && status == APL_OK; i++)
        status = keep_moments(c, source, i, &err);
    return status == APL_OK ? 0 : fail_with(&err);
}

int copy_begin(struct copy *c)
{
    apl_error err;
    c->options.tool = "apldata " APL_VERSION_STRING;
    apl_status status = apl_writer_open(c->path, &c->options, &c->writer, &err);
    for (unsigned i = 0; i < c->count && status == APL_OK; i++)
        status = add_field(c, &c->fields[i], &err);
    return status == APL_OK ? 0 : fail_with(&err);
}

/* The member of an unshuffled store that has the record. */
static unsigned member_of(const apl_store *store, unsigned from, uint64_t id)
{
    const apl_member *m;
    while ((m = apl_store_member(store, from)) && (id < m->first || id - m->first >= m->count))
        from++;
    return from;
}

struct walk {
    struct copy *copy;
    const struct copy_source *source;
    const char *split;
    unsigned member; /* the record's, in its store; UINT32_MAX: none yet */
};

/* Begins a member where the source does. */
static int begin_member(struct walk *w, uint64_t id)
{
    const apl_store *store = w->source->store;
    bool shuffled = apl_store_info(store)->shuffled;
    unsigned member = shuffled ? 0 : member_of(store, w->member == UINT32_MAX ? 0 : w->member, id);
    if (member == w->member)
        return 0;
    const apl_member *m = shuffled ? NULL : apl_store_member(store, member);
    apl_error err;
    w->member = member;
    if (apl_writer_begin_member(w->copy->writer, m ? m->name : w->split, w->split, w->copy->member++, &err) ==
        APL_OK)
        return 0;
    return fail_with(&err);
}

/* Writes another number of a class to `to`. */
static const void *map_class(const uint32_t *classes, apl_dtype dtype, const struct value *v, uint8_t to[4])
{
    uint64_t number = value_unsigned(v, 0);
    number = classes ? classes[number] : number;
    const uint16_t two = (uint16_t)number;
    const uint32_t four = (uint32_t)number;
    if (dtype == APL_U8)
        to[0] = (uint8_t)number;
    else if (dtype == APL_U16)
        memcpy(to, &two, sizeof two);
    else
        memcpy(to, &four, sizeof four);
    return to;
}

static int copy_row(struct walk *w, const apl_batch *batch, size_t row)
{
    apl_value values[APL_MAX_FIELDS];
    struct value rows[APL_MAX_FIELDS];
    uint8_t mapped[APL_MAX_FIELDS][4];
    apl_error err;
    for (unsigned i = 0; i < w->copy->count; i++) {
        const uint32_t *classes = w->source->classes[i];
        apl_dtype dtype = w->copy->fields[i].dtype;
        rows[i] = value_of(apl_batch_column(batch, w->source->fields[i]), row, apl_batch_rows(batch));
        bool as_it_is = !classes && rows[i].dtype == dtype;
        values[i].data = as_it_is ? rows[i].data : map_class(classes, dtype, &rows[i], mapped[i]);
        values[i].shape = w->copy->fields[i].like->value_bytes ? NULL : rows[i].shape;
    }
    int status = begin_member(w, apl_batch_ids(batch)[row]);
    if (!status && apl_writer_append(w->copy->writer, values, &err) != APL_OK)
        status = fail_with(&err);
    return status;
}

static void show_progress(struct copy *c)
{
    struct progress_state state = {.what = "writing", .records = c->done, .fraction = -1};
    if (c->total)
        state.fraction = (double)c->done / (double)c->total;
    progress_show(&c->progress, &state);
}

int copy_records(struct copy *c, const struct copy_source *source, const char *split, const uint64_t *ids,
                 uint64_t count)
{
    struct walk walk = {.copy = c, .source = source, .split = split, .member = UINT32_MAX};
    size_t chunk = chunk_records(apl_store_info(source->store));
    apl_error err;
    int status = 0;
    if (count == 0 && apl_writer_begin_member(c->writer, split, split, c->member++, &err) != APL_OK)
        return fail_with(&err);
    for (uint64_t at = 0; at < count && !status; at += chunk) {
        size_t rows = count - at < chunk ? (size_t)(count - at) : chunk;
        apl_batch *batch = NULL;
        status =
            chunk_get(source->store, ids + at, rows, source->fields, c->count, c->options.threads, &batch);
        for (size_t r = 0; r < rows && !status; r++)
            status = copy_row(&walk, batch, r);
        apl_batch_release(batch);
        c->done += rows;
        show_progress(c);
    }
    return status;
}

static int on_commit(void *user, const apl_progress *p)
{
    struct copy *c = user;
    struct progress_state state = {.what = "checking", .records = p->records, .fraction = -1};
    if (c->total)
        state.fraction = (double)p->records / (double)c->total;
    progress_show(&c->progress, &state);
    return interrupted();
}

int copy_commit(struct copy *c, const char *source_format)
{
    apl_error err;
    if (interrupted())
        return EXIT_FAILURE;
    apl_writer_on_commit(c->writer, on_commit, c);
    apl_status status = apl_writer_set_source(c->writer, source_format, NULL, &err);
    if (status == APL_OK)
        status = apl_writer_commit(c->writer, &err);
    progress_clear(&c->progress);
    return status == APL_OK ? 0 : fail_with(&err);
}

void copy_close(struct copy *c)
{
    progress_clear(&c->progress);
    apl_writer_close(c->writer);
    c->writer = NULL;
}
