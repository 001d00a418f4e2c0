/* Stores with an indexed image that says something else than the file which it restores, all checksums being right: verifying and
 * training name store, record and cause. And stores that lack the sums over images that they must have. */
#include "jpeg_writer.h"
#include "jpegs.h"
#include "kept.h"
#include "lies.h"
#include "plain_form.h"

#define RECORDS 9u /* four to a block; the last three are in a split of their own */
#define LIAR    5u
#define SIDE    24u
#define CAUSE   "indexed JPEG: its size, sampling, colours or tables of quantisation are not those of the file"

TestSuite(indexed_twice, .init = fx_set_up, .fini = fx_tear_down, .timeout = 120);

static void make_store(bool progressive)
{
    apl_writer_options o = fx_options(1, 4);
    apl_writer *w = writer_of_files("db", true, &o);
    for (unsigned i = 0; i < RECORDS; i++) {
        struct jpeg_case k = {.width = i == LIAR ? 16 : 40 + i,
                              .height = i == LIAR ? 16 : 30,
                              .colour = JCS_YCbCr,
                              .across = 2,
                              .down = 1,
                              .progressive = progressive};
        struct jpeg_bytes file = jpeg_draw(&k);
        if (i == RECORDS - 3)
            OK(apl_writer_begin_member(w, "n", "test", 1, &fx_err));
        append_bytes(w, file.data, file.size);
        free(file.data);
    }
    apl_store_close(finished(w, "db"));
}

/* ------------------------------------------------------------------------------------------------ values */

static void (*tell)(struct plain_form *p);
static uint64_t stored_more; /* bytes, by what is told */

static struct buffer told_value(const uint8_t *value, size_t size)
{
    struct transcoder t;
    struct plain_form p;
    OK(transcoder_init(&t, &fx_err));
    cr_assert(plain_take(&t, value, size, &p));
    tell(&p);
    struct buffer other = plain_put(&t, &p);
    cr_assert_not(other.failed);
    plain_free(&p);
    transcoder_free(&t);
    return other;
}

/* Replaces a value of the second block, and makes what is said of it right. */
static void replace_value(struct buffer *block, unsigned number)
{
    if (number != LIAR / 4)
        return;
    size_t n = (size_t)load_le(block->data + 16, 4), at = (size_t)load_le(block->data + 4, 4), index = 17 * n;
    uint8_t *lengths = block->data + at, *entry = block->data + 40;
    size_t begin = at + index, old = (size_t)load_le(lengths + 4 * (LIAR % 4), 4);
    for (unsigned i = 0; i < LIAR % 4; i++)
        begin += (size_t)load_le(lengths + 4 * i, 4);
    struct buffer value = told_value(block->data + begin, old), out = {0};
    stored_more = value.size - old;
    store_le(lengths + 4 * (LIAR % 4), value.size, 4);
    store_le(lengths + 8 * n + 8 * (LIAR % 4), hash_xxh3_64(value.data, value.size), 8);
    store_le(entry + 16, load_le(entry + 16, 8) + stored_more, 8);
    store_le(entry + 32, hash_xxh3_64(lengths, index), 8);
    buffer_put(&out, block->data, begin);
    buffer_put(&out, value.data, value.size);
    buffer_put(&out, block->data + begin + old, block->size - begin - old);
    buffer_free(&value);
    buffer_free(block);
    *block = out;
}

static void count_stored(struct manifest *m)
{
    m->schema.fields[0].stored_bytes += stored_more;
}

static void is_named(void *user, const apl_bad_block *block)
{
    ++*(unsigned *)user;
    cr_assert(block->bad_count == 1 && block->bad[0] == LIAR);
    cr_assert(strstr(block->message, "field image, record 1 of the block: " CAUSE), "%s", block->message);
}

static void verify_names_it(apl_store *s)
{
    unsigned blocks = 0;
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    o.bad_block = is_named;
    o.user = &blocks;
    FAILS(APL_E_CORRUPT, apl_store_verify(s, &o, &fx_err));
    SAYS(fx_path("lie: 1 of 3 blocks is damaged"));
    cr_assert_eq(blocks, 1);
}

static void training_names_it(apl_store *s)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader *r;
    apl_batch *b;
    apl_status status;
    t.sizing = APL_SIZING_RESIZE;
    t.resize_height = t.resize_width = SIDE;
    o.batch_size = 2;
    o.transforms = &t;
    o.transform_count = 1;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    while ((status = apl_reader_next(r, &b, &fx_err)) == APL_OK)
        apl_batch_release(b);
    cr_assert_eq(status, APL_E_CORRUPT);
    SAYS(fx_path("lie: record 5, field image: " CAUSE));
    cr_assert(fx_err.first_record == LIAR && fx_err.records == 1);
    apl_reader_close(r);
}

static void other_image_is_named(void (*told)(struct plain_form *p), bool progressive)
{
    static const struct lie lie = {.whole = replace_value, .manifest = count_stored};
    apl_batch *b;
    tell = told;
    make_store(progressive);
    apl_store *s = fx_open(rewrite_lie(&lie));
    verify_names_it(s);
    training_names_it(s);
    FAILS(APL_E_CORRUPT, apl_store_get(s, LIAR, &b, &fx_err));
    apl_store_close(s);
    fx_shell("rm -r '%s' '%s'", fx_path("db"), fx_path("lie"));
}

Test(indexed_twice, another_image_than_that_of_the_file_is_named)
{
    void (*const lies[])(struct plain_form * p) = {
        plain_other_entry,   plain_other_last_entry, plain_other_tables, plain_one_table,
        plain_other_colours, plain_other_sampling,   plain_less_height};
    for (unsigned i = 0; i < COUNT(lies); i++)
        for (int progressive = 0; progressive < 2; progressive++)
            other_image_is_named(lies[i], progressive);
}

static void nothing_else(struct plain_form *p)
{
    (void)p;
}

/* So what is refused above is refused for what it says. */
Test(indexed_twice, a_value_put_together_again_is_the_same)
{
    static const struct lie lie = {.whole = replace_value, .manifest = count_stored};
    tell = nothing_else;
    make_store(false);
    apl_store *s = fx_open(rewrite_lie(&lie));
    cr_assert_eq(stored_more, 0);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

/* ------------------------------------------------------------------------------------------- sums over images */

static void no_sums(struct manifest *m)
{
    *split_summary(&m->splits[1], 0).colours = (struct colour_sums){0};
}

static void no_products(struct manifest *m)
{
    struct colour_sums *sums = split_summary(&m->splits[1], 0).colours;
    sums->with_products = 0;
    memset(sums->pixel_products, 0, sizeof sums->pixel_products);
}

static void other_sums(struct manifest *m)
{
    split_summary(&m->splits[1], 0).colours->sum[2]++;
}

/* One of two splits lacks them, so that the store is one of 1.5. */
Test(indexed_twice, sums_over_images_must_be_there)
{
    static const struct lie lies[] = {
        {.manifest = no_sums}, {.manifest = no_products}, {.manifest = other_sums}};
    make_store(false);
    for (unsigned i = 0; i < COUNT(lies); i++) {
        apl_store *s = fx_open(rewrite_lie(&lies[i]));
        cr_assert_eq(apl_store_info(s)->format_minor, FORMAT_MINOR_PRODUCTS);
        FAILS(APL_E_CORRUPT, apl_store_verify(s, NULL, &fx_err));
        SAYS("field image: the manifest's sums over images differs from what the blocks hold");
        apl_store_close(s);
        fx_shell("rm -r '%s%s'", fx_path("lie"), "");
    }
}

static void no_sums_at_all(struct manifest *m)
{
    no_sums(m);
    *split_summary(&m->splits[0], 0).colours = (struct colour_sums){0};
}

/* Versions before 1.3 had none. */
Test(indexed_twice, a_store_older_than_the_sums_may_lack_them)
{
    static const struct lie lie = {.manifest = no_sums_at_all};
    make_store(false);
    apl_store *s = fx_open(rewrite_lie(&lie));
    cr_assert_eq(apl_store_info(s)->format_minor, 1);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}
