/* What images of any size are normalised by where their stores know nothing: whole images, of all parts of what is read. */
#include "colour_figures.h"
#include "jpeg_writer.h"

#include <criterion/criterion.h>

TestSuite(photo_moments, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

/* A store of `count` images of about `side` pixels, whose pixels are added to `sums`: sequential, progressive, grey ones, and ones of red, green and blue. */
static apl_store *store_of(const char *name, bool indexed, unsigned count, unsigned side, double sums[3][3])
{
    static const J_COLOR_SPACE colours[] = {JCS_YCbCr, JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB};
    apl_writer *w = writer_of_files(name, indexed, NULL);
    for (unsigned i = 0; i < count; i++) {
        struct jpeg_case k = {.width = side + 3 * i,
                              .height = side + 2 * i,
                              .colour = indexed ? JCS_GRAYSCALE : colours[i % 4],
                              .across = 1,
                              .down = 1,
                              .progressive = i % 4 == 2,
                              .quality = 95};
        struct jpeg_bytes file = jpeg_draw(&k);
        add_file(sums, &file);
        append_bytes(w, file.data, file.size);
        free(file.data);
    }
    return finished(w, name);
}

static apl_transform crop_of(unsigned side)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.sizing = APL_SIZING_RANDOM;
    t.crop_height = t.crop_width = side;
    t.dtype = APL_F32;
    t.scale = APL_SCALE_NORMALISE;
    return t;
}

/* Coefficients agree with pixels as far as these clip. */
static void are_near(const apl_transform *t, const struct figures *f)
{
    for (unsigned c = 0; c < 3; c++) {
        cr_expect_float_eq((double)t->mean[c], f->mean[c], 4, "%u: mean %g, not %g", c, (double)t->mean[c],
                           f->mean[c]);
        cr_expect_float_eq((double)t->std[c], f->std[c], 8, "%u: deviation %g, not %g", c, (double)t->std[c],
                           f->std[c]);
    }
}

/* What a reader of one store, mixed with others, normalises by. */
static apl_transform moments_of_mix(apl_store **stores, size_t count)
{
    apl_source mix[2] = {{.size = 0}};
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_transform t = crop_of(16);
    apl_reader *r;
    for (size_t i = 1; i < count; i++)
        mix[i - 1] = (apl_source){.size = sizeof(apl_source), .store = stores[i]};
    o.mix.sources = mix;
    o.mix.count = count - 1;
    o.transforms = &t;
    o.transform_count = 1;
    OK(apl_reader_open(stores[0], &o, &r, &fx_err));
    OK(apl_reader_transform_complete(r, &t, &fx_err));
    apl_reader_close(r);
    return t;
}

Test(photo_moments, are_those_of_whole_images_whatever_the_crop)
{
    double sums[3][3] = {{0}};
    apl_store *s = store_of("db", false, 12, 60, sums);
    struct figures f = figures_of(sums);
    apl_transform small = crop_of(8), large = crop_of(50);
    large.sizing = APL_SIZING_NONE;
    OK(apl_transform_complete(s, "train", &small, &fx_err));
    OK(apl_transform_complete(s, "train", &large, &fx_err));
    are_near(&small, &f);
    for (unsigned c = 0; c < 3; c++)
        cr_expect(small.mean[c] == large.mean[c] && small.std[c] == large.std[c]);
    apl_store_close(s);
}

/* Of stores of different sizes, and of one that knows its own. */
Test(photo_moments, of_a_mix_are_those_of_all_its_stores)
{
    double sums[3][3] = {{0}}, of_large[3][3] = {{0}};
    apl_store *stores[] = {store_of("large", false, 4, 120, of_large), store_of("small", false, 12, 24, sums),
                           store_of("indexed", true, 5, 60, sums)};
    for (unsigned c = 0; c < 9; c++)
        sums[c / 3][c % 3] += of_large[c / 3][c % 3];
    struct figures f = figures_of(sums), first = figures_of(of_large);
    cr_assert(fabs(f.mean[2] - first.mean[2]) > 1, "that of the first alone would not do");
    apl_transform t = moments_of_mix(stores, 3);
    are_near(&t, &f);
    for (unsigned i = 0; i < 3; i++)
        apl_store_close(stores[i]);
}

static struct jpeg_bytes plain_file(uint8_t level)
{
    struct jpeg_case k = {.width = 32, .height = 32, .colour = JCS_YCbCr, .level = level};
    return jpeg_draw(&k);
}

/* Of two stores of one colour each, all dark and all bright. */
Test(photo_moments, of_dark_and_bright_lie_between)
{
    apl_store *stores[2];
    for (unsigned i = 0; i < 2; i++) {
        struct jpeg_bytes file = plain_file(i ? 220 : 20);
        apl_writer *w = writer_of_files(i ? "bright" : "dark", false, NULL);
        for (unsigned k = 0; k < 3; k++)
            append_bytes(w, file.data, file.size);
        stores[i] = finished(w, i ? "bright" : "dark");
        free(file.data);
    }
    apl_transform t = moments_of_mix(stores, 2);
    for (unsigned c = 0; c < 3; c++) {
        cr_expect_float_eq((double)t.mean[c], 120, 1);
        cr_expect_float_eq((double)t.std[c], 100, 1);
    }
    apl_store_close(stores[0]);
    apl_store_close(stores[1]);
}

Test(photo_moments, leave_out_what_cannot_be_decoded)
{
    struct jpeg_bytes file = plain_file(100);
    apl_writer *w = writer_of_files("db", false, NULL), *none = writer_of_files("none", false, NULL);
    append_bytes(w, file.data, file.size);
    append_bytes(w, "no JPEG file", 12);
    append_bytes(w, file.data, file.size - 40);
    append_bytes(none, "no JPEG file", 12);
    free(file.data);
    apl_store *s = finished(w, "db"), *damaged = finished(none, "none");
    apl_transform t = crop_of(8), u = crop_of(8);
    OK(apl_transform_complete(s, "train", &t, &fx_err));
    cr_expect_float_eq((double)t.mean[0], 100, 1);
    cr_assert_eq(apl_transform_complete(damaged, "train", &u, &fx_err), APL_E_NOTFOUND);
    cr_assert(strstr(fx_err.message, "no image to take a mean"), "%s", fx_err.message);
    apl_store_close(s);
    apl_store_close(damaged);
}

/* Half of the files have no indexed form, and the sums of the store leave them out. */
Test(photo_moments, count_files_that_are_not_indexed)
{
    struct jpeg_case bright = {.width = 32, .height = 32, .colour = JCS_YCbCr, .level = 200},
                     dark = {
                         .width = 32, .height = 32, .colour = JCS_RGB, .across = 1, .down = 1, .level = 20};
    struct jpeg_bytes known = jpeg_draw(&bright), unknown = jpeg_draw(&dark);
    apl_writer *w = writer_of_files("db", true, NULL);
    for (unsigned i = 0; i < 10; i++) {
        append_bytes(w, known.data, known.size);
        append_bytes(w, unknown.data, unknown.size);
    }
    apl_store *s = finished(w, "db");
    double mean, std;
    apl_transform t = crop_of(8);
    cr_assert_eq(apl_store_moments(s, 0, 0, 0, &mean, &std), APL_E_NOTFOUND);
    OK(apl_transform_complete(s, "train", &t, &fx_err));
    cr_expect_float_eq((double)t.mean[0], 110, 1, "%g", (double)t.mean[0]);
    cr_expect_float_eq((double)t.std[0], 90, 1);
    free(known.data);
    free(unknown.data);
    apl_store_close(s);
}

/* What the caller has said of a channel stays. */
Test(photo_moments, leave_alone_what_is_given)
{
    double sums[3][3] = {{0}};
    apl_store *s = store_of("db", false, 3, 40, sums);
    apl_transform t = crop_of(8), all = t;
    t.mean[1] = 7;
    t.std[1] = 9;
    OK(apl_transform_complete(s, "train", &all, &fx_err));
    OK(apl_transform_complete(s, "train", &t, &fx_err));
    cr_assert(t.mean[1] == 7 && t.std[1] == 9);
    cr_assert(t.mean[0] == all.mean[0] && t.std[2] == all.std[2] && all.std[1] != 9);
    apl_store_close(s);
}
