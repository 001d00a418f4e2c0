/*
 * Stores that were written once and must be readable for ever: of format 1.0 tests/golden/plain and shuffled, made by
 * make_golden() below from the recipe fx_small, and tests/golden/pictures, made by make_pictures(), whose codec is that for
 * pictures; of format 1.1 tests/golden/kept and kept-shuffled, from the recipe fx_kept.
 */
#include "hash.h"
#include "older.h"

TestSuite(golden, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

static const struct {
    const char *path;
    const struct fx_recipe *recipe;
    int shuffle;
    unsigned minor;      /* of the format's version */
    const char *content; /* digest, in hexadecimal */
} goldens[] = {
    {"tests/golden/plain", &fx_small, 0, 0,
     "becb0bf5aa3fb114e79d9f96694dfc14b2be2f5798f977f32f47320ff6485fec"},
    {"tests/golden/shuffled", &fx_small, 1, 0,
     "7cf79e31b62994bf7360b25df73182127944dcd07659400db243a86512de8ea1"},
    {"tests/golden/kept", &fx_kept, 0, 1, "df53b379311a5793a5910e953eb8d61631f72008fc4b725c68d4896b0e3b0a88"},
    {"tests/golden/kept-shuffled", &fx_kept, 1, 1,
     "1c0bae2b014e6b012978dbeda5c21148a0e97e441f0889d50df349b3cbb55161"},
};

static void make_golden(const char *path, const struct fx_recipe *recipe, int shuffle)
{
    apl_writer_options o = fx_options(1, 32);
    o.tool = "golden";
    o.shuffle = shuffle;
    o.shuffle_seed = 42;
    fx_make(path, recipe, &o);
}

static const char *hexadecimal(const uint8_t *digest)
{
    static char text[65];
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

/* The tests are run from the top of the tree; a copy elsewhere has no golden stores beside it. */
static bool is_there(const char *path)
{
    char file[256];
    snprintf(file, sizeof file, "%s/data.mdb", path);
    if (fx_exists(file))
        return true;
    cr_log_warn("skipped: %s is not there\n", file);
    return false;
}

Test(golden, are_read)
{
    for (size_t i = 0; i < COUNT(goldens); i++) {
        if (!is_there(goldens[i].path))
            continue;
        apl_store *s = fx_open(goldens[i].path);
        const apl_info *info = apl_store_info(s);
        cr_assert(info->format_major == 1 && info->format_minor == goldens[i].minor);
        cr_assert_eq(info->shuffled, goldens[i].shuffle);
        cr_assert_str_eq(info->tool, "golden");
        cr_assert_str_eq(hexadecimal(info->content_digest), goldens[i].content);
        OK(apl_store_verify(s, NULL, &fx_err));
        fx_check(s, goldens[i].recipe);
        apl_store_close(s);
    }
}

/* But for digests of blocks, which are of format 1.6; with the version of zstd that the golden stores were made with, byte by byte. */
Test(golden, are_written_again)
{
    for (size_t i = 0; i < COUNT(goldens); i++) {
        if (!is_there(goldens[i].path))
            continue;
        const char *again = fx_path(strrchr(goldens[i].path, '/') + 1);
        make_golden(again, goldens[i].recipe, goldens[i].shuffle);
        apl_store *s = older_open(again);
        cr_assert_eq(apl_store_info(s)->format_minor, 6);
        cr_assert_eq(older_minor(s), goldens[i].minor);
        cr_assert_str_eq(hexadecimal(apl_store_info(s)->content_digest), goldens[i].content);
        apl_store_close(s);
        if (!older_is(again, goldens[i].path))
            cr_log_warn("skipped: %s is not the same to the byte (another zstd?)\n", goldens[i].path);
    }
}

#define PICTURES 150 /* in blocks of 70: groups of 32, of 6, and of 10 */

/* Smooth, with a little noise: the codec for pictures pays. */
static void draw_picture(unsigned i, uint8_t *pixels)
{
    for (unsigned c = 0; c < 3; c++)
        for (unsigned y = 0; y < 12; y++)
            for (unsigned x = 0; x < 12; x++)
                pixels[(c * 12 + y) * 12 + x] = (uint8_t)(i * 5 + x * (3 + i % 4) + y * 2 + c * 9 +
                                                          ((x * 7 + y * 13 + i * 31) * 2654435761u >> 30));
}

static void make_pictures(const char *path)
{
    static const int64_t shape[3] = {3, 12, 12};
    apl_writer_options o = fx_options(1, 70);
    apl_writer *w = NULL;
    o.tool = "golden";
    o.codec = "picture";
    OK(apl_writer_open(path, &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, shape, &fx_err));
    OK(apl_writer_begin_member(w, "drawn", "train", 0, &fx_err));
    for (unsigned i = 0; i < PICTURES; i++) {
        uint8_t pixels[3 * 12 * 12];
        draw_picture(i, pixels);
        OK(apl_writer_append(w, &(apl_value){pixels, NULL}, &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

static void check_pictures(const char *path)
{
    apl_store *s = fx_open(path);
    cr_assert_str_eq(apl_store_field(s, 0)->codec, "picture");
    cr_assert_lt(apl_store_field(s, 0)->stored_bytes, apl_store_field(s, 0)->raw_bytes / 2);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(apl_batch_rows(all), PICTURES);
    for (unsigned i = 0; i < PICTURES; i++) {
        uint8_t pixels[3 * 12 * 12];
        draw_picture(i, pixels);
        cr_assert(memcmp((const uint8_t *)apl_batch_column(all, 0)->data + i * sizeof pixels, pixels,
                         sizeof pixels) == 0);
    }
    apl_batch_release(all);
    apl_store_close(s);
}

Test(golden, pictures)
{
    make_pictures(fx_path("pictures"));
    check_pictures(fx_path("pictures"));
    if (is_there("tests/golden/pictures"))
        check_pictures("tests/golden/pictures");
}
