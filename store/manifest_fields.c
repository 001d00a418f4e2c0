/* The entries of a manifest that speak of fields. Each has one function that writes it and one that reads it, side by side. */
#include "manifest_entry.h"

#include <stdlib.h>
#include <string.h>

/* FIELD, in order: name (text), dtype (1), role (1), dimensions (1), codec (1), level (1), zero (3), shape (8
 * each; -1: varies), raw bytes (8), stored bytes (8), digest (32) */
void put_field(struct buffer *b, const struct schema *schema, unsigned f)
{
    const apl_field *field = &schema->fields[f];
    size_t at = entry_begin(b, TAG_FIELD, ENTRY_REQUIRED);
    text_put(b, field->name);
    buffer_le(b, field->dtype, 1);
    buffer_le(b, field->role, 1);
    buffer_le(b, field->ndim, 1);
    bool known = schema->choices[f].id <
                 CODEC_COUNT; /* to readers of any version; others have an entry of their own */
    buffer_le(b, known ? schema->choices[f].id : CODEC_RAW, 1);
    buffer_le(b, known ? (uint8_t)schema->choices[f].level : 0, 1);
    buffer_le(b, 0, 3);
    for (unsigned i = 0; i < field->ndim; i++)
        buffer_le(b, (uint64_t)field->shape[i], 8);
    buffer_le(b, field->raw_bytes, 8);
    buffer_le(b, field->stored_bytes, 8);
    buffer_put(b, field->digest, 32);
    entry_end(b, at);
}

apl_status get_field(struct cursor *c, struct manifest *m, apl_error *err)
{
    size_t length;
    const char *name = text_get(c, &length);
    apl_dtype dtype = (apl_dtype)cursor_u8(c);
    apl_role role = (apl_role)cursor_u8(c);
    unsigned ndim = cursor_u8(c);
    struct codec_choice choice = {.id = cursor_u8(c)};
    choice.level = (int8_t)cursor_u8(c);
    cursor_take(c, 3);
    int64_t shape[APL_MAX_DIMS] = {0};
    for (unsigned i = 0; i < ndim && i < APL_MAX_DIMS; i++)
        shape[i] = (int64_t)cursor_u64(c);
    uint64_t raw = cursor_u64(c), stored = cursor_u64(c);
    const uint8_t *digest = cursor_take(c, 32);
    if (!digest || choice.id >= CODEC_COUNT)
        return bad_manifest(err, "a field's entry");
    apl_error inner;
    apl_status status = schema_add(&m->schema, name, length, dtype, role, ndim, shape, &inner);
    if (status != APL_OK)
        return status == APL_E_INVALID ? bad_manifest(err, inner.message) : fail_nomem(err);
    unsigned f = m->schema.count - 1;
    m->schema.choices[f] = choice;
    apl_field *field = &m->schema.fields[f];
    field->codec = codec_name(choice.id);
    field->level = choice.level;
    field->raw_bytes = raw;
    field->stored_bytes = stored;
    memcpy(field->digest, digest, 32);
    return APL_OK;
}

/* TEXT_LISTS: fields of lists of texts (4). In front of all fields: readers that do not know such fields refuse the entry, and do not get
 * there. */
void put_text_lists(struct buffer *b, const struct schema *schema)
{
    if (!schema_text_lists(schema))
        return;
    size_t at = entry_begin(b, TAG_TEXT_LISTS, ENTRY_REQUIRED);
    buffer_le(b, schema_text_lists(schema), 4);
    entry_end(b, at);
}

apl_status get_text_lists(struct cursor *c, struct manifest *m, apl_error *err)
{
    if (m->text_lists || m->schema.count)
        return bad_manifest(err, "fields of lists of texts");
    m->text_lists = cursor_u32(c);
    return m->text_lists ? APL_OK : bad_manifest(err, "fields of lists of texts");
}

/* KEPT: field (4), media type (text). Readers of 1.0 refuse the entry; they would not get there if the field's own one had a
 * codec that they do not know. */
void put_kept(struct buffer *b, const struct schema *schema, unsigned f)
{
    size_t at = entry_begin(b, TAG_KEPT, ENTRY_REQUIRED);
    buffer_le(b, f, 4);
    text_put(b, schema->fields[f].media);
    entry_end(b, at);
}

apl_status get_kept(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint32_t f = cursor_u32(c);
    size_t length;
    const char *media = text_get(c, &length);
    if (!media || f >= m->schema.count || m->schema.fields[f].media)
        return bad_manifest(err, "a kept field");
    apl_error inner;
    apl_status status = schema_set_media(&m->schema, f, media, length, &inner);
    return status == APL_E_INVALID ? bad_manifest(err, inner.message)
           : status == APL_OK      ? APL_OK
                                   : fail_nomem(err);
}

/* INDEXED: field (4), values that are indexed (8) */
void put_indexed_field(struct buffer *b, const struct schema *schema, unsigned f)
{
    size_t at = entry_begin(b, TAG_INDEXED, ENTRY_REQUIRED);
    buffer_le(b, f, 4);
    buffer_le(b, schema->fields[f].indexed, 8);
    entry_end(b, at);
}

apl_status get_indexed_field(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint32_t f = cursor_u32(c);
    uint64_t values = cursor_u64(c);
    if (f >= m->schema.count || !m->schema.fields[f].media || m->schema.indexed[f])
        return bad_manifest(err, "a field that is indexed");
    m->schema.indexed[f] = true;
    m->schema.fields[f].indexed = values;
    return APL_OK;
}

/* PROGRESSIVE: field (4), of its values that are indexed those of progressive files (8). Readers of 1.3 refuse the entry. */
void put_progressive(struct buffer *b, const struct schema *schema, unsigned f)
{
    size_t at = entry_begin(b, TAG_PROGRESSIVE, ENTRY_REQUIRED);
    buffer_le(b, f, 4);
    buffer_le(b, schema->progressive[f], 8);
    entry_end(b, at);
}

apl_status get_progressive(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint32_t f = cursor_u32(c);
    uint64_t values = cursor_u64(c);
    if (f >= m->schema.count || m->schema.progressive[f] || !values || values > m->schema.fields[f].indexed)
        return bad_manifest(err, "a field of progressive images");
    m->schema.progressive[f] = values;
    return APL_OK;
}

/* VARYING: field (4), level (1). Readers of 1.1 refuse the entry, as those of 1.0 do KEPT. */
void put_varying(struct buffer *b, const struct schema *schema, unsigned f)
{
    size_t at = entry_begin(b, TAG_VARYING, ENTRY_REQUIRED);
    buffer_le(b, f, 4);
    buffer_le(b, (uint8_t)schema->choices[f].level, 1);
    entry_end(b, at);
}

apl_status get_varying(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint32_t f = cursor_u32(c);
    int8_t level = (int8_t)cursor_u8(c);
    apl_field *field = f < m->schema.count ? &m->schema.fields[f] : NULL;
    if (!cursor_ok(c) || !field || field->media || field->dtype != APL_U8 || field->ndim != 3 ||
        field_varying(field) == 0)
        return bad_manifest(err, "a field of images of any size");
    m->schema.choices[f] = (struct codec_choice){CODEC_VARYING, level};
    field->codec = codec_name(CODEC_VARYING);
    field->level = level;
    return APL_OK;
}

/* SKIPPED: files left out (8), listed (4), path and reason of each that is listed (text each) */
void put_skipped(struct buffer *b, const struct manifest *m)
{
    const char *path, *why;
    size_t at = entry_begin(b, TAG_SKIPPED, 0);
    buffer_le(b, m->info.skipped, 8);
    buffer_le(b, m->skipped_places.size / sizeof(size_t), 4);
    for (uint64_t i = 0; (path = manifest_skipped(m, i, &why)); i++) {
        text_put(b, path);
        text_put(b, why);
    }
    entry_end(b, at);
}

/* A text that can be printed as it is, in one line. */
static bool is_plain(const char *text, size_t length)
{
    char shown[4 * APL_MAX_SKIPPED_TEXT + 8];
    if (!text || length == 0 || length > APL_MAX_SKIPPED_TEXT || memchr(text, 0, length))
        return false;
    printable(shown, sizeof shown, text, length);
    return strlen(shown) == length && memcmp(shown, text, length) == 0;
}

apl_status get_skipped(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint64_t skipped = cursor_u64(c);
    uint32_t listed = cursor_u32(c);
    if (m->info.skipped || listed > skipped || listed > APL_MAX_SKIPPED)
        return bad_manifest(err, "skipped files");
    m->info.skipped = skipped;
    for (uint32_t i = 0; i < listed; i++) {
        size_t path_length, why_length;
        const char *path = text_get(c, &path_length), *why = text_get(c, &why_length);
        if (!is_plain(path, path_length) || !is_plain(why, why_length))
            return bad_manifest(err, "a skipped file");
        TRY(manifest_add_skipped(m, path, path_length, why, why_length, err));
    }
    return APL_OK;
}

/* CLASSES: field (4), count (4), names (text each) */
void put_classes(struct buffer *b, const struct schema *schema, unsigned f)
{
    const apl_field *field = &schema->fields[f];
    size_t at = entry_begin(b, TAG_CLASSES, 0);
    buffer_le(b, f, 4);
    buffer_le(b, field->class_count, 4);
    for (uint64_t i = 0; i < field->class_count; i++)
        text_put(b, field->classes[i]);
    entry_end(b, at);
}

apl_status get_classes(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint32_t f = cursor_u32(c), count = cursor_u32(c);
    /* A second list could be longer than the counts of classes, which have been made room for by then. */
    if (f >= m->schema.count || m->schema.fields[f].class_count || count == 0 || count > cursor_left(c) / 2)
        return bad_manifest(err, "class names");
    const char **names = calloc(count, sizeof *names);
    size_t *lengths = calloc(count, sizeof *lengths);
    apl_status status = names && lengths ? APL_OK : fail_nomem(err);
    for (uint32_t i = 0; status == APL_OK && i < count; i++)
        names[i] = text_get(c, &lengths[i]);
    if (status == APL_OK && !cursor_ok(c))
        status = bad_manifest(err, "class names are truncated");
    apl_error inner;
    if (status == APL_OK && schema_set_classes(&m->schema, f, names, lengths, count, &inner) != APL_OK)
        status = inner.status == APL_E_INVALID ? bad_manifest(err, inner.message) : fail_nomem(err);
    free(names);
    free(lengths);
    return status;
}

/* MOMENTS: split (4), field (4), channels (4), then of each channel: elements (8), their sum (8), sum of
 * squares (8) */
void put_moments(struct buffer *b, const struct manifest *m, uint32_t s, unsigned f)
{
    unsigned channels = field_channels(&m->schema.fields[f]);
    size_t at = entry_begin(b, TAG_MOMENTS, 0);
    buffer_le(b, s, 4);
    buffer_le(b, f, 4);
    buffer_le(b, channels, 4);
    for (unsigned i = 0; i < channels; i++) {
        const struct moments *moments = split_summary(&m->splits[s], f).moments + i;
        buffer_le(b, moments->count, 8);
        buffer_le(b, moments->sum, 8);
        buffer_le(b, moments->squares, 8);
    }
    entry_end(b, at);
}

apl_status get_moments(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint32_t s = cursor_u32(c), f = cursor_u32(c), channels = cursor_u32(c);
    if (s >= m->split_count || f >= m->schema.count || channels == 0 ||
        channels != field_channels(&m->schema.fields[f]))
        return bad_manifest(err, "moments");
    TRY(manifest_new_summary(&m->schema, &m->splits[s], f, err));
    for (unsigned i = 0; i < channels; i++) {
        struct moments *moments = split_summary(&m->splits[s], f).moments + i;
        moments->count = cursor_u64(c);
        moments->sum = cursor_u64(c);
        moments->squares = cursor_u64(c);
    }
    return APL_OK;
}

/* IMAGES: split (4), field (4), kind (4), images (8), pixels (8), sums (8 each), squares (8 each), products (8 each) */
void put_images(struct buffer *b, const struct manifest *m, uint32_t s, unsigned f)
{
    const struct colour_sums *sums = split_summary(&m->splits[s], f).colours;
    size_t at = entry_begin(b, TAG_IMAGES, 0);
    buffer_le(b, s, 4);
    buffer_le(b, f, 4);
    buffer_le(b, schema_colours(&m->schema, f), 4);
    buffer_le(b, sums->images, 8);
    buffer_le(b, sums->pixels, 8);
    for (unsigned i = 0; i < COLOURS; i++)
        buffer_le(b, (uint64_t)sums->sum[i], 8);
    for (unsigned i = 0; i < COLOURS; i++)
        buffer_le(b, sums->squares[i], 8);
    for (unsigned i = 0; i < COLOURS; i++)
        buffer_le(b, (uint64_t)sums->products[i], 8);
    entry_end(b, at);
}

apl_status get_images(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint32_t s = cursor_u32(c), f = cursor_u32(c), kind = cursor_u32(c);
    struct colour_sums sums = {.images = cursor_u64(c), .pixels = cursor_u64(c)};
    for (unsigned i = 0; i < COLOURS; i++)
        sums.sum[i] = (int64_t)cursor_u64(c);
    for (unsigned i = 0; i < COLOURS; i++)
        sums.squares[i] = cursor_u64(c);
    for (unsigned i = 0; i < COLOURS; i++)
        sums.products[i] = (int64_t)cursor_u64(c);
    if (s >= m->split_count || f >= m->schema.count || !schema_has_colours(&m->schema, f) ||
        kind != schema_colours(&m->schema, f) || sums.images == 0 || sums.images > sums.pixels ||
        sums.images > m->splits[s].count)
        return bad_manifest(err, "sums over images");
    TRY(manifest_new_summary(&m->schema, &m->splits[s], f, err));
    struct colour_sums *into = split_summary(&m->splits[s], f).colours;
    if (!into) /* the field has become one of images since it was first summed up */
        return bad_manifest(err, "sums over images");
    *into = sums;
    return APL_OK;
}

/* PRODUCTS: split (4), field (4), products over pixels (8 each) */
void put_products(struct buffer *b, const struct manifest *m, uint32_t s, unsigned f)
{
    const struct colour_sums *sums = split_summary(&m->splits[s], f).colours;
    size_t at = entry_begin(b, TAG_PRODUCTS, 0);
    buffer_le(b, s, 4);
    buffer_le(b, f, 4);
    for (unsigned i = 0; i < COLOURS; i++)
        buffer_le(b, (uint64_t)sums->pixel_products[i], 8);
    entry_end(b, at);
}

apl_status get_products(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint32_t s = cursor_u32(c), f = cursor_u32(c);
    if (s >= m->split_count || f >= m->schema.count)
        return bad_manifest(err, "products of colours");
    struct colour_sums *sums = split_summary(&m->splits[s], f).colours;
    if (!sums || sums->images == 0 || schema_colours(&m->schema, f) != COLOURS_YCC)
        return bad_manifest(err, "products of colours");
    for (unsigned i = 0; i < COLOURS; i++)
        sums->pixel_products[i] = (int64_t)cursor_u64(c);
    sums->with_products = sums->images;
    return APL_OK;
}

/* CLASS_COUNTS: split (4), field (4), records of each class (8 each) */
void put_class_counts(struct buffer *b, const struct manifest *m, uint32_t s, unsigned f)
{
    size_t at = entry_begin(b, TAG_CLASS_COUNTS, 0);
    buffer_le(b, s, 4);
    buffer_le(b, f, 4);
    const uint64_t *counts = split_summary(&m->splits[s], f).classes;
    for (uint64_t i = 0; i < m->schema.fields[f].class_count; i++)
        buffer_le(b, counts[i], 8);
    entry_end(b, at);
}

apl_status get_class_counts(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint32_t s = cursor_u32(c), f = cursor_u32(c);
    if (s >= m->split_count || f >= m->schema.count || m->schema.fields[f].class_count == 0 ||
        m->schema.fields[f].class_count > cursor_left(c) / 8)
        return bad_manifest(err, "class counts");
    TRY(manifest_new_summary(&m->schema, &m->splits[s], f, err));
    uint64_t *counts = split_summary(&m->splits[s], f).classes;
    for (uint64_t i = 0; i < m->schema.fields[f].class_count; i++)
        counts[i] = cursor_u64(c);
    return APL_OK;
}
