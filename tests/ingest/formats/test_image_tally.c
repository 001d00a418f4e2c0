/* Damaged images of which a library makes pixels: bad by default, whatever becomes of them; where warnings are allowed kept as libjpeg
 * reads them, and named. */
#include "folder_case.h"

TestSuite(image_tally, .init = folder_set_up, .fini = fx_tear_down, .timeout = 120);

/* Zeros in the middle of the data. */
static struct jpeg_bytes draw_damaged(bool progressive)
{
    struct jpeg_bytes b = draw(160, 120, JCS_YCbCr, progressive);
    cr_assert_gt(b.size, 2000);
    memset(b.data + b.size / 2, 0, 400);
    return b;
}

static void put_damaged(const char *path, bool progressive)
{
    struct jpeg_bytes b = draw_damaged(progressive);
    put(path, b.data, b.size);
    free(b.data);
}

static void put_some(void)
{
    put_jpeg("cat/1.jpg", 160, 120, JCS_YCbCr);
    put_damaged("cat/2.jpg", false);
    put_damaged("dog/3.jpg", true);
    put_jpeg("dog/4.jpg", 160, 120, JCS_GRAYSCALE);
}

static void hear_warned(void *user, const char *path, const char *why)
{
    size_t used = strlen(said);
    (void)user;
    snprintf(said + used, sizeof said - used, "warned %s: %s\n", path, why);
}

static void allow(void)
{
    options.allow_warnings = 1;
    options.warned = hear_warned;
}

/* All that can become of a file. */
static void as_it_is(void)
{
    options.keep_files = 0;
}
static void as_files(void)
{
    options.keep_files = 1;
}
static void as_pixels(void)
{
    options.images = "pixels";
}
static void as_baseline(void)
{
    options.jpeg_quality = APL_JPEG_BASELINE;
}
static void smaller(void)
{
    options.max_side = 50;
}
static void of_quality(void)
{
    options.jpeg_quality = 80;
}

static void each_form(void (*call)(void))
{
    static void (*const all[])(void) = {as_it_is, as_files, as_pixels, as_baseline, smaller, of_quality};
    for (size_t i = 0; i < COUNT(all); i++) {
        options = (apl_ingest_options){0};
        all[i]();
        call();
    }
}

static void is_refused(void)
{
    options.skip_bad = 1;
    expect_failure(source, APL_E_CORRUPT, "dog/3.jpg: JPEG: Corrupt JPEG data");
    SAYS("more than the 1 bad files");
}

Test(image_tally, damage_is_bad_whatever_becomes_of_the_image)
{
    put_some();
    each_form(is_refused);
}

static void is_kept(void)
{
    allow();
    OK(ingest(source));
    cr_assert(strstr(said, "warned cat/2.jpg: Corrupt JPEG data"), "%s", said);
    cr_assert(strstr(said, "warned dog/3.jpg: Corrupt JPEG data"), "%s", said);
    cr_assert(!strstr(said, "1.jpg") && !strstr(said, "4.jpg"), "%s", said);
    apl_store *s = fx_open(db);
    OK(apl_store_verify(s, NULL, &fx_err));
    cr_assert_eq(apl_store_info(s)->records, 4);
    apl_store_close(s);
}

Test(image_tally, damage_is_kept_and_named_where_warnings_are_allowed)
{
    put_some();
    each_form(is_kept);
}

Test(image_tally, a_file_that_ends_early_is_bad_all_the_same)
{
    struct jpeg_bytes b = draw(160, 120, JCS_YCbCr, false);
    put_jpeg("cat/1.jpg", 10, 10, JCS_YCbCr);
    put("cat/2.jpg", b.data, b.size - 2);
    allow();
    expect_failure(source, APL_E_CORRUPT, "cat/2.jpg: JPEG: Premature end of JPEG file");
    free(b.data);
}

/* The value of a record's first field. */
static struct jpeg_bytes kept_value(uint64_t id)
{
    apl_store *s = fx_open(db);
    apl_batch *all = fx_get_all(s);
    const apl_column *c = apl_batch_column(all, 0);
    size_t size = (size_t)(c->offsets[id + 1] - c->offsets[id]);
    struct jpeg_bytes b = {malloc(size), size};
    memcpy(b.data, (const uint8_t *)c->data + c->offsets[id], size);
    apl_batch_release(all);
    apl_store_close(s);
    return b;
}

static void is_without_warning(struct jpeg_bytes b)
{
    uint32_t shape[3];
    cr_assert_eq(apl_check_jpeg(b.data, b.size, 1, shape, &fx_err), APL_OK, "%s", fx_err.message);
}

/* To the pixel, if no scan is missing: libjpeg smooths those. */
Test(image_tally, what_is_kept_has_the_pixels_that_libjpeg_makes)
{
    unsigned width, height;
    struct jpeg_bytes damaged = draw_damaged(false);
    put_some();
    allow();
    OK(ingest(source));
    struct jpeg_bytes kept = kept_value(1), redrawn = kept_value(2);
    is_without_warning(kept);
    is_without_warning(redrawn);
    uint8_t *wanted = jpeg_whole(damaged, 8, &width, &height), *is = jpeg_whole(kept, 8, &width, &height);
    cr_assert(memcmp(wanted, is, (size_t)3 * 160 * 120) == 0);
    free(wanted);
    free(is);
    free(kept.data);
    free(redrawn.data);
    free(damaged.data);
}
