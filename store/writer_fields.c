/* The calls that tell a writer what is in the store: its fields, their kinds and classes, where the records come from; and of values that
 * are not in it. */
#include "writer.h"

#include "forks.h"

#include <stdlib.h>

#define POSITION_FIELD "source_position"

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

/* The field that a call before the first member describes. */
static apl_status field_to_describe(const apl_writer *w, const char *name, unsigned *field, apl_error *err)
{
    TRY(writer_ready(w, err));
    if (w->schema_closed)
        return fail(err, APL_E_INVALID, "%s: fields come before the first member", w->path);
    int found = schema_find(&w->schema, name);
    if (found < 0)
        return fail(err, APL_E_NOTFOUND, "%s: no such field", w->path);
    *field = (unsigned)found;
    return APL_OK;
}

apl_status apl_writer_set_media(apl_writer *w, const char *field, const char *media, apl_error *err)
{
    unsigned f;
    TRY(field_to_describe(w, field, &f, err));
    if (!media)
        return fail(err, APL_E_NOTFOUND, "%s: no media type", w->path);
    return schema_set_media(&w->schema, f, media, strlen(media), err);
}

apl_status apl_writer_set_kind(apl_writer *w, const char *field, const apl_kind *kind, apl_error *err)
{
    unsigned f;
    TRY(field_to_describe(w, field, &f, err));
    if (!kind)
        return fail(err, APL_E_NOTFOUND, "%s: no kind", w->path);
    return schema_set_kind(&w->schema, f, kind, err);
}

apl_status apl_writer_set_indexed(apl_writer *w, const char *field, apl_error *err)
{
    unsigned f;
    TRY(field_to_describe(w, field, &f, err));
    const char *media = w->schema.fields[f].media;
    if (!media || strcmp(media, "image/jpeg") != 0)
        return fail(err, APL_E_INVALID, "%s: field %s: only kept fields of type image/jpeg are indexed",
                    w->path, field);
    w->schema.indexed[f] = true;
    return APL_OK;
}

apl_status apl_writer_keep_moments(apl_writer *w, const char *field, const double *mean, const double *std,
                                   unsigned channels, apl_error *err)
{
    struct training_figures figures[TRAINING_CHANNELS];
    TRY(writer_ready(w, err));
    int f = schema_find(&w->schema, field);
    if (f < 0 || !mean || !std)
        return fail(err, APL_E_NOTFOUND, "%s: no such field, or no figures", w->path);
    if (channels == 0 || channels > TRAINING_CHANNELS ||
        channels != training_channels(&w->schema, (unsigned)f))
        return fail(err, APL_E_INVALID, "%s: field %s: figures of %u channels, and it has %u", w->path, field,
                    channels, training_channels(&w->schema, (unsigned)f));
    for (unsigned c = 0; c < channels; c++)
        figures[c] = (struct training_figures){mean[c], std[c]};
    return training_keep(&w->schema, (unsigned)f, figures, w->training, err);
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

apl_status writer_close_schema(apl_writer *w, apl_error *err)
{
    if (w->schema_closed)
        return APL_OK;
    if (w->schema.count == 0)
        return fail(err, APL_E_INVALID, "%s: a member without fields to fill", w->path);
    apl_status status = schema_check_kinds(&w->schema, err);
    if (status != APL_OK)
        return fail_in(err, status, "%s", w->path);
    w->user_fields = w->schema.count;
    if (w->shuffle)
        TRY(schema_add(&w->schema, POSITION_FIELD, strlen(POSITION_FIELD), APL_U64, APL_POSITION, 0, NULL,
                       err));
    if (w->block_records == 0)
        w->block_records = writer_usual_records(&w->schema);
    w->schema_closed = true;
    kind_values_begin(&w->kinds, &w->schema);
    return APL_OK;
}
