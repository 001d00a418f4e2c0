/*
 * Files that were written once and must be readable for ever, made by tests/format/format_stores.c: tests/golden/indexed, of format
 * 1.1, whose JPEG files are indexed; and the set tests/golden/set, whose shards, of format 1.2, hold images of any size as well.
 * Those in tests/golden/images, of format 1.3, are the same stores with sums over the images, those in tests/golden/progressive, of
 * format 1.4, with progressive JPEG files indexed, too, and those in tests/golden/products, of format 1.5, with products of colours over
 * pixels: as they are written now, but for digests of blocks.
 */
#include "older.h"

TestSuite(golden_images, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

#define SET             "tests/golden/set"
#define IMAGES          "tests/golden/images"
#define PROGRESSIVE     "tests/golden/progressive"
#define NOW             "tests/golden/products"
#define INDEXED_CONTENT "b734c1c353df5d3e7d4aa8168fc7c373326f2425b01d180b78e518cb8f41f89b"
#define FIRST_CONTENT   "255bbb90c7d016445c35df5cb5774f0912678f605d4816fb4791a621ffa450ad"
#define SECOND_CONTENT  "648213a980e361fadba62249c850d688d1c713c3fd9a0901bab592577384b1aa"

static const struct {
    const char *path;
    unsigned minor; /* of the format's version */
    uint64_t records, indexed;
    const char *content;  /* digest, in hexadecimal */
    uint64_t progressive; /* that are indexed if its values are written now */
    const char *now;      /* what is written of its values now; NULL: of a set */
} goldens[] = {
    {"tests/golden/indexed", 1, 6, 3, INDEXED_CONTENT, 1, NOW "/indexed"},
    {SET "/first", 2, 9, 5, FIRST_CONTENT, 1, NOW "/first"},
    {SET "/deep/second", 2, 14, 6, SECOND_CONTENT, 2, NOW "/second"},
    {IMAGES "/indexed", 3, 6, 3, INDEXED_CONTENT, 1, NOW "/indexed"},
    {IMAGES "/first", 3, 9, 5, FIRST_CONTENT, 1, NOW "/first"},
    {IMAGES "/second", 3, 14, 6, SECOND_CONTENT, 2, NOW "/second"},
    {PROGRESSIVE "/indexed", 4, 6, 4, INDEXED_CONTENT, 0, NOW "/indexed"},
    {PROGRESSIVE "/first", 4, 9, 6, FIRST_CONTENT, 0, NOW "/first"},
    {PROGRESSIVE "/second", 4, 14, 8, SECOND_CONTENT, 0, NOW "/second"},
    {NOW "/indexed", 5, 6, 4, INDEXED_CONTENT, 0, NOW "/indexed"},
    {NOW "/first", 5, 9, 6, FIRST_CONTENT, 0, NOW "/first"},
    {NOW "/second", 5, 14, 8, SECOND_CONTENT, 0, NOW "/second"},
    {SET, 0, 23, 11, "bf95b93c68874797a124a1c5a0b2e73804a5e37421d6fa29ca3c2a465c9ee908", 0, NULL},
};
#define STORES (COUNT(goldens) - 1) /* the last is the set */

static bool all_there(void)
{
    if (fx_exists(SET "/set.apl") && fx_exists(NOW "/second/data.mdb"))
        return true;
    cr_log_warn("skipped: " SET " is not there\n");
    return false;
}

static void check_golden(size_t i, unsigned minor, uint64_t more, apl_store *s)
{
    const apl_info *info = apl_store_info(s);
    uint8_t content[32];
    for (int k = 0; k < 32; k++)
        cr_assert_eq(sscanf(goldens[i].content + 2 * k, "%2hhx", &content[k]), 1);
    cr_assert(info->format_major == 1 && info->format_minor == minor, "%s", goldens[i].path);
    cr_assert_eq(info->records, goldens[i].records);
    cr_assert_eq(apl_store_field(s, 0)->indexed, goldens[i].indexed + more);
    cr_assert_arr_eq(info->content_digest, content, 32, "%s", goldens[i].path);
    OK(apl_store_verify(s, NULL, &fx_err));
}

Test(golden_images, are_read)
{
    for (size_t i = 0; i < COUNT(goldens) && all_there(); i++) {
        apl_store *s = fx_open(goldens[i].path);
        check_golden(i, goldens[i].minor, 0, s);
        if (goldens[i].minor == 2)
            cr_assert_str_eq(apl_store_field(s, 1)->codec, "varying");
        apl_store_close(s);
    }
}

/* The values of record `id`, which stay the batch's. */
static void take_record(const apl_batch *all, unsigned fields, uint64_t id, apl_value *values)
{
    for (unsigned f = 0; f < fields; f++) {
        const apl_column *c = apl_batch_column(all, f);
        size_t row = c->ndim ? 0 : apl_dtype_size(c->dtype); /* fixed shapes are scalars here */
        values[f] = c->offsets
                        ? (apl_value){(const uint8_t *)c->data + c->offsets[id], c->shapes + id * c->ndim}
                        : (apl_value){(const uint8_t *)c->data + id * row, NULL};
    }
}

static void write_again(apl_store *s, const char *path)
{
    const apl_info *info = apl_store_info(s);
    apl_writer_options o = fx_options(1, info->block_records);
    struct fx_recipe recipe = {.field_count = info->fields,
                               .fields = calloc(info->fields, sizeof(apl_field))};
    apl_batch *all = fx_get_all(s);
    apl_value values[APL_MAX_FIELDS];
    apl_writer *w = NULL;
    o.tool = info->tool;
    for (unsigned f = 0; f < info->fields; f++)
        ((apl_field *)recipe.fields)[f] = *apl_store_field(s, f);
    OK(apl_writer_open(path, &o, &w, &fx_err));
    fx_add_fields(w, &recipe);
    OK(apl_writer_set_indexed(w, apl_store_field(s, 0)->name, &fx_err));
    for (unsigned m = 0; m < info->members; m++) {
        const apl_member *member = apl_store_member(s, m);
        OK(apl_writer_begin_member(w, member->name, member->split, member->number, &fx_err));
        for (uint64_t id = member->first; id < member->first + member->count; id++) {
            take_record(all, info->fields, id, values);
            OK(apl_writer_append(w, values, &fx_err));
        }
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    apl_batch_release(all);
    free((apl_field *)recipe.fields);
}

/* Of the values that they hold; with the version of zstd that they were made with, byte by byte, but for digests of blocks. */
Test(golden_images, are_written_again)
{
    for (size_t i = 0; i < STORES && all_there(); i++) {
        char name[8];
        snprintf(name, sizeof name, "%zu", i);
        const char *again = fx_path(name);
        apl_store *s = fx_open(goldens[i].path);
        write_again(s, again);
        apl_store_close(s);
        s = fx_open(again);
        check_golden(i, 6, goldens[i].progressive, s);
        cr_assert_eq(older_minor(s), 5);
        apl_store_close(s);
        if (!older_is(again, goldens[i].now))
            cr_log_warn("skipped: %s is not the same to the byte (another zstd?)\n", goldens[i].now);
    }
}

/* The same shards have the same list, whatever the versions of libraries. */
Test(golden_images, the_set_is_joined_again)
{
    if (!all_there())
        return;
    fx_shell("cp -r %s '%s/set'", SET, fx_place);
    OK(apl_set_join(fx_path("set"), (const char *const[2]){fx_path("set/first"), fx_path("set/deep/second")},
                    2, &(apl_set_options){.size = sizeof(apl_set_options), .replace = 1}, &fx_err));
    cr_assert(fx_same(SET "/set.apl", fx_path("set/set.apl")));
}
