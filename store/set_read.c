/* Reading the list of a set: its header and entries; set_shard.c takes those of shards apart, and set_layout.c puts them together. */
#include "hash.h"
#include "manifest_entry.h"
#include "set_entry.h"
#include "set_parts.h"

#include <stdlib.h>
#include <string.h>

void parts_free(struct parts *parts)
{
    free(parts->part);
    free(parts->piece);
    free(parts->named);
    free(parts->table);
    *parts = (struct parts){0};
}

void set_list_free(struct set_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        free(list->shards[i].name);
    free(list->shards);
    free(list->runs);
    buffer_free(&list->bytes);
    buffer_free(&list->digests);
    *list = (struct set_list){0};
}

const struct run *set_list_run(const struct set_list *list, uint64_t block)
{
    uint32_t low = 0, high = list->run_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (list->runs[middle].first_block <= block)
            low = middle;
        else
            high = middle;
    }
    return &list->runs[low];
}

static apl_status get_set_head(struct cursor *c, size_t size, struct manifest *m, apl_error *err)
{
    uint32_t magic = cursor_u32(c);
    m->info.format_major = cursor_u16(c);
    m->info.format_minor = cursor_u16(c);
    uint64_t bytes = cursor_u64(c), sum = cursor_u64(c);
    if (!cursor_ok(c) || magic != SET_MAGIC)
        return bad_list(err, "no header");
    if (m->info.format_major != SET_MAJOR)
        return fail(err, APL_E_VERSION, "a list of version %u.%u; this library (%s) knows version %u",
                    m->info.format_major, m->info.format_minor, APL_VERSION_STRING, SET_MAJOR);
    if (bytes != size || hash_xxh3_64(c->at, cursor_left(c)) != sum)
        return bad_list(err, "its checksum is wrong");
    return APL_OK;
}

static apl_status get_set(struct cursor *c, struct set_list *list, struct manifest *m, uint32_t *shards,
                          apl_error *err)
{
    *shards = cursor_u32(c);
    m->info.shuffled = (int)(cursor_u32(c) & 1);
    const uint8_t *digest = cursor_take(c, 32);
    if (!digest || list->shards || *shards == 0 || *shards > list->bytes.size / 64)
        return bad_list(err, "its first entry");
    memcpy(m->info.content_digest, digest, 32);
    list->shards = calloc(*shards, sizeof *list->shards);
    return list->shards ? get_name(c, true, &m->source_format, err) : fail_nomem(err);
}

static apl_status get_shard_digests(struct cursor *c, struct set_list *list, apl_error *err)
{
    apl_error inner;
    apl_status status = digests_get(c, &list->digests, &inner);
    return status == APL_E_CORRUPT ? bad_list(err, inner.message)
           : status == APL_OK      ? APL_OK
                                   : fail_nomem(err);
}

/* An entry is at hand in whole: `c` has it. Those of shards are only noted. */
static apl_status get_set_entry(enum tag tag, unsigned flags, struct cursor *c, struct set_list *list,
                                struct manifest *m, uint32_t *shards, apl_error *err)
{
    if (tag != TAG_SET && !list->shards)
        return bad_list(err, "its first entry");
    switch (tag) {
    case TAG_SET:
        return get_set(c, list, m, shards, err);
    case TAG_FIELD:
        return get_field(c, m, err);
    case TAG_KEPT:
        return get_kept(c, m, err);
    case TAG_CLASSES:
        return get_classes(c, m, err);
    case TAG_TEXT_LISTS:
        return get_text_lists(c, m, err);
    case TAG_KIND:
        return get_kind(c, m, SET_MINOR, err);
    case TAG_SHARD:
        if (list->count == *shards)
            return bad_list(err, "it has too many shards");
        list->shards[list->count].entry = c->at;
        list->shards[list->count++].entry_bytes = (uint32_t)cursor_left(c);
        return APL_OK;
    case TAG_DIGESTS:
        return get_shard_digests(c, list, err);
    default:
        break;
    }
    if (flags & ENTRY_REQUIRED)
        return fail(err, APL_E_VERSION,
                    "the list (version %u.%u) needs a reader that knows entry %u; this library (%s) knows "
                    "version %u.%u",
                    m->info.format_major, m->info.format_minor, (unsigned)tag, APL_VERSION_STRING, SET_MAJOR,
                    SET_MINOR);
    return APL_OK;
}

static apl_status get_entries(struct set_list *list, struct manifest *m, apl_error *err)
{
    struct cursor c = cursor_over(list->bytes.data, list->bytes.size);
    uint32_t shards = 0;
    TRY(get_set_head(&c, list->bytes.size, m, err));
    while (cursor_left(&c) > 0) {
        uint16_t tag = cursor_u16(&c), flags = cursor_u16(&c);
        uint32_t length = cursor_u32(&c);
        const uint8_t *payload = cursor_take(&c, length);
        if (!payload)
            return bad_list(err, "an entry is truncated");
        struct cursor entry = cursor_over(payload, length);
        TRY(get_set_entry((enum tag)tag, flags, &entry, list, m, &shards, err));
        if (!cursor_ok(&entry))
            return bad_list(err, "an entry is too short");
    }
    if (list->count == 0 || list->count != shards || m->schema.count == 0)
        return bad_list(err, "it has too few shards or fields");
    if (schema_text_lists(&m->schema) != m->text_lists)
        return bad_list(err, "it has another number of fields of lists of texts");
    apl_error inner;
    return schema_check_kinds(&m->schema, &inner) == APL_OK ? APL_OK : bad_list(err, inner.message);
}

static apl_status take_digests(struct set_list *list, struct manifest *m, apl_error *err)
{
    apl_error inner;
    if (digests_check(&list->digests, list->count, &inner) != APL_OK)
        return bad_list(err, inner.message);
    m->info.has_digest = list->digests.size > 0;
    if (m->info.has_digest)
        hash_sha256(list->bytes.data, list->bytes.size, m->info.digest);
    for (uint32_t i = 0; m->info.has_digest && i < list->count; i++)
        list->shards[i].digest = digest_of(&list->digests, i);
    return APL_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static apl_status check_shard_names(const struct set_list *list, apl_error *err)
{
    const char **names = malloc(list->count * sizeof *names), *twice = NULL;
    if (!names)
        return fail_nomem(err);
    for (uint32_t i = 0; i < list->count; i++)
        names[i] = list->shards[i].name;
    qsort(names, list->count, sizeof *names, by_name);
    for (uint32_t i = 1; i < list->count && !twice; i++)
        twice = strcmp(names[i - 1], names[i]) == 0 ? names[i] : NULL;
    free(names);
    return twice ? fail(err, APL_E_CORRUPT, "the list is damaged: shard %s comes twice", twice) : APL_OK;
}

static apl_status check_digest(const struct set_list *list, const struct manifest *m, apl_error *err)
{
    uint8_t digest[32];
    TRY(set_list_digest(list->shards, list->count, digest, err));
    return memcmp(digest, m->info.content_digest, 32) == 0
               ? APL_OK
               : bad_list(err, "its content digest is not that of its shards");
}

apl_status set_list_decode(struct buffer *bytes, struct set_list *list, struct manifest *m, apl_error *err)
{
    struct parts parts = {0};
    apl_status status;
    *list = (struct set_list){.bytes = *bytes};
    *bytes = (struct buffer){0};
    *m = (struct manifest){0};
    GUARD(get_entries(list, m, err));
    GUARD(take_digests(list, m, err));
    for (uint32_t i = 0; i < list->count; i++)
        GUARD(set_read_shard(list, i, &parts, m, err));
    GUARD(check_shard_names(list, err));
    GUARD(check_digest(list, m, err));
    GUARD(set_layout(list, &parts, m, err));
out:
    parts_free(&parts);
    if (status != APL_OK) {
        manifest_free(m);
        set_list_free(list);
    }
    return status;
}

apl_status set_list_check(const struct buffer *bytes, apl_error *err)
{
    struct buffer copy = {0};
    struct set_list list;
    struct manifest m;
    buffer_put(&copy, bytes->data, bytes->size);
    if (copy.failed)
        return fail_nomem(err);
    TRY(set_list_decode(&copy, &list, &m, err));
    manifest_free(&m);
    set_list_free(&list);
    return APL_OK;
}
