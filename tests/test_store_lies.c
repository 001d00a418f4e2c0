/* Stores written anew with something in them that is not so, all checksums being right: reading and verifying tell. */
#include "bytes.h"
#include "env_file.h"
#include "hash.h"
#include "store.h"
#include "store_fixture.h"

#include <sys/resource.h>

TestSuite(store_lies, .init = fx_set_up, .fini = fx_tear_down, .timeout = 120);

static const struct fx_member members[] = {{"a", "train", 0, 70}, {"b", "test", 1, 40}};
static const struct fx_recipe recipe = {fx_fields, COUNT(fx_fields), members, COUNT(members)};

/* What is told instead. */
struct lie {
    const struct fx_recipe *of; /* NULL: the one above */
    void (*manifest)(struct manifest *m);
    void (*block)(uint8_t *bytes, unsigned number);
    const struct entry *(*instead)(const apl_store *s, size_t entry);
    const struct key *extra; /* of an entry more */
};

/* Makes a block's header checksum right again. */
static void seal(uint8_t *block)
{
    store_le(block + 8, hash_xxh3_64(block + 16, (size_t)load_le(block + 4, 4) - 16), 8);
}

static void put_blocks(struct env *env, apl_store *s, const struct lie *lie)
{
    apl_error err;
    for (size_t i = 1; i < s->pages.count; i++) {
        const struct entry *e = &s->pages.entries[i], *from = lie->instead ? lie->instead(s, i) : e;
        uint8_t *bytes = malloc(from->size);
        memcpy(bytes, s->pages.map + from->offset, from->size);
        if (lie->block) {
            lie->block(bytes, (unsigned)i - 1);
            seal(bytes);
        }
        cr_assert_eq(env_put(env, e->key, bytes, from->size, &err), APL_OK, "%s", err.message);
        free(bytes);
    }
}

/* Makes a store, and writes its entries to another, which is `lie`. */
static const char *write_lie(const struct lie *lie)
{
    struct manifest m;
    struct buffer coded = {0};
    apl_error err;
    apl_writer_options o = fx_options(1, 16);
    fx_make(fx_path("db"), lie->of ? lie->of : &recipe, &o);
    apl_store *s = fx_open(fx_path("db"));
    const struct entry *head = s->pages.entries;
    cr_assert_eq(manifest_decode(s->pages.map + head->offset, head->size, &m, &err), APL_OK);
    if (lie->manifest)
        lie->manifest(&m);
    cr_assert_eq(manifest_encode(&m, &coded, &err), APL_OK);
    cr_assert_eq(mkdir(fx_path("lie"), 0755), 0);
    struct env *env = new_env(fx_path("lie/data.mdb"));
    cr_assert_eq(env_put(env, head->key, coded.data, coded.size, &err), APL_OK);
    put_blocks(env, s, lie);
    if (lie->extra)
        put_value(env, *lie->extra, 10);
    finish_env(env);
    buffer_free(&coded);
    manifest_free(&m);
    apl_store_close(s);
    return fx_path("lie");
}

/* The store can be opened, and verify tells. */
static void refused(const struct lie *lie, const char *words)
{
    apl_store *s = fx_open(write_lie(lie));
    FAILS(APL_E_CORRUPT, apl_store_verify(s, NULL, &fx_err));
    SAYS(words);
    apl_store_close(s);
    fx_shell("rm -r '%s' '%s'", fx_path("db"), fx_path("lie"));
}

Test(store_lies, nothing_but_the_truth)
{
    static const struct key later = {KEY_BLOCK + 1, 0, 0}; /* what later versions may add */
    static const struct lie none = {.extra = &later};
    apl_store *s = fx_open(write_lie(&none));
    OK(apl_store_verify(s, NULL, &fx_err));
    fx_check(s, &recipe);
    apl_store_close(s);
}

/* ---------------------------------------------------------------------------------------------- the manifest */

static void another_digest(struct manifest *m)
{
    m->schema.fields[2].digest[31] ^= 1;
}

static void more_raw_bytes(struct manifest *m)
{
    m->schema.fields[2].raw_bytes++;
}

static void more_stored_bytes(struct manifest *m)
{
    m->schema.fields[0].stored_bytes++;
}

static void another_class_count(struct manifest *m)
{
    uint64_t *counts = split_summary(&m->splits[1], 1).classes;
    counts[counts[0] > 0 ? 0 : 1]--;
    counts[2]++;
}

static void other_moments(struct manifest *m)
{
    split_summary(&m->splits[0], 0).moments[2].squares++;
}

static void another_content(struct manifest *m)
{
    m->info.content_digest[0] ^= 1;
}

static void fewer_classes(struct manifest *m)
{
    apl_field *label = &m->schema.fields[1];
    while (label->class_count > 2)
        free((void *)label->classes[--label->class_count]);
}

Test(store_lies, manifests)
{
    refused(&(struct lie){.manifest = another_digest}, "field name: the manifest's digest differs");
    refused(&(struct lie){.manifest = more_raw_bytes}, "field name: the manifest's sizes differs");
    refused(&(struct lie){.manifest = more_stored_bytes}, "field image: the manifest's sizes differs");
    refused(&(struct lie){.manifest = another_class_count},
            "field label: the manifest's class counts differs");
    refused(&(struct lie){.manifest = other_moments}, "field image: the manifest's moments differs");
    refused(&(struct lie){.manifest = another_content}, "the content digest is not that of the fields");
    refused(&(struct lie){.manifest = fewer_classes}, "blocks are damaged");
}

Test(store_lies, records_of_no_class)
{
    uint64_t counts[COUNT(fx_classes)];
    apl_store *s = fx_open(write_lie(&(struct lie){.manifest = fewer_classes}));
    FAILS(APL_E_CORRUPT, apl_split_class_counts(s, "train", 1, counts, &fx_err));
    SAYS("has no class of field label");
    apl_store_close(s);
}

#define MANY_SPLITS  ((uint32_t)1 << 17)
#define MANY_CLASSES 256u

/* Splits without records, and classes that no record has: they take a few bytes each, not one count for each class in each
 * split. */
static void many_splits_and_classes(struct manifest *m)
{
    apl_error err;
    const char *names[MANY_CLASSES];
    char number[16];
    for (uint32_t s = 0; s < m->split_count; s++)
        split_free_summaries(&m->splits[s]);
    for (unsigned c = 0; c < MANY_CLASSES; c++)
        names[c] = "c";
    cr_assert_eq(schema_set_classes(&m->schema, 1, names, NULL, MANY_CLASSES, &err), APL_OK);
    m->splits = realloc(m->splits, MANY_SPLITS * sizeof *m->splits);
    for (uint32_t s = m->split_count; s < MANY_SPLITS; s++) {
        snprintf(number, sizeof number, "s%u", s);
        m->splits[s] = (struct split){.name = strdup(number), .first = m->info.records};
    }
    m->split_count = MANY_SPLITS;
}

/* With a count for each, it would take 256 MiB, and as much again for each thread. */
Test(store_lies, counts_that_are_not_stored_take_no_memory)
{
    static const struct lie lie = {.manifest = many_splits_and_classes};
    struct rusage before, after;
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    o.threads = 4;
    apl_store *s = fx_open(write_lie(&lie));
    getrusage(RUSAGE_SELF, &before);
    OK(apl_store_verify(s, &o, &fx_err));
    getrusage(RUSAGE_SELF, &after);
    cr_expect_leq(after.ru_maxrss - before.ru_maxrss, 64 << 10, "%ld KiB",
                  after.ru_maxrss - before.ru_maxrss);
    fx_check(s, &recipe);
    apl_store_close(s);
}

/* ------------------------------------------------------------------------------------------------- the blocks */

static const struct entry *the_other_way_round(const apl_store *s, size_t entry)
{
    return &s->pages.entries[entry <= 2 ? 3 - entry : entry];
}

static const struct entry *of_the_other_segment(const apl_store *s, size_t entry)
{
    return &s->pages.entries[entry == 1 ? 6 : entry];
}

/* The last block of a segment has fewer records. */
static const struct entry *a_shorter_one(const apl_store *s, size_t entry)
{
    return &s->pages.entries[entry == 4 ? 5 : entry];
}

static void first_in_place(uint8_t *bytes, unsigned number)
{
    if (number == 3)
        store_le(bytes + 24, 48, 8);
}

static void another_hash(uint8_t *bytes, unsigned number)
{
    if (number == 2)
        bytes[40 + 40 * COUNT(fx_fields) + 16 * 5 + 3] ^= 1; /* of record 5 */
}

static void the_other_half_of_a_hash(uint8_t *bytes, unsigned number)
{
    if (number == 2)
        bytes[40 + 40 * COUNT(fx_fields) + 16 * 5 + 9] ^= 1;
}

static void told(void *user, const apl_bad_block *b)
{
    *(char *)user = 1;
    cr_assert(strstr(b->message, "belongs elsewhere") || strstr(b->message, "the hash of record 5"), "%s",
              b->message);
}

/* Verify tells of a block; a record of it cannot be had, unless only its hash is another. */
static void blocks_told(const struct lie *lie, uint64_t record, apl_status status)
{
    char met = 0;
    apl_batch *batch = NULL;
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    o.bad_block = told;
    o.user = &met;
    apl_store *s = fx_open(write_lie(lie));
    FAILS(APL_E_CORRUPT, apl_store_verify(s, &o, &fx_err));
    cr_assert(met);
    cr_assert_eq(apl_store_get(s, record, &batch, &fx_err), status);
    apl_batch_release(batch);
    apl_store_close(s);
    fx_shell("rm -r '%s' '%s'", fx_path("db"), fx_path("lie"));
}

Test(store_lies, blocks)
{
    blocks_told(&(struct lie){.instead = the_other_way_round}, 0, APL_E_CORRUPT);
    blocks_told(&(struct lie){.instead = of_the_other_segment}, 0, APL_E_CORRUPT);
    blocks_told(&(struct lie){.instead = a_shorter_one, .block = first_in_place}, 48, APL_E_CORRUPT);
    blocks_told(&(struct lie){.block = another_hash}, 37, APL_OK);
    blocks_told(&(struct lie){.block = the_other_half_of_a_hash}, 37, APL_OK);
}

/* ------------------------------------------------------------------------------------------------- the index */

Test(store_lies, blocks_that_the_manifest_does_not_know)
{
    static const struct key keys[] = {{KEY_BLOCK, 0, 100}, {KEY_BLOCK, 7, 0}};
    for (size_t i = 0; i < COUNT(keys); i++) {
        apl_store *s = NULL;
        struct lie lie = {.extra = &keys[i]};
        const char *path = write_lie(&lie);
        FAILS(APL_E_CORRUPT, apl_store_open(path, NULL, &s, &fx_err));
        fx_shell("rm -r '%s' '%s'", fx_path("db"), fx_path("lie"));
    }
}

Test(store_lies, manifests_that_are_not_first)
{
    apl_store *s = NULL;
    static const struct key before = {0, 5, 5};
    struct lie lie = {.extra = &before};
    const char *path = write_lie(&lie);
    FAILS(APL_E_CORRUPT, apl_store_open(path, NULL, &s, &fx_err));
    SAYS("it holds no manifest");
}

/* ---------------------------------------------------------------------------------------------- the positions */

static const apl_field placed_fields[] = {
    {.name = "image", .dtype = APL_U8, .mark = APL_INPUT, .ndim = 3, .shape = {3, 6, 5}},
    {.name = "place", .dtype = APL_U64, .mark = APL_TARGET},
};
static const struct fx_recipe placed = {placed_fields, COUNT(placed_fields), members, COUNT(members)};

/* Drawn numbers, far above the number of records, are said to be source positions. */
static void drawn_positions(struct manifest *m)
{
    m->schema.fields[1].mark = APL_POSITION;
}

Test(store_lies, source_positions_that_there_are_not)
{
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    apl_store *s = fx_open(write_lie(&(struct lie){.of = &placed, .manifest = drawn_positions}));
    o.name = "val";
    o.ratio = 0.5;
    o.by = APL_BY_KEY;
    FAILS(APL_E_CORRUPT, apl_split_make(s, &o, &fx_err));
    SAYS("record 0 has a source position that there is not");
    apl_store_close(s);
}
