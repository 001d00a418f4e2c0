/* Taking the entry of a shard apart: see set_list.h. */
#include "hash.h"
#include "manifest_entry.h"
#include "set_parts.h"
#include "statistics.h"

#include <stdlib.h>
#include <string.h>

static const char MIXED[] = "mixed"; /* codecs, where shards differ */

#define MOST_COUNTS ((uint64_t)1 << 26) /* classes of all splits of a set, for which memory is taken */
#define MOST_LISTED ((uint32_t)1 << 30) /* splits or members of all shards */

apl_status bad_list(apl_error *err, const char *what)
{
    return fail(err, APL_E_CORRUPT, "the list is damaged: %s", what);
}

/* The inverse of put_varint(): of each number, only the shortest form is taken. */
static uint64_t get_varint(struct cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b = cursor_u8(c);
        if ((shift == 63 && b > 1) || (shift && b == 0))
            break;
        v |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return v;
    }
    c->failed = true;
    return 0;
}

static apl_status bad_shard(const struct shard *s, const char *what, apl_error *err)
{
    return fail(err, APL_E_CORRUPT, "the list is damaged: %s of shard %s", what, s->name);
}

/* Adds `b` to *a; false if that is too much. */
static bool add(uint64_t *a, uint64_t b)
{
    uint64_t sum;
    if (__builtin_add_overflow(*a, b, &sum) || sum > (uint64_t)1 << 62)
        return false;
    *a = sum;
    return true;
}

/* Room for `more` behind `count`, in a power of two. */
static apl_status make_parts_room(void *list_at, uint32_t count, uint32_t more, size_t size, apl_error *err)
{
    void **list = list_at;
    uint64_t room = count ? 1 : 0, needed = (uint64_t)count + more;
    while (room && room < count)
        room *= 2;
    if (needed > MOST_LISTED)
        return bad_list(err, "too many splits or members");
    if (needed <= room)
        return APL_OK;
    for (room = room ? room : 1; room < needed;)
        room *= 2;
    void *grown = realloc(*list, (size_t)room * size);
    if (!grown)
        return fail_nomem(err);
    *list = grown;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------- splits by name */

/* Where the name is, or is to be. */
static uint32_t *table_place(struct parts *p, const struct manifest *m, const char *name, size_t length)
{
    uint32_t mask = p->table_size - 1, i = (uint32_t)hash_xxh3_64(name, length) & mask;
    for (; p->table[i]; i = (i + 1) & mask) {
        const char *is = m->splits[p->table[i] - 1].name;
        if (strlen(is) == length && memcmp(is, name, length) == 0)
            break;
    }
    return &p->table[i];
}

/* At most half of it is in use. */
static apl_status table_grow(struct parts *p, const struct manifest *m, apl_error *err)
{
    if (p->table && m->split_count < p->table_size / 2)
        return APL_OK;
    uint32_t size = p->table ? 2 * p->table_size : 64;
    uint32_t *table = calloc(size, sizeof *table);
    if (!table)
        return fail_nomem(err);
    free(p->table);
    p->table = table;
    p->table_size = size;
    for (uint32_t i = 0; i < m->split_count; i++)
        *table_place(p, m, m->splits[i].name, strlen(m->splits[i].name)) = i + 1;
    return APL_OK;
}

/* The split of that name, which the set has from now on. */
static apl_status name_split(struct parts *p, struct manifest *m, struct cursor *c, uint32_t *split,
                             apl_error *err)
{
    size_t length;
    const char *name = text_get(c, &length);
    if (!name || !name_ok(name, length))
        return bad_list(err, "the name of a split");
    TRY(table_grow(p, m, err));
    uint32_t *place = table_place(p, m, name, length);
    if (*place == 0) {
        TRY(make_parts_room(&m->splits, m->split_count, 1, sizeof *m->splits, err));
        TRY(make_parts_room(&p->named, m->split_count, 1, sizeof *p->named, err));
        p->named[m->split_count] = 0;
        struct split *s = &m->splits[m->split_count];
        *s = (struct split){.name = strndup(name, length)};
        if (!s->name)
            return fail_nomem(err);
        *place = ++m->split_count;
    }
    *split = *place - 1;
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------- ranges */

static apl_status get_splits(struct cursor *c, struct shard *s, uint32_t number, struct parts *p,
                             struct manifest *m, apl_error *err)
{
    uint32_t begin = p->part_count;
    TRY(make_parts_room(&p->part, p->part_count, s->splits, sizeof *p->part, err));
    for (uint32_t i = 0; i < s->splits; i++) {
        struct part part = {.shard = number, .own_first = s->records};
        TRY(name_split(p, m, c, &part.split, err));
        part.count = cursor_u64(c);
        if (!add(&s->records, part.count) || !add(&m->splits[part.split].count, part.count) ||
            !add(&m->info.records, part.count) || p->named[part.split] > begin)
            return bad_shard(s, "the splits", err);
        p->part[p->part_count++] = part;
        p->named[part.split] = p->part_count;
    }
    return s->records ? APL_OK : bad_shard(s, "the splits", err);
}

/* Members are in the order of their records, and each has those of one split. */
static apl_status get_members(struct cursor *c, struct shard *s, struct parts *p, apl_error *err)
{
    uint32_t parts = p->part_count - s->splits;
    uint64_t at = 0;
    TRY(make_parts_room(&p->piece, p->piece_count, s->members, sizeof *p->piece, err));
    for (uint32_t i = 0; i < s->members; i++) {
        struct piece piece = {.own_first = at, .number = p->piece_count};
        piece.name = text_get(c, &piece.length);
        uint32_t split = cursor_u32(c);
        cursor_u32(c); /* its number in the shard */
        piece.count = cursor_u64(c);
        if (!cursor_ok(c) || !name_ok(piece.name, piece.length) || split >= s->splits)
            return bad_shard(s, "a member", err);
        piece.part = parts + split;
        const struct part *part = &p->part[piece.part];
        if (at < part->own_first || at - part->own_first > part->count ||
            piece.count > part->count - (at - part->own_first))
            return bad_shard(s, "the members", err);
        at += piece.count;
        p->piece[p->piece_count++] = piece;
    }
    return at == s->records ? APL_OK : bad_shard(s, "the members", err);
}

/* In which of the shard's blocks each part begins: blocks are of members, or in a shuffled store of splits. */
static apl_status begin_blocks(const struct shard *s, bool shuffled, struct parts *p, apl_error *err)
{
    struct part *part = p->part + p->part_count - s->splits;
    const struct piece *piece = p->piece + p->piece_count - s->members;
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < (shuffled ? s->splits : s->members); i++) {
        struct part *of = shuffled ? &part[i] : &p->part[piece[i].part];
        uint64_t count = shuffled ? part[i].count : piece[i].count;
        if (count == 0)
            continue;
        if (shuffled || piece[i].own_first == of->own_first)
            of->own_block = blocks;
        uint64_t n = (count - 1) / s->block_records + 1;
        if (n > UINT32_MAX)
            return bad_shard(s, "a split", err);
        blocks += n;
    }
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------- figures */

static apl_status get_fields(struct cursor *c, const struct shard *s, bool first, struct manifest *m,
                             apl_error *err)
{
    for (unsigned f = 0; f < m->schema.count; f++) {
        apl_field *field = &m->schema.fields[f];
        unsigned codec = cursor_u8(c);
        int level = (int8_t)cursor_u8(c);
        const char *name = field->media ? field->codec : codec_name(codec);
        bool ok = add(&field->raw_bytes, cursor_u64(c)) && add(&field->stored_bytes, cursor_u64(c)) &&
                  add(&field->indexed, cursor_u64(c));
        if (!cursor_take(c, 32) || !ok || !name)
            return bad_shard(s, "the fields", err);
        if (!first && strcmp(field->codec, name) != 0)
            name = MIXED;
        field->level = name != MIXED && (first || field->level == level) ? level : 0;
        field->codec = name;
    }
    return APL_OK;
}

static apl_status get_moments_of(struct cursor *c, const struct shard *s, unsigned channels,
                                 struct moments *sums, apl_error *err)
{
    for (unsigned i = 0; i < channels; i++) {
        struct moments more = {.count = cursor_u64(c)};
        more.sum = cursor_u64(c);
        more.squares = cursor_u64(c);
        if (!moments_combine(&sums[i], &more))
            return bad_shard(s, "the moments, with those before,", err);
    }
    return APL_OK;
}

static apl_status get_classes_of(struct cursor *c, const struct shard *s, uint64_t classes, uint64_t *counts,
                                 apl_error *err)
{
    uint64_t n = get_varint(c), next = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t gap = get_varint(c), records = get_varint(c);
        if (!cursor_ok(c) || gap >= classes - next || records == 0 || !add(&counts[next + gap], records))
            return bad_shard(s, "the class counts", err);
        next += gap + 1;
    }
    return APL_OK;
}

static apl_status get_summaries(struct cursor *c, const struct shard *s, struct split *split,
                                const struct schema *schema, apl_error *err)
{
    for (unsigned f = 0; f < schema->count; f++) {
        TRY(manifest_new_summary(schema, split, f, err));
        struct summary sums = split_summary(split, f);
        if (sums.moments)
            TRY(get_moments_of(c, s, field_channels(&schema->fields[f]), sums.moments, err));
        if (sums.classes)
            TRY(get_classes_of(c, s, schema->fields[f].class_count, sums.classes, err));
    }
    return APL_OK;
}

/* Memory for the sums is bounded, whatever the list says. */
static apl_status check_sums_fit(const struct manifest *m, apl_error *err)
{
    uint64_t classes = 1;
    for (unsigned f = 0; f < m->schema.count; f++)
        classes += m->schema.fields[f].class_count + field_channels(&m->schema.fields[f]);
    return classes <= MOST_COUNTS / m->split_count ? APL_OK : bad_list(err, "too many splits and classes");
}

/* ------------------------------------------------------------------------------------------- the whole */

static apl_status get_shard_head(struct cursor *c, struct shard *s, apl_error *err)
{
    size_t length;
    const char *name = text_get(c, &length);
    if (!set_name_ok(name, length))
        return bad_list(err, "the name of a shard is not a path down from the list");
    s->name = strndup(name, length);
    if (!s->name)
        return fail_nomem(err);
    s->file_bytes = cursor_u64(c);
    const uint8_t *digest = cursor_take(c, 32);
    s->block_records = cursor_u32(c);
    cursor_u64(c); /* the seed of its shuffle */
    s->skipped = cursor_u64(c);
    s->splits = cursor_u32(c);
    s->members = cursor_u32(c);
    if (!digest || !cursor_ok(c) || s->block_records == 0 || s->block_records > APL_MAX_BLOCK ||
        s->splits == 0 || s->splits > cursor_left(c) / 10 || s->members > cursor_left(c) / 18)
        return bad_shard(s, "the figures", err);
    memcpy(s->content, digest, 32);
    return APL_OK;
}

apl_status set_read_shard(struct set_list *list, uint32_t number, struct parts *p, struct manifest *m,
                          apl_error *err)
{
    struct shard *s = &list->shards[number];
    struct cursor c = cursor_over(s->entry, s->entry_bytes);
    TRY(get_shard_head(&c, s, err));
    TRY(get_splits(&c, s, number, p, m, err));
    TRY(get_members(&c, s, p, err));
    TRY(begin_blocks(s, m->info.shuffled, p, err));
    TRY(check_sums_fit(m, err));
    TRY(get_fields(&c, s, number == 0, m, err));
    for (uint32_t i = p->part_count - s->splits; i < p->part_count; i++)
        TRY(get_summaries(&c, s, &m->splits[p->part[i].split], &m->schema, err));
    if (!cursor_ok(&c) || cursor_left(&c) || !add(&m->info.file_bytes, s->file_bytes) ||
        !add(&m->info.skipped, s->skipped))
        return bad_shard(s, "the entry", err);
    if (s->block_records > m->info.block_records)
        m->info.block_records = s->block_records;
    return APL_OK;
}
