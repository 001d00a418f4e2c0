/* The manifest in memory: what must fit together, and the ways from ids to blocks. */
#include "hash.h"
#include "manifest.h"
#include "records.h"

#define MOST 40

/* Lists of random lengths; room for them, without allocating. */
struct layout {
    struct manifest m;
    struct split splits[MOST];
    struct member members[MOST];
    struct segment segments[MOST];
};

static uint64_t random_count(uint32_t *state, uint32_t range)
{
    return (sample_random(state) >> 8) % range;
}

static void random_layout(struct layout *l, uint32_t *state)
{
    memset(l, 0, sizeof *l);
    struct manifest *m = &l->m;
    *m = (struct manifest){.splits = l->splits, .members = l->members, .segments = l->segments};
    m->schema.count = 1;
    m->info.block_records = 1 + (uint32_t)random_count(state, 20);
    m->segment_count = (uint32_t)random_count(state, MOST);
    m->split_count = 1 + (uint32_t)random_count(state, MOST - 1);
    m->member_count = 1 + (uint32_t)random_count(state, MOST - 1);
    for (uint32_t i = 0; i < m->segment_count; i++) {
        uint64_t count = 1 + random_count(state, 60);
        l->segments[i] = (struct segment){3 * i + 1, m->info.records, count, 0, 0};
        m->info.records += count;
    }
    uint64_t at = 0;
    for (uint32_t i = 0; i < m->split_count; at += l->splits[i++].count) {
        uint64_t left = m->info.records - at, count = random_count(state, 90);
        bool last = i + 1 == m->split_count;
        l->splits[i] = (struct split){.first = at, .count = last || count > left ? left : count};
    }
    at = 0;
    for (uint32_t i = 0; i < m->member_count; at += l->members[i++].count) {
        uint64_t left = m->info.records - at, count = random_count(state, 90);
        bool last = i + 1 == m->member_count;
        l->members[i] =
            (struct member){NULL, i % m->split_count, 5 * i, at, last || count > left ? left : count};
    }
}

static uint32_t naive_split(const struct layout *l, uint64_t id)
{
    for (uint32_t i = 0;; i++)
        if (id - l->splits[i].first < l->splits[i].count)
            return i;
}

static uint32_t naive_member(const struct layout *l, uint64_t position)
{
    for (uint32_t i = 0;; i++)
        if (position - l->members[i].first < l->members[i].count)
            return i;
}

/* Walks all blocks of all segments, asking for each id and each block. */
static void expect_lookups(const struct layout *l)
{
    const struct manifest *m = &l->m;
    uint64_t block = 0, id = 0, first;
    for (uint32_t s = 0; s < m->segment_count; s++)
        for (uint64_t in = 0; in < l->segments[s].count; in += m->info.block_records, block++) {
            uint64_t left = l->segments[s].count - in;
            uint32_t n = left < m->info.block_records ? (uint32_t)left : m->info.block_records, count;
            cr_assert_eq(manifest_block_ids(m, block, &first, &count), &l->segments[s]);
            cr_assert(first == id && count == n, "block %llu", (unsigned long long)block);
            for (uint32_t i = 0; i < n; i++, id++) {
                cr_assert_eq(manifest_segment_of(m, id), &l->segments[s]);
                cr_assert_eq(manifest_block_of(m, id), block);
                cr_assert_eq(manifest_split_of(m, id), naive_split(l, id));
                cr_assert_eq(manifest_member_of(m, id), naive_member(l, id));
            }
        }
    cr_assert(id == m->info.records && block == m->info.blocks);
}

Test(manifest, lookups_in_random_layouts)
{
    static struct layout l;
    uint32_t state = 20240607;
    for (int round = 0; round < 300; round++) {
        apl_error err;
        random_layout(&l, &state);
        cr_assert_eq(manifest_finish(&l.m, &err), APL_OK, "round %d: %s", round, err.message);
        cr_assert(l.m.info.splits == l.m.split_count && l.m.info.members == l.m.member_count);
        expect_lookups(&l);
    }
}

/* ------------------------------------------------------------------------------------------ consistency */

/* 10 + 0 + 20 records, segments of 5, 5 and 20, in blocks of 4. */
static void sound_layout(struct layout *l)
{
    memset(l, 0, sizeof *l);
    l->m = (struct manifest){.splits = l->splits, .members = l->members, .segments = l->segments};
    l->m.split_count = l->m.member_count = l->m.segment_count = 3;
    l->m.schema.count = 2;
    l->m.schema.fields[0].raw_bytes = 30;
    l->m.schema.fields[1].raw_bytes = 12;
    l->m.info.records = 30;
    l->m.info.block_records = 4;
    static const uint64_t splits[] = {10, 0, 20}, segments[] = {5, 5, 20};
    for (uint32_t i = 0, at = 0, sat = 0; i < 3; i++) {
        l->splits[i] = (struct split){.first = at, .count = splits[i]};
        l->members[i] = (struct member){NULL, i, i + 7, at, splits[i]};
        l->segments[i] = (struct segment){2 * i, sat, segments[i], 0, 0};
        at += (uint32_t)splits[i];
        sat += (uint32_t)segments[i];
    }
}

Test(manifest, finishing)
{
    static struct layout l;
    apl_error err;
    sound_layout(&l);
    cr_assert_eq(manifest_finish(&l.m, &err), APL_OK);
    cr_assert(l.m.info.blocks == 9 && l.m.info.raw_bytes == 42 && l.m.info.fields == 2);
    cr_assert(l.segments[0].first_block == 0 && l.segments[1].first_block == 2 &&
              l.segments[2].first_block == 4);
    cr_assert_str_eq(l.m.info.tool, "");
    cr_assert_str_eq(l.m.info.source_format, "");
}

#define EXPECT_BAD(change)                                                                  \
    do {                                                                                    \
        sound_layout(&l);                                                                   \
        change;                                                                             \
        cr_assert_eq(manifest_finish(&l.m, &err), APL_E_CORRUPT, "accepted with " #change); \
        cr_assert_eq(strncmp(err.message, "the manifest is damaged: ", 25), 0);             \
    } while (0)

Test(manifest, what_does_not_fit_together)
{
    static struct layout l;
    apl_error err;
    EXPECT_BAD(l.m.schema.count = 0);
    EXPECT_BAD(l.m.info.block_records = 0);
    EXPECT_BAD(l.m.info.block_records = APL_MAX_BLOCK + 1);
    EXPECT_BAD(l.m.info.records = 29);
    EXPECT_BAD(l.m.info.records = 31);
    EXPECT_BAD(l.m.info.records = UINT64_MAX);
    EXPECT_BAD(l.m.split_count = 2);
    EXPECT_BAD(l.m.split_count = 0);
    EXPECT_BAD(l.m.member_count = 0);
    EXPECT_BAD(l.m.segment_count = 2);
    EXPECT_BAD(l.splits[0].first = 1);
    EXPECT_BAD(l.splits[1].count = 1);
    EXPECT_BAD(l.splits[2].count = UINT64_MAX - 9);
    EXPECT_BAD(l.members[1].first = 9);
    EXPECT_BAD(l.members[2].count = UINT64_MAX);
    EXPECT_BAD(l.members[2].split = 3);
    EXPECT_BAD(l.members[2].number = l.members[1].number);
    EXPECT_BAD(l.members[0].number = 100);
    EXPECT_BAD(l.segments[1].first_id = 6);
    EXPECT_BAD(l.segments[1].number = 0);
    EXPECT_BAD(l.segments[2].count = 21);
    EXPECT_BAD(l.segments[2].count = UINT64_MAX);
    EXPECT_BAD((l.segments[0].count = 0, l.segments[1].first_id = 0));
}

Test(manifest, more_blocks_than_keys)
{
    static struct layout l;
    apl_error err;
    sound_layout(&l);
    l.m.split_count = l.m.member_count = l.m.segment_count = 1;
    uint64_t most = (uint64_t)UINT32_MAX * 4;
    for (int more = 0; more < 2; more++) {
        l.m.info.records = l.splits[0].count = l.members[0].count = l.segments[0].count =
            most + (uint64_t)more;
        cr_assert_eq(manifest_finish(&l.m, &err), more ? APL_E_CORRUPT : APL_OK);
    }
}

/* --------------------------------------------------------------------------------------- statistics, digest */

Test(manifest, statistics_come_once)
{
    struct manifest m = {0};
    apl_error err;
    const char *const names[] = {"a", "b", "c"};
    add_every_kind(&m.schema);
    cr_assert_eq(schema_set_classes(&m.schema, 1, names, NULL, 3, &err), APL_OK);
    m.splits = calloc(1, sizeof *m.splits);
    m.split_count = 1;
    for (int again = 0; again < 2; again++)
        for (unsigned f = 0; f < m.schema.count; f++) {
            cr_assert_eq(manifest_new_summary(&m.schema, &m.splits[0], f, &err), APL_OK);
            cr_assert_eq(split_summary(&m.splits[0], f).moments != NULL, f == 0);
            cr_assert_eq(split_summary(&m.splits[0], f).classes != NULL, f == 1);
        }
    for (int i = 0; i < 3; i++)
        cr_assert(split_summary(&m.splits[0], 1).classes[i] == 0 &&
                  split_summary(&m.splits[0], 0).moments[i].count == 0);
    manifest_free(&m);
    manifest_free(&m);
}

static void content_digest(const struct schema *s, uint8_t digest[32])
{
    apl_error err;
    cr_assert_eq(manifest_content_digest(s, digest, &err), APL_OK);
}

Test(manifest, content_digest)
{
    struct schema s = {0};
    uint8_t is[32], naive[32], other[32];
    struct buffer all = {0};
    add_field(&s, "image", APL_U8, APL_INPUT, SHAPE_OF(3, -1));
    add_field(&s, "name", APL_UTF8, APL_NAME, SHAPE_OF(-1));
    add_field(&s, "label", APL_U16, APL_TARGET, 0, NULL);
    for (unsigned f = 0; f < 3; f++)
        memset(s.fields[f].digest, (int)f + 1, 32);
    buffer_put(&all, "image\0\1\1\2\0\3\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377", 26);
    buffer_put(&all, s.fields[0].digest, 32);
    buffer_put(&all, "label\0\2\3\0\0", 10);
    buffer_put(&all, s.fields[2].digest, 32);
    struct sha256 *sha = sha256_new();
    sha256_add(sha, all.data, all.size);
    sha256_end(sha, naive);
    sha256_free(sha);
    content_digest(&s, is);
    cr_assert(memcmp(is, naive, 32) == 0);
    s.fields[1].digest[0] ^= 1;
    s.choices[0].id = CODEC_ZSTD;
    content_digest(&s, other);
    cr_assert(memcmp(is, other, 32) == 0, "names and codecs do not count");
    s.fields[2].digest[31] ^= 1;
    content_digest(&s, other);
    cr_assert(memcmp(is, other, 32) != 0);
    buffer_free(&all);
    schema_free(&s);
}
