/* Sums over the colours of images, which need no pixels: near what pixels give, exact for what is not JPEG, checked, and used. */
#include "manifest.h"
#include "store.h"

#include "colour_figures.h"
#include "jpeg_writer.h"
#include "older.h"

#include <criterion/criterion.h>

TestSuite(colours, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

#define IMAGES 12

static void are_near(const apl_store *s, const struct figures *f, double within)
{
    double mean, std;
    for (unsigned c = 0; c < 3; c++) {
        OK(apl_store_moments(s, 0, 0, c, &mean, &std));
        cr_expect_float_eq(mean, f->mean[c], within, "channel %u: mean %g, not %g", c, mean, f->mean[c]);
        cr_expect_float_eq(std, f->std[c], within, "channel %u: deviation %g, not %g", c, std, f->std[c]);
    }
    cr_expect_eq(apl_store_moments(s, 0, 0, 3, &mean, &std), APL_E_NOTFOUND);
}

/* Grey images and those of every sampling, of sizes that end within blocks. */
static struct figures write_files(const char *name, unsigned threads)
{
    static const int across[] = {1, 2, 2, 1}, down[] = {1, 1, 2, 2};
    double sums[3][3] = {{0}};
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    options.threads = threads;
    options.block_records = 5;
    apl_writer *w = writer_of_files(name, true, &options);
    for (unsigned i = 0; i < IMAGES; i++) {
        struct jpeg_case k = {.width = 100 + 7 * i,
                              .height = 90 + 5 * i,
                              .colour = i % 5 == 4 ? JCS_GRAYSCALE : JCS_YCbCr,
                              .across = i % 5 == 4 ? 1 : across[i % 4],
                              .down = i % 5 == 4 ? 1 : down[i % 4],
                              .quality = 95};
        struct jpeg_bytes file = jpeg_draw(&k);
        add_file(sums, &file);
        append_bytes(w, file.data, file.size);
        free(file.data);
    }
    apl_store_close(finished(w, name));
    return figures_of(sums);
}

Test(colours, of_jpeg_files_are_near_those_of_pixels)
{
    struct figures f = write_files("db", 0);
    apl_store *s = fx_open(fx_path("db"));
    cr_assert_eq(older_minor(s), 5);
    cr_assert_eq(apl_store_field(s, 0)->indexed, IMAGES);
    are_near(s, &f,
             2.5); /* the images that are drawn have sharp colours, which chroma blurs and pixels clip */
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
    write_files("again", 2);
    cr_assert(fx_same(fx_path("db/data.mdb"), fx_path("again/data.mdb")), "whatever the threads");
}

Test(colours, normalise_without_a_mean)
{
    apl_transform t = APL_TRANSFORM_INIT;
    double mean, std;
    write_files("db", 0);
    apl_store *s = fx_open(fx_path("db"));
    t.sizing = APL_SIZING_RANDOM;
    t.crop_height = t.crop_width = 32;
    t.dtype = APL_F32;
    t.scale = APL_SCALE_NORMALISE;
    OK(apl_transform_complete(s, "train", &t, &fx_err));
    for (unsigned c = 0; c < 3; c++) {
        OK(apl_store_moments(s, 0, 0, c, &mean, &std));
        cr_assert(t.mean[c] == (float)mean && t.std[c] == (float)std);
    }
    apl_store_close(s);
}

/* All but one in 20 images must be known. */
Test(colours, of_few_images_are_none)
{
    struct jpeg_case k = {
        .width = 40, .height = 40, .colour = JCS_YCbCr, .across = 1, .down = 1, .quality = 90};
    struct jpeg_bytes plain = jpeg_draw(&k);
    k.across = 4; /* has no indexed form */
    struct jpeg_bytes other = jpeg_draw(&k);
    double mean, std;
    for (unsigned known = 0; known <= 20; known += known < 18 ? 9 : 1) {
        char name[8] = {'d', (char)('a' + known), 0};
        apl_writer *w = writer_of_files(name, true, NULL);
        for (unsigned i = 0; i < 20; i++)
            append_bytes(w, i < known ? plain.data : other.data, i < known ? plain.size : other.size);
        apl_store *s = finished(w, name);
        cr_assert_eq(older_minor(s), known ? 5 : 1);
        cr_assert_eq(apl_store_moments(s, 0, 0, 0, &mean, &std), known < 19 ? APL_E_NOTFOUND : APL_OK);
        OK(apl_store_verify(s, NULL, &fx_err));
        apl_store_close(s);
    }
    free(plain.data);
    free(other.data);
}

/* Of 1 to 4 channels: grey is all three, alpha is nothing. */
Test(colours, of_pixels_are_exact)
{
    static const int64_t any[3] = {-1, -1, -1};
    enum { W = 9, H = 5 };
    apl_writer *w = NULL;
    uint8_t values[4 * H * W], rgb[3 * H * W];
    double sums[3][3] = {{0}};
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, any, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (unsigned i = 0; i < 40; i++) {
        unsigned channels = 1 + i % 4;
        const int64_t shape[3] = {channels, H, W};
        for (unsigned k = 0; k < sizeof values; k++)
            values[k] = jpeg_sample(k, i, 1);
        for (unsigned k = 0; k < sizeof rgb; k++)
            rgb[k] = values[channels < 3 ? k / 3 : k % 3 * H * W + k / 3];
        add_pixels(sums, rgb, (size_t)H * W);
        OK(apl_writer_append(w, (apl_value[]){{values, shape}}, &fx_err));
    }
    struct figures f = figures_of(sums);
    apl_store *s = finished(w, "db");
    are_near(s, &f, 1e-9);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

/* Values that no encoder writes do no harm. */
Test(colours, of_absurd_coefficients_are_held)
{
    const struct rendering r = {.colours = IMAGE_GREY, .tables = {{[0] = 255, [1] = 255}}};
    struct frame f = {.width = 9, .height = 9, .components = 1, .across = {1}, .down = {1}};
    struct blocks b = {.frame = f};
    double mean, std;
    frame_measure(&f);
    cr_assert(blocks_reserve(&b, &f, true));
    for (unsigned i = 0; i < 4; i++) {
        b.of[0].values[i * BLOCK_VALUES] = i % 2 ? 2047 : -2047;
        b.of[0].values[i * BLOCK_VALUES + 1] = -1023;
        b.of[0].marks[i] = 2;
    }
    struct colour_sums s = colours_of_blocks(&b, &r);
    cr_assert(s.images == 1 && s.pixels == 81);
    cr_assert_eq(s.sum[0], -2047 * (64 - 8 + 8 - 1) / 8 - 1, "rounded down");
    cr_assert_eq(s.squares[0], 2 * 2047ull * 2047 * 81 / 64);
    colours_figures(&s, COLOURS_YCC, 0, &mean, &std);
    cr_assert(isfinite(mean) && isfinite(std));
    s.sum[0] = INT64_MIN;
    colours_add(&s, &s);
    cr_assert_eq(s.images, 2);
    blocks_free(&b);
}
