/* Stores rewritten with something in them that is not so, all checksums being right: reading and verifying tell. */
#include "lies.h"

#include <sys/resource.h>

TestSuite(store_lies, .init = fx_set_up, .fini = fx_tear_down, .timeout = 120);

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

/* It is refused when it is opened. */
static void not_opened(const struct lie *lie, const char *words)
{
    apl_store *s = NULL;
    const char *path = write_lie(lie);
    FAILS(APL_E_CORRUPT, apl_store_open(path, NULL, &s, &fx_err));
    SAYS(words);
    fx_shell("rm -r '%s' '%s'", fx_path("db"), fx_path("lie"));
}

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
    SAYS("block 0 (records 0 to 15): field label: record 2 of the block has class 2, but there are 2");
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
    return &s->lmdb.entries[entry <= 2 ? 3 - entry : entry];
}

static const struct entry *of_the_other_segment(const apl_store *s, size_t entry)
{
    return &s->lmdb.entries[entry == 1 ? 6 : entry];
}

/* The last block of a segment has fewer records. */
static const struct entry *a_shorter_one(const apl_store *s, size_t entry)
{
    return &s->lmdb.entries[entry == 4 ? 5 : entry];
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

/* Verify reports the block; a record of it cannot be read, unless only its hash is wrong. */
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

/* ------------------------------------------------------------------------------------------------- the rules */

/* Train has 3 records less than its member, and test as many more. */
static void split_within_a_block(struct manifest *m)
{
    m->splits[0].count -= 3;
    m->splits[1].first -= 3;
    m->splits[1].count += 3;
}

static void member_within_a_block(struct manifest *m)
{
    split_within_a_block(m);
    m->members[0].count -= 3;
    m->members[1].first -= 3;
    m->members[1].count += 3;
}

static void segment_of_two_splits(struct manifest *m)
{
    m->segments[0].count = m->info.records;
    m->segment_count = 1;
}

static void segment_of_another_number(struct manifest *m)
{
    m->segments[1].number = 5;
}

static void member_of_another_split(struct manifest *m)
{
    m->members[1].split = 0;
}

static void two_splits_of_one_name(struct manifest *m)
{
    free(m->splits[1].name);
    m->splits[1].name = strdup(m->splits[0].name);
}

static void positions_not_marked(struct manifest *m)
{
    m->schema.fields[m->schema.count - 1].role = APL_NAME;
}

static void positions_twice(struct manifest *m)
{
    m->schema.fields[1].role = APL_POSITION;
}

static void not_said_to_be_shuffled(struct manifest *m)
{
    m->info.shuffled = 0;
}

Test(store_lies, rules_that_a_manifest_breaks)
{
    not_opened(&(struct lie){.manifest = split_within_a_block},
               "member a has records outside of its split train");
    not_opened(&(struct lie){.manifest = split_within_a_block, .shuffled = true},
               "member a has records outside of its split train");
    not_opened(&(struct lie){.manifest = member_within_a_block}, "the records of a are not one segment");
    not_opened(&(struct lie){.manifest = member_within_a_block, .shuffled = true},
               "the records of train are not one segment");
    not_opened(&(struct lie){.manifest = segment_of_two_splits}, "the records of a are not one segment");
    not_opened(&(struct lie){.manifest = segment_of_another_number}, "the records of b are not one segment");
    not_opened(&(struct lie){.manifest = member_of_another_split},
               "member b has records outside of its split train");
    not_opened(&(struct lie){.manifest = two_splits_of_one_name}, "two splits are called train");
    not_opened(&(struct lie){.manifest = positions_not_marked, .shuffled = true},
               "the store is shuffled, but has no field with source positions");
    not_opened(&(struct lie){.of = &placed, .manifest = positions_twice}, "field place has source positions");
    not_opened(&(struct lie){.of = &placed, .manifest = positions_twice, .shuffled = true},
               "field place has source positions");
    not_opened(&(struct lie){.manifest = not_said_to_be_shuffled, .shuffled = true},
               "field source_position has source positions");
}

/* The header of a block of n records takes more than 16 n bytes. */
Test(store_lies, more_records_than_there_is_room_for)
{
    apl_store *s = NULL;
    apl_error err;
    struct manifest m;
    struct buffer coded = {0};
    fx_make(fx_path("db"), &recipe,
            &(apl_writer_options){.size = sizeof(apl_writer_options), .block_records = 16});
    s = fx_open(fx_path("db"));
    const struct entry *head = s->lmdb.entries;
    cr_assert_eq(manifest_decode(s->lmdb.map + head->offset, head->size, &m, &err), APL_OK);
    apl_store_close(s);
    uint64_t records = (uint64_t)2000 * APL_MAX_BLOCK;
    m.info.records = m.splits[1].first = m.members[1].first = records;
    m.info.block_records = APL_MAX_BLOCK;
    m.splits[0].count = m.members[0].count = m.segments[0].count = records;
    m.splits[1].count = m.members[1].count = 0;
    m.segment_count = 1;
    m.digests.size = 0; /* which need not be there */
    cr_assert_eq(mkdir(fx_path("lie"), 0755), 0);
    struct lmdb_writer *writer = new_lmdb(fx_path("lie/data.mdb"));
    for (uint32_t b = 0; b < 2000; b++)
        put_value(writer, (struct key){KEY_BLOCK, 0, b}, 10);
    OK(manifest_encode(&m, &coded, &fx_err));
    OK(lmdb_writer_put(writer, (struct key){KEY_MANIFEST, 0, 0}, coded.data, coded.size, &fx_err));
    finish_lmdb(writer);
    FAILS(APL_E_CORRUPT, apl_store_open(fx_path("lie"), NULL, &s, &fx_err));
    SAYS("block 0 of segment 0 has 10 bytes, too few for 65536 records");
    buffer_free(&coded);
    manifest_free(&m);
}
