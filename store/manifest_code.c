/* The manifest as bytes. Every entry has one function that writes it and one that reads it, side by side. */
#include "hash.h"
#include "manifest.h"

#include <stdlib.h>
#include <string.h>

#define MANIFEST_MAGIC 0x4d4c5041u /* "APLM" */
#define HEAD           24u
#define REQUIRED       1u

enum tag {
    TAG_STORE = 1,
    TAG_TOOL = 2,
    TAG_SOURCE = 3,
    TAG_FIELD = 4,
    TAG_CLASSES = 5,
    TAG_SPLIT = 6,
    TAG_MEMBER = 7,
    TAG_SEGMENT = 8,
    TAG_MOMENTS = 9,
    TAG_CLASS_COUNTS = 10
};

static apl_status bad_manifest(apl_error *err, const char *what)
{
    return fail(err, APL_E_CORRUPT, "the manifest is damaged: %s", what);
}

/* ---------------------------------------------------------------------------------------------- pieces */

static size_t entry_begin(struct buffer *b, enum tag tag, unsigned flags)
{
    buffer_le(b, tag, 2);
    buffer_le(b, flags, 2);
    buffer_le(b, 0, 4);
    return b->size;
}

static void entry_end(struct buffer *b, size_t begin)
{
    if (!b->failed)
        store_le(b->data + begin - 4, b->size - begin, 4);
}

static void put_string(struct buffer *b, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    buffer_le(b, n, 2);
    buffer_put(b, text, n);
}

static const char *get_string(struct cursor *c, size_t *length)
{
    *length = cursor_u16(c);
    return (const char *)cursor_take(c, *length);
}

/* A copy of a text that must be a name (or empty, if that is allowed). */
static apl_status get_name(struct cursor *c, bool may_be_empty, char **name, apl_error *err)
{
    size_t length;
    const char *text = get_string(c, &length);
    if (!text || !(name_ok(text, length) || (may_be_empty && length == 0)))
        return bad_manifest(err, "a name is not printable UTF-8");
    free(*name);
    *name = strndup(text, length);
    return *name ? APL_OK : fail_nomem(err);
}

/* Makes room for one more element of a list that grows; `list` keeps a power of two of them. */
static apl_status grow(void *list_at, uint32_t count, size_t size, apl_error *err)
{
    void **list = list_at;
    if (count >= MANIFEST_MAX_LIST)
        return bad_manifest(err, "a list is too long");
    if (count & (count - 1))
        return APL_OK;
    void *grown = realloc(*list, (count ? 2 * (size_t)count : 1) * size);
    if (!grown)
        return fail_nomem(err);
    *list = grown;
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------- entries */

/* STORE: records (8), records a block (4), flags (4; bit 0: shuffled), seed of the shuffle (8), content
 * digest (32) */
static void put_store(struct buffer *b, const struct manifest *m)
{
    size_t at = entry_begin(b, TAG_STORE, REQUIRED);
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
        return bad_manifest(err, "the store's entry is cut");
    memcpy(m->info.content_digest, digest, 32);
    return APL_OK;
}

/* TOOL: text */
static void put_tool(struct buffer *b, const struct manifest *m)
{
    size_t at = entry_begin(b, TAG_TOOL, 0);
    put_string(b, m->tool);
    entry_end(b, at);
}

/* SOURCE: has a digest (1), digest (32), format (text) */
static void put_source(struct buffer *b, const struct manifest *m)
{
    size_t at = entry_begin(b, TAG_SOURCE, 0);
    buffer_le(b, m->info.has_source_digest ? 1 : 0, 1);
    buffer_put(b, m->info.source_digest, 32);
    put_string(b, m->source_format);
    entry_end(b, at);
}

static apl_status get_source(struct cursor *c, struct manifest *m, apl_error *err)
{
    m->info.has_source_digest = cursor_u8(c) & 1;
    const uint8_t *digest = cursor_take(c, 32);
    if (!digest)
        return bad_manifest(err, "the source's entry is cut");
    memcpy(m->info.source_digest, digest, 32);
    return get_name(c, true, &m->source_format, err);
}

/* FIELD, in order: name (text), dtype (1), mark (1), dimensions (1), codec (1), level (1), zero (3), shape (8
 * each; -1: varies), raw bytes (8), stored bytes (8), digest (32) */
static void put_field(struct buffer *b, const struct schema *schema, unsigned f)
{
    const apl_field *field = &schema->fields[f];
    size_t at = entry_begin(b, TAG_FIELD, REQUIRED);
    put_string(b, field->name);
    buffer_le(b, field->dtype, 1);
    buffer_le(b, field->mark, 1);
    buffer_le(b, field->ndim, 1);
    buffer_le(b, schema->choices[f].id, 1);
    buffer_le(b, (uint8_t)schema->choices[f].level, 1);
    buffer_le(b, 0, 3);
    for (unsigned i = 0; i < field->ndim; i++)
        buffer_le(b, (uint64_t)field->shape[i], 8);
    buffer_le(b, field->raw_bytes, 8);
    buffer_le(b, field->stored_bytes, 8);
    buffer_put(b, field->digest, 32);
    entry_end(b, at);
}

static apl_status get_field(struct cursor *c, struct manifest *m, apl_error *err)
{
    size_t length;
    const char *name = get_string(c, &length);
    apl_dtype dtype = (apl_dtype)cursor_u8(c);
    apl_mark mark = (apl_mark)cursor_u8(c);
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
    apl_status status = schema_add(&m->schema, name, length, dtype, mark, ndim, shape, &inner);
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

/* CLASSES: field (4), count (4), names (text each) */
static void put_classes(struct buffer *b, const struct schema *schema, unsigned f)
{
    const apl_field *field = &schema->fields[f];
    size_t at = entry_begin(b, TAG_CLASSES, 0);
    buffer_le(b, f, 4);
    buffer_le(b, field->class_count, 4);
    for (uint64_t i = 0; i < field->class_count; i++)
        put_string(b, field->classes[i]);
    entry_end(b, at);
}

static apl_status get_classes(struct cursor *c, struct manifest *m, apl_error *err)
{
    uint32_t f = cursor_u32(c), count = cursor_u32(c);
    /* A second list could be longer than the counts of classes, which have been made room for by then. */
    if (f >= m->schema.count || m->schema.fields[f].class_count || count == 0 || count > cursor_left(c) / 2)
        return bad_manifest(err, "class names");
    const char **names = calloc(count, sizeof *names);
    size_t *lengths = calloc(count, sizeof *lengths);
    apl_status status = names && lengths ? APL_OK : fail_nomem(err);
    for (uint32_t i = 0; status == APL_OK && i < count; i++)
        names[i] = get_string(c, &lengths[i]);
    if (status == APL_OK && !cursor_ok(c))
        status = bad_manifest(err, "class names are cut");
    apl_error inner;
    if (status == APL_OK && schema_set_classes(&m->schema, f, names, lengths, count, &inner) != APL_OK)
        status = inner.status == APL_E_INVALID ? bad_manifest(err, inner.message) : fail_nomem(err);
    free(names);
    free(lengths);
    return status;
}

/* SPLIT, in order: name (text), first id (8), records (8) */
static void put_split(struct buffer *b, const struct split *split)
{
    size_t at = entry_begin(b, TAG_SPLIT, REQUIRED);
    put_string(b, split->name);
    buffer_le(b, split->first, 8);
    buffer_le(b, split->count, 8);
    entry_end(b, at);
}

static apl_status get_split(struct cursor *c, struct manifest *m, apl_error *err)
{
    TRY(grow(&m->splits, m->split_count, sizeof *m->splits, err));
    struct split *split = &m->splits[m->split_count++];
    *split = (struct split){0};
    TRY(get_name(c, false, &split->name, err));
    split->first = cursor_u64(c);
    split->count = cursor_u64(c);
    return APL_OK;
}

/* MEMBER, in order: name (text), split (4), number (4), first source position (8), records (8) */
static void put_member(struct buffer *b, const struct member *member)
{
    size_t at = entry_begin(b, TAG_MEMBER, REQUIRED);
    put_string(b, member->name);
    buffer_le(b, member->split, 4);
    buffer_le(b, member->number, 4);
    buffer_le(b, member->first, 8);
    buffer_le(b, member->count, 8);
    entry_end(b, at);
}

static apl_status get_member(struct cursor *c, struct manifest *m, apl_error *err)
{
    TRY(grow(&m->members, m->member_count, sizeof *m->members, err));
    struct member *member = &m->members[m->member_count++];
    *member = (struct member){0};
    TRY(get_name(c, false, &member->name, err));
    member->split = cursor_u32(c);
    member->number = cursor_u32(c);
    member->first = cursor_u64(c);
    member->count = cursor_u64(c);
    return APL_OK;
}

/* SEGMENT, in order: number (4), first id (8), records (8) */
static void put_segment(struct buffer *b, const struct segment *segment)
{
    size_t at = entry_begin(b, TAG_SEGMENT, REQUIRED);
    buffer_le(b, segment->number, 4);
    buffer_le(b, segment->first_id, 8);
    buffer_le(b, segment->count, 8);
    entry_end(b, at);
}

static apl_status get_segment(struct cursor *c, struct manifest *m, apl_error *err)
{
    TRY(grow(&m->segments, m->segment_count, sizeof *m->segments, err));
    struct segment *segment = &m->segments[m->segment_count++];
    segment->number = cursor_u32(c);
    segment->first_id = cursor_u64(c);
    segment->count = cursor_u64(c);
    return APL_OK;
}

/* MOMENTS: split (4), field (4), channels (4), then of each channel: elements (8), their sum (8), sum of
 * squares (8) */
static void put_moments(struct buffer *b, const struct manifest *m, uint32_t s, unsigned f)
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

static apl_status get_moments(struct cursor *c, struct manifest *m, apl_error *err)
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

/* CLASS_COUNTS: split (4), field (4), records of each class (8 each) */
static void put_class_counts(struct buffer *b, const struct manifest *m, uint32_t s, unsigned f)
{
    size_t at = entry_begin(b, TAG_CLASS_COUNTS, 0);
    buffer_le(b, s, 4);
    buffer_le(b, f, 4);
    const uint64_t *counts = split_summary(&m->splits[s], f).classes;
    for (uint64_t i = 0; i < m->schema.fields[f].class_count; i++)
        buffer_le(b, counts[i], 8);
    entry_end(b, at);
}

static apl_status get_class_counts(struct cursor *c, struct manifest *m, apl_error *err)
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

/* ------------------------------------------------------------------------------------------- the whole */

static void put_entries(struct buffer *b, const struct manifest *m)
{
    put_store(b, m);
    put_tool(b, m);
    put_source(b, m);
    for (unsigned f = 0; f < m->schema.count; f++)
        put_field(b, &m->schema, f);
    for (unsigned f = 0; f < m->schema.count; f++)
        if (m->schema.fields[f].class_count)
            put_classes(b, &m->schema, f);
    for (uint32_t i = 0; i < m->split_count; i++)
        put_split(b, &m->splits[i]);
    for (uint32_t i = 0; i < m->member_count; i++)
        put_member(b, &m->members[i]);
    for (uint32_t i = 0; i < m->segment_count; i++)
        put_segment(b, &m->segments[i]);
    for (uint32_t s = 0; s < m->split_count; s++)
        for (unsigned f = 0; f < m->schema.count; f++) {
            if (split_summary(&m->splits[s], f).moments)
                put_moments(b, m, s, f);
            if (split_summary(&m->splits[s], f).classes)
                put_class_counts(b, m, s, f);
        }
}

apl_status manifest_encode(const struct manifest *m, struct buffer *b, apl_error *err)
{
    b->size = 0;
    buffer_le(b, MANIFEST_MAGIC, 4);
    buffer_le(b, FORMAT_MAJOR, 2);
    buffer_le(b, FORMAT_MINOR, 2);
    buffer_le(b, 0, 8);
    buffer_le(b, 0, 8);
    put_entries(b, m);
    if (b->failed)
        return fail_nomem(err);
    store_le(b->data + 8, b->size, 8);
    store_le(b->data + 16, hash_xxh3_64(b->data + HEAD, b->size - HEAD), 8);
    return APL_OK;
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
        return get_moments(c, m, err);
    case TAG_CLASS_COUNTS:
        return get_class_counts(c, m, err);
    }
    if (flags & REQUIRED)
        return fail(err, APL_E_VERSION, "the manifest needs a reader that knows entry %u", (unsigned)tag);
    return APL_OK;
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
            status = bad_manifest(err, "an entry is cut");
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
out:
    if (status != APL_OK)
        manifest_free(m);
    return status;
}
