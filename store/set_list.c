/* Writing the list of a set, and what its shards must agree in; set_read.c reads it. */
#include "set_list.h"

#include "hash.h"
#include "kind_text.h"
#include "manifest_entry.h"
#include "set_entry.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ names */

bool set_name_ok(const char *name, size_t length)
{
    char shown[4 * SET_MAX_NAME + 8];
    size_t part = 0;
    if (!name || length == 0 || length > SET_MAX_NAME || memchr(name, 0, length))
        return false;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && name[i] != '/')
            continue;
        size_t n = i - part;
        if (n == 0 || (n == 1 && name[part] == '.') || (n == 2 && memcmp(name + part, "..", 2) == 0))
            return false;
        part = i + 1;
    }
    printable(shown, sizeof shown, name, length);
    return strlen(shown) == length && memcmp(shown, name, length) == 0;
}

/* ----------------------------------------------------------------------------------------------- schema */

static const char *role_name(apl_role role)
{
    static const char *const names[] = {"none", "input", "target", "name", "position"};
    return role <= APL_POSITION ? names[role] : "unknown";
}

static apl_status differ(const char *name, const char *field, const char *is, const char *other,
                         const char *first, apl_error *err)
{
    return fail(err, APL_E_MISMATCH, "%s: field %s is %s, but %s in %s", name, field, is, other, first);
}

static apl_status agree_classes(const apl_field *a, const char *name, const apl_field *b, const char *first,
                                apl_error *err)
{
    char one[256], two[256];
    if (a->class_count != b->class_count)
        return fail(err, APL_E_MISMATCH, "%s: field %s has %s, but %llu in %s", name, a->name,
                    number_of(a->class_count, "class", "classes"), (unsigned long long)b->class_count, first);
    for (uint64_t c = 0; c < a->class_count; c++)
        if (strcmp(a->classes[c], b->classes[c]) != 0)
            return fail(err, APL_E_MISMATCH, "%s: class %llu of field %s is %s, but %s in %s", name,
                        (unsigned long long)c, a->name,
                        printable(one, sizeof one, a->classes[c], strlen(a->classes[c])),
                        printable(two, sizeof two, b->classes[c], strlen(b->classes[c])), first);
    return APL_OK;
}

static apl_status agree_kinds(const apl_field *a, const char *name, const apl_field *b, const char *first,
                              apl_error *err)
{
    char one[160], two[160]; /* what is cut off are names and parameters */
    apl_kind_print(NULL, a->kind, one, sizeof one);
    apl_kind_print(NULL, b->kind, two, sizeof two);
    return kind_agrees(a->kind, b->kind)
               ? APL_OK
               : fail(err, APL_E_MISMATCH,
                      "%s: field %s is %s, but %s in %s (apldata set-kind says what a field is)", name,
                      a->name, a->kind ? one : "of no kind", b->kind ? two : "of no kind", first);
}

static apl_status agree_field(const apl_field *a, const char *name, const apl_field *b, const char *first,
                              apl_error *err)
{
    char one[FIELD_TYPE_TEXT], two[FIELD_TYPE_TEXT];
    if (strcmp(a->name, b->name) != 0)
        return fail(err, APL_E_MISMATCH, "%s: has a field %s where %s has %s", name, a->name, first, b->name);
    if (a->dtype != b->dtype || a->ndim != b->ndim ||
        memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) != 0)
        return differ(name, a->name, field_type_text(a, one), field_type_text(b, two), first, err);
    if (a->role != b->role)
        return differ(name, a->name, role_name(a->role), role_name(b->role), first, err);
    if (strcmp(a->media ? a->media : "no file", b->media ? b->media : "no file") != 0)
        return differ(name, a->name, a->media ? a->media : "no file", b->media ? b->media : "no file", first,
                      err);
    TRY(agree_kinds(a, name, b, first, err));
    return agree_classes(a, name, b, first, err);
}

apl_status set_same_schema(const struct schema *schema, const char *name, const struct schema *first,
                           const char *first_name, apl_error *err)
{
    for (unsigned f = 0; f < schema->count && f < first->count; f++)
        TRY(agree_field(&schema->fields[f], name, &first->fields[f], first_name, err));
    if (schema->count > first->count)
        return fail(err, APL_E_MISMATCH, "%s: has the field %s, which %s has not", name,
                    schema->fields[first->count].name, first_name);
    if (schema->count < first->count)
        return fail(err, APL_E_MISMATCH, "%s: has no field %s, which %s has", name,
                    first->fields[schema->count].name, first_name);
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- a shard */

static void put_varint(struct buffer *b, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        buffer_le(b, (v & 127) | 128, 1);
    buffer_le(b, v, 1);
}

/* Classes that have records (number), of each how many follow the one before it without any, and its records (number each). */
static void put_classes_of(struct buffer *b, const apl_field *field, const uint64_t *counts)
{
    uint64_t n = 0, next = 0;
    for (uint64_t c = 0; counts && c < field->class_count; c++)
        n += counts[c] > 0;
    put_varint(b, n);
    for (uint64_t c = 0; n && c < field->class_count; c++) {
        if (counts[c] == 0)
            continue;
        put_varint(b, c - next);
        put_varint(b, counts[c]);
        next = c + 1;
    }
}

static void put_moments_of(struct buffer *b, unsigned channels, const struct moments *moments)
{
    for (unsigned c = 0; c < channels; c++) {
        buffer_le(b, moments ? moments[c].count : 0, 8);
        buffer_le(b, moments ? moments[c].sum : 0, 8);
        buffer_le(b, moments ? moments[c].squares : 0, 8);
    }
}

/* Of each field: codec (1), level (1), raw bytes (8), stored bytes (8), indexed values (8), digest (32) */
static void put_fields(struct buffer *b, const struct schema *schema)
{
    for (unsigned f = 0; f < schema->count; f++) {
        const apl_field *field = &schema->fields[f];
        buffer_le(b, schema->choices[f].id, 1);
        buffer_le(b, (uint8_t)schema->choices[f].level, 1);
        buffer_le(b, field->raw_bytes, 8);
        buffer_le(b, field->stored_bytes, 8);
        buffer_le(b, field->indexed, 8);
        buffer_put(b, field->digest, 32);
    }
}

/* Of each split: name (text), records (8); of each member: name (text), split (4), number (4), records (8) */
static void put_ranges(struct buffer *b, const struct manifest *m)
{
    for (uint32_t i = 0; i < m->split_count; i++) {
        text_put(b, m->splits[i].name);
        buffer_le(b, m->splits[i].count, 8);
    }
    for (uint32_t i = 0; i < m->member_count; i++) {
        text_put(b, m->members[i].name);
        buffer_le(b, m->members[i].split, 4);
        buffer_le(b, m->members[i].number, 4);
        buffer_le(b, m->members[i].count, 8);
    }
}

/* SHARD: name (text), bytes of its file (8), content digest (32), records a block (4), seed of its shuffle (8), skipped files (8),
 * splits (4), members (4), then its ranges, its fields, and of each split and each field of it the moments of its channels and the
 * records of its classes */
void set_put_shard(struct buffer *b, const char *name, const struct manifest *m, size_t *payload)
{
    size_t at = entry_begin(b, TAG_SHARD, ENTRY_REQUIRED);
    text_put(b, name);
    buffer_le(b, m->info.file_bytes, 8);
    buffer_put(b, m->info.content_digest, 32);
    buffer_le(b, m->info.block_records, 4);
    buffer_le(b, m->info.shuffle_seed, 8);
    buffer_le(b, m->info.skipped, 8);
    buffer_le(b, m->split_count, 4);
    buffer_le(b, m->member_count, 4);
    put_ranges(b, m);
    put_fields(b, &m->schema);
    for (uint32_t s = 0; s < m->split_count; s++)
        for (unsigned f = 0; f < m->schema.count; f++) {
            struct summary summary = split_summary(&m->splits[s], f);
            put_moments_of(b, field_channels(&m->schema.fields[f]), summary.moments);
            if (m->schema.fields[f].class_count)
                put_classes_of(b, &m->schema.fields[f], summary.classes);
        }
    entry_end(b, at);
    *payload = at;
}

void set_copy_shard(struct buffer *b, const struct shard *shard)
{
    size_t at = entry_begin(b, TAG_SHARD, ENTRY_REQUIRED);
    buffer_put(b, shard->entry, shard->entry_bytes);
    entry_end(b, at);
}

/* ------------------------------------------------------------------------------------------- the whole */

/* SET: shards (4), flags (4; bit 0: shuffled), content digest (32), format of what they were made from (text) */
static void put_set(struct buffer *b, bool shuffled, const char *format, const uint8_t content[32],
                    uint32_t shards)
{
    size_t at = entry_begin(b, TAG_SET, ENTRY_REQUIRED);
    buffer_le(b, shards, 4);
    buffer_le(b, shuffled, 4);
    buffer_put(b, content, 32);
    text_put(b, format);
    entry_end(b, at);
}

/* A field without what each shard has of its own. */
static void put_plain_field(struct buffer *b, const struct schema *schema, unsigned f)
{
    struct schema plain = {.count = 1, .fields = {schema->fields[f]}};
    plain.fields[0].raw_bytes = plain.fields[0].stored_bytes = 0;
    memset(plain.fields[0].digest, 0, 32);
    put_field(b, &plain, 0);
}

apl_status set_list_encode(const struct manifest *first, const char *format, const uint8_t content[32],
                           uint32_t shards, const struct buffer *entries, const struct buffer *digests,
                           struct buffer *b, apl_error *err)
{
    const struct schema *schema = &first->schema;
    b->size = 0;
    buffer_le(b, SET_MAGIC, 4);
    buffer_le(b, SET_MAJOR, 2);
    buffer_le(b, digests->size || schema_has_kinds(schema) || schema_text_lists(schema) ? SET_MINOR : 0, 2);
    buffer_le(b, 0, 8);
    buffer_le(b, 0, 8);
    put_set(b, first->info.shuffled != 0, format, content, shards);
    put_text_lists(b, schema);
    for (unsigned f = 0; f < schema->count; f++)
        put_plain_field(b, schema, f);
    for (unsigned f = 0; f < schema->count; f++)
        if (schema->fields[f].media)
            put_kept(b, schema, f);
    for (unsigned f = 0; f < schema->count; f++)
        if (schema->fields[f].class_count)
            put_classes(b, schema, f);
    for (unsigned f = 0; f < schema->count; f++)
        if (schema->fields[f].kind)
            put_kind(b, schema, f);
    buffer_put(b, entries->data, entries->size);
    if (digests->size)
        digests_put(b, digests);
    if (b->failed || entries->failed || digests->failed)
        return fail_nomem(err);
    store_le(b->data + 8, b->size, 8);
    store_le(b->data + 16, hash_xxh3_64(b->data + SET_HEAD, b->size - SET_HEAD), 8);
    return APL_OK;
}

apl_status set_list_digest(const struct shard *shards, uint32_t count, uint8_t digest[32], apl_error *err)
{
    struct sha256 *sha = sha256_new();
    if (!sha)
        return fail_nomem(err);
    for (uint32_t i = 0; i < count; i++)
        sha256_add(sha, shards[i].content, 32);
    sha256_end(sha, digest);
    sha256_free(sha);
    return APL_OK;
}
