/* The manifest as bytes: its header, and its entries in order. Those of the store as a whole are here; each has one function that
 * writes it and one that reads it, side by side. */
#include "digests.h"
#include "hash.h"
#include "manifest_entry.h"

#include <string.h>

#define MANIFEST_MAGIC 0x4d4c5041u /* "APLM" */
#define HEAD           24u

/* ------------------------------------------------------------------------------------ the store's own entries */

/* STORE: records (8), records a block (4), flags (4; bit 0: shuffled), seed of the shuffle (8), content
 * digest (32) */
static void put_store(struct buffer *b, const struct manifest *m)
{
    size_t at = entry_begin(b, TAG_STORE, ENTRY_REQUIRED);
    buffer_le(b, m->info.records, 8);
    buffer_le(b, m->info.block_records, 4);
    buffer_le(b, m->info.shuffled ? 1 : 0, 4);
    buffer_le(b, m->info.shuffle_seed, 8);
    buffer_put(b, m->info.content_digest, 32);
    entry_end(b, at);
}

static apl_status get_store(struct cursor *c, struct manifest *m, apl_error *err)
{
    m->info.records = cursor_u64(c);
    m->info.block_records = cursor_u32(c);
    m->info.shuffled = (int)(cursor_u32(c) & 1);
    m->info.shuffle_seed = cursor_u64(c);
    const uint8_t *digest = cursor_take(c, 32);
    if (!digest)
        return bad_manifest(err, "the store's entry is truncated");
    memcpy(m->info.content_digest, digest, 32);
    return APL_OK;
}

/* TOOL: text */
static void put_tool(struct buffer *b, const struct manifest *m)
{
    size_t at = entry_begin(b, TAG_TOOL, 0);
    text_put(b, m->tool);
    entry_end(b, at);
}

/* SOURCE: has a digest (1), digest (32), format (text) */
static void put_source(struct buffer *b, const struct manifest *m)
{
    size_t at = entry_begin(b, TAG_SOURCE, 0);
    buffer_le(b, m->info.has_source_digest ? 1 : 0, 1);
    buffer_put(b, m->info.source_digest, 32);
    text_put(b, m->source_format);
    entry_end(b, at);
}

static apl_status get_source(struct cursor *c, struct manifest *m, apl_error *err)
{
    m->info.has_source_digest = cursor_u8(c) & 1;
    const uint8_t *digest = cursor_take(c, 32);
    if (!digest)
        return bad_manifest(err, "the source's entry is truncated");
    memcpy(m->info.source_digest, digest, 32);
    return get_name(c, true, &m->source_format, err);
}

/* ------------------------------------------------------------------------------------------- the whole */

static bool has_colours(const struct manifest *m, uint32_t s, unsigned f)
{
    const struct colour_sums *sums = split_summary(&m->splits[s], f).colours;
    return sums && sums->images > 0;
}

static bool has_products(const struct manifest *m, uint32_t s, unsigned f)
{
    return has_colours(m, s, f) && split_summary(&m->splits[s], f).colours->with_products > 0;
}

/* What the values come to, of the splits, and of the training split that the records come from. */
static void put_summaries(struct buffer *b, const struct manifest *m)
{
    for (uint32_t s = 0; s < m->split_count; s++)
        for (unsigned f = 0; f < m->schema.count; f++) {
            if (split_summary(&m->splits[s], f).moments)
                put_moments(b, m, s, f);
            if (split_summary(&m->splits[s], f).classes)
                put_class_counts(b, m, s, f);
            if (has_colours(m, s, f))
                put_images(b, m, s, f);
            if (has_products(m, s, f))
                put_products(b, m, s, f);
        }
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->training[f])
            put_training(b, m, f);
}

/* Those of the schema, and of files that were left out. */
static void put_schema(struct buffer *b, const struct manifest *m)
{
    put_text_lists(b, &m->schema);
    for (unsigned f = 0; f < m->schema.count; f++)
        put_field(b, &m->schema, f);
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->schema.fields[f].media)
            put_kept(b, &m->schema, f);
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->schema.indexed[f])
            put_indexed_field(b, &m->schema, f);
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->schema.progressive[f])
            put_progressive(b, &m->schema, f);
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->schema.choices[f].id == CODEC_VARYING)
            put_varying(b, &m->schema, f);
    if (m->info.skipped)
        put_skipped(b, m);
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->schema.fields[f].class_count)
            put_classes(b, &m->schema, f);
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->schema.fields[f].kind)
            put_kind(b, &m->schema, f);
}

static void put_entries(struct buffer *b, const struct manifest *m)
{
    put_store(b, m);
    put_tool(b, m);
    put_source(b, m);
    put_schema(b, m);
    for (uint32_t i = 0; i < m->split_count; i++)
        put_split(b, &m->splits[i]);
    for (uint32_t i = 0; i < m->member_count; i++)
        put_member(b, &m->members[i]);
    for (uint32_t i = 0; i < m->segment_count; i++)
        put_segment(b, &m->segments[i]);
    put_summaries(b, m);
    if (m->digests.size)
        digests_put(b, &m->digests);
}

typedef bool split_has(const struct manifest *m, uint32_t s, unsigned f);

static bool any_split(const struct manifest *m, split_has *has)
{
    for (uint32_t s = 0; s < m->split_count; s++)
        for (unsigned f = 0; f < m->schema.count; f++)
            if (has(m, s, f))
                return true;
    return false;
}

/* The oldest minor version that has all that is in the manifest. */
static unsigned oldest_minor(const struct manifest *m)
{
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->training[f])
            return 6;
    if (m->digests.size || schema_has_kinds(&m->schema) || schema_text_lists(&m->schema))
        return 6;
    if (any_split(m, has_products))
        return 5;
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->schema.progressive[f])
            return 4;
    if (any_split(m, has_colours))
        return 3;
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->schema.choices[f].id == CODEC_VARYING)
            return 2;
    return schema_keeps(&m->schema) || m->info.skipped ? 1 : 0;
}

apl_status manifest_encode(const struct manifest *m, struct buffer *b, apl_error *err)
{
    b->size = 0;
    buffer_le(b, MANIFEST_MAGIC, 4);
    buffer_le(b, FORMAT_MAJOR, 2);
    buffer_le(b, oldest_minor(m), 2);
    buffer_le(b, 0, 8);
    buffer_le(b, 0, 8);
    put_entries(b, m);
    if (b->failed)
        return fail_nomem(err);
    store_le(b->data + 8, b->size, 8);
    store_le(b->data + 16, hash_xxh3_64(b->data + HEAD, b->size - HEAD), 8);
    return APL_OK;
}

static apl_status get_block_digests(struct cursor *c, struct manifest *m, apl_error *err)
{
    apl_error inner;
    apl_status status = digests_get(c, &m->digests, &inner);
    return status == APL_E_CORRUPT ? bad_manifest(err, inner.message)
           : status == APL_OK      ? APL_OK
                                   : fail_nomem(err);
}

static apl_status refuse_entry(enum tag tag, const struct manifest *m, apl_error *err)
{
    return fail(err, APL_E_VERSION,
                "the manifest (format %u.%u) needs a reader that knows entry %u; this library (%s) knows "
                "format %u.%u",
                m->info.format_major, m->info.format_minor, (unsigned)tag, APL_VERSION_STRING, FORMAT_MAJOR,
                FORMAT_MINOR);
}

static apl_status get_summary(enum tag tag, struct cursor *c, struct manifest *m, apl_error *err)
{
    return tag == TAG_MOMENTS        ? get_moments(c, m, err)
           : tag == TAG_CLASS_COUNTS ? get_class_counts(c, m, err)
           : tag == TAG_IMAGES       ? get_images(c, m, err)
           : tag == TAG_PRODUCTS     ? get_products(c, m, err)
                                     : get_training(c, m, err);
}

/* How the values of a field are stored. */
static apl_status get_storing(enum tag tag, struct cursor *c, struct manifest *m, apl_error *err)
{
    return tag == TAG_KEPT          ? get_kept(c, m, err)
           : tag == TAG_INDEXED     ? get_indexed_field(c, m, err)
           : tag == TAG_PROGRESSIVE ? get_progressive(c, m, err)
                                    : get_varying(c, m, err);
}

static apl_status get_entry(enum tag tag, unsigned flags, struct cursor *c, struct manifest *m,
                            apl_error *err)
{
    switch (tag) {
    case TAG_STORE:
        return get_store(c, m, err);
    case TAG_TOOL:
        return get_name(c, true, &m->tool, err);
    case TAG_SOURCE:
        return get_source(c, m, err);
    case TAG_FIELD:
        return get_field(c, m, err);
    case TAG_CLASSES:
        return get_classes(c, m, err);
    case TAG_SPLIT:
        return get_split(c, m, err);
    case TAG_MEMBER:
        return get_member(c, m, err);
    case TAG_SEGMENT:
        return get_segment(c, m, err);
    case TAG_MOMENTS:
    case TAG_CLASS_COUNTS:
    case TAG_IMAGES:
    case TAG_PRODUCTS:
    case TAG_TRAINING:
        return get_summary(tag, c, m, err);
    case TAG_KEPT:
    case TAG_INDEXED:
    case TAG_PROGRESSIVE:
    case TAG_VARYING:
        return get_storing(tag, c, m, err);
    case TAG_DIGESTS:
        return get_block_digests(c, m, err);
    case TAG_SKIPPED:
        return get_skipped(c, m, err);
    case TAG_TEXT_LISTS:
        return get_text_lists(c, m, err);
    case TAG_KIND:
        return get_kind(c, m, FORMAT_MINOR, err);
    case TAG_SET:
    case TAG_SHARD:
        break;
    }
    return flags & ENTRY_REQUIRED ? refuse_entry(tag, m, err) : APL_OK;
}

static apl_status get_head(struct cursor *c, size_t size, struct manifest *m, apl_error *err)
{
    uint32_t magic = cursor_u32(c);
    m->info.format_major = cursor_u16(c);
    m->info.format_minor = cursor_u16(c);
    uint64_t bytes = cursor_u64(c), sum = cursor_u64(c);
    if (!cursor_ok(c) || magic != MANIFEST_MAGIC)
        return bad_manifest(err, "no header");
    if (m->info.format_major != FORMAT_MAJOR)
        return fail(err, APL_E_VERSION, "format version %u.%u; this library (%s) knows version %u",
                    m->info.format_major, m->info.format_minor, APL_VERSION_STRING, FORMAT_MAJOR);
    if (bytes != size || hash_xxh3_64(c->at, cursor_left(c)) != sum)
        return bad_manifest(err, "its checksum is wrong");
    return APL_OK;
}

apl_status manifest_decode(const uint8_t *bytes, size_t size, struct manifest *m, apl_error *err)
{
    struct cursor c = cursor_over(bytes, size);
    apl_status status;
    *m = (struct manifest){0};
    GUARD(get_head(&c, size, m, err));
    while (cursor_left(&c) > 0) {
        uint16_t tag = cursor_u16(&c), flags = cursor_u16(&c);
        uint32_t length = cursor_u32(&c);
        const uint8_t *payload = cursor_take(&c, length);
        if (!payload) {
            status = bad_manifest(err, "an entry is truncated");
            goto out;
        }
        struct cursor entry = cursor_over(payload, length);
        GUARD(get_entry((enum tag)tag, flags, &entry, m, err));
        if (!cursor_ok(&entry)) {
            status = bad_manifest(err, "an entry is too short");
            goto out;
        }
    }
    GUARD(manifest_finish(m, err));
    GUARD(manifest_check_rules(m, err));
    m->info.has_digest = m->digests.size > 0;
    if (m->info.has_digest)
        hash_sha256(bytes, size, m->info.digest);
out:
    if (status != APL_OK)
        manifest_free(m);
    return status;
}
