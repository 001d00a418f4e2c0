/* Stores whose values break the rules, all checksums and digests being right: positions, labels. Reading and verifying tell. */
#include "lies.h"

TestSuite(store_false_values, .init = fx_set_up, .fini = fx_tear_down, .timeout = 120);

/* Keeps what is reported of the first bad block. */
static void first_message(void *user, const apl_bad_block *b)
{
    if (*(char *)user == 0)
        snprintf(user, 512, "%s", b->message);
}

/* ---------------------------------------------------------------------------------------------- the positions */

static uint64_t position_of(const struct raw_block *block, uint32_t record)
{
    return load_le(block->columns[2].values.data + (size_t)record * 8, 8);
}

static void set_position(struct raw_block *block, uint32_t record, uint64_t position)
{
    store_le(block->columns[2].values.data + (size_t)record * 8, position, 8);
}

static void a_position_twice(struct raw_block *block, unsigned number)
{
    if (number == 1)
        set_position(block, 3, position_of(block, 4));
}

/* The first record of a block has that of one in the block before. */
static void a_position_of_the_block_before(struct raw_block *block, unsigned number)
{
    static uint64_t position;
    if (number == 1)
        set_position(block, 0, position);
    position = position_of(block, 5);
}

static void a_position_just_behind(struct raw_block *block, unsigned number)
{
    if (number == 0)
        set_position(block, 2, 70);
}

static void a_position_far_away(struct raw_block *block, unsigned number)
{
    if (number == 1)
        set_position(block, 3, (uint64_t)1 << 63);
}

/* Of the 70 + 40 positions, 69 is one of train's, and 70 one of test's. */
static void positions_across_splits(struct raw_block *block, unsigned number)
{
    for (uint32_t i = 0; i < block->records; i++) {
        uint64_t position = position_of(block, i);
        if (position == 69 || position == 70)
            set_position(block, i, 139 - position);
    }
    (void)number;
}

static void positions_told(void (*values)(struct raw_block *, unsigned), const char *words, bool by_key)
{
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    struct lie lie = {.of = &placed, .shuffled = true, .values = values};
    char found[512] = "";
    apl_verify_options v = APL_VERIFY_OPTIONS_INIT;
    v.bad_block = first_message;
    v.user = found;
    apl_store *s = fx_open(write_lie(&lie));
    FAILS(APL_E_CORRUPT, apl_store_verify(s, &v, &fx_err));
    cr_assert(strstr(found, words), "\"%s\" lacks \"%s\"", found, words);
    o.name = "val";
    o.ratio = 0.5;
    o.by = APL_BY_KEY;
    if (by_key) {
        FAILS(APL_E_CORRUPT, apl_split_make(s, &o, &fx_err));
        SAYS("has a source position that its split does not have");
    }
    apl_store_close(s);
    fx_shell("rm -r '%s' '%s'", fx_path("db"), fx_path("lie"));
}

Test(store_false_values, source_positions_that_there_are_not)
{
    positions_told(a_position_twice, "as another record has", false);
    positions_told(a_position_of_the_block_before, "record 0 of the block has source position", false);
    positions_told(a_position_just_behind, "source position 70, which is not in its split", true);
    positions_told(a_position_far_away,
                   "record 3 of the block has source position 9223372036854775808, which is not in its split",
                   true);
    positions_told(positions_across_splits, "source position 70, which is not in its split", true);
}

/* ------------------------------------------------------------------------------------------------- the labels */

static void a_label_beyond_the_names(struct raw_block *block, unsigned number)
{
    if (number == 2)
        block->columns[1].values.data[5] = 200;
}

static const char beyond[] =
    "block 2 (records 32 to 47): field label: record 5 of the block has class 200, but there are 3";

static void not_read(apl_store *s, const char *const *fields, size_t field_count)
{
    apl_reader *r = NULL;
    apl_batch *batch = NULL;
    apl_status status = APL_OK;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.fields = fields;
    o.field_count = field_count;
    o.threads = 1;
    o.batch_size = 10;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    while (status == APL_OK) {
        status = apl_reader_next(r, &batch, &fx_err);
        if (status == APL_OK)
            apl_batch_release(batch);
    }
    cr_assert_eq(status, fields ? APL_END : APL_E_CORRUPT, "%d %s", status, fx_err.message);
    if (!fields)
        SAYS(beyond);
    apl_reader_close(r);
}

Test(store_false_values, labels_beyond_the_class_names)
{
    static const struct lie lie = {.values = a_label_beyond_the_names, .not_counted = true};
    static const char *const image[] = {"image"};
    const uint64_t ids[] = {3, 33, 90};
    char found[512] = "";
    apl_verify_options v = APL_VERIFY_OPTIONS_INIT;
    apl_get_options g = APL_GET_OPTIONS_INIT;
    apl_batch *batch = NULL;
    apl_store *s = fx_open(write_lie(&lie));
    v.bad_block = first_message;
    v.user = found;
    FAILS(APL_E_CORRUPT, apl_store_verify(s, &v, &fx_err));
    cr_assert(strstr(found, "has class 200, but there are 3"), "%s", found);
    FAILS(APL_E_CORRUPT, apl_store_get(s, 37, &batch, &fx_err));
    SAYS(beyond);
    FAILS(APL_E_CORRUPT, apl_store_get_batch(s, ids, COUNT(ids), NULL, &batch, &fx_err));
    SAYS(beyond);
    g.fields = image;
    g.field_count = 1;
    OK(apl_store_get_batch(s, ids, COUNT(ids), &g, &batch, &fx_err));
    apl_batch_release(batch);
    not_read(s, NULL, 0);
    not_read(s, image, 1);
    apl_store_close(s);
}
