/* Images that are decoded in the store: a reader makes of them what it makes of the JPEG files that they come from. */
#include "batch.h"
#include "photo.h"

#include "decode.h"
#include "jpegs.h"
#include "store_fixture.h"

#include <math.h>

#define IMAGES 14
#define SIDE   24u

TestSuite(planes, .init = fx_set_up, .fini = fx_tear_down, .timeout = 240);

static struct jpeg_bytes files[IMAGES];
static struct raster rasters[IMAGES];

/* Grey and RGB, whose planes libjpeg does not change, small enough not to be scaled by it. */
static void draw_files(bool one_size)
{
    struct image_decoder *d = image_decoder_new();
    for (unsigned i = 0; i < IMAGES; i++) {
        struct image_info info;
        struct jpeg_case k = {.width = one_size ? 40 : 33 + 3 * i,
                              .height = one_size ? 31 : 60 - 2 * i,
                              .colour = i % 3 || one_size ? JCS_RGB : JCS_GRAYSCALE,
                              .across = 1,
                              .down = 1,
                              .quality = 95};
        files[i] = jpeg_draw(&k);
        OK(image_decoder_read(d, files[i].data, files[i].size, &info, &rasters[i], &fx_err));
    }
    image_decoder_free(d);
}

static void drop_files(void)
{
    for (unsigned i = 0; i < IMAGES; i++) {
        free(files[i].data);
        raster_free(&rasters[i]);
    }
}

enum form { FILES, VARYING, FIXED };

static apl_store *write_images(const char *name, enum form form)
{
    static const int64_t any[3] = {-1, -1, -1}, fixed[3] = {3, 31, 40};
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path(name), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, form == FILES ? 1 : 3, form == FIXED ? fixed : any,
                            &fx_err));
    if (form == FILES)
        OK(apl_writer_set_media(w, "image", "image/jpeg", &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (unsigned i = 0; i < IMAGES; i++) {
        const int64_t size[1] = {(int64_t)files[i].size},
                      shape[3] = {rasters[i].channels, rasters[i].height, rasters[i].width};
        const apl_value value = {form == FILES ? files[i].data : rasters[i].data, form == FILES   ? size
                                                                                  : form == FIXED ? NULL
                                                                                                  : shape};
        OK(apl_writer_append(w, &value, &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    return fx_open(fx_path(name));
}

static apl_reader *read_by(apl_store *s, const apl_transform *t)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r;
    o.batch_size = 5;
    o.threads = 2;
    o.transforms = t;
    o.transform_count = 1;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    return r;
}

/* By how much the values of two columns of f32 differ at most. */
static float distance(const apl_column *x, const apl_column *y)
{
    const float *p = x->data, *q = y->data;
    float most = 0;
    for (size_t i = 0; i < x->bytes / sizeof *p; i++)
        most = fmaxf(most, fabsf(p[i] - q[i]));
    return most;
}

static void compare_batches(const apl_batch *a, const apl_batch *b, float tolerance)
{
    const apl_column *x = &a->columns[0], *y = &b->columns[0];
    cr_assert(a->rows == b->rows && x->bytes == y->bytes && x->ndim == y->ndim && x->dtype == y->dtype);
    cr_assert_eq(memcmp(a->ids, b->ids, a->rows * sizeof *a->ids), 0);
    cr_assert_eq(memcmp(x->shape, y->shape, 3 * sizeof *x->shape), 0);
    if (tolerance > 0)
        cr_assert_leq(distance(x, y), tolerance, "they differ by %g", (double)distance(x, y));
    else
        cr_assert_eq(memcmp(x->data, y->data, x->bytes), 0);
}

/* The same batches; of f32, to within `tolerance`. */
static void compare_readers(apl_store *a, apl_store *b, const apl_transform *t, float tolerance)
{
    apl_reader *r = read_by(a, t), *s = read_by(b, t);
    apl_batch *x, *y;
    unsigned batches = 0;
    for (; apl_reader_next(r, &x, &fx_err) == APL_OK; batches++) {
        OK(apl_reader_next(s, &y, &fx_err));
        compare_batches(x, y, tolerance);
        apl_batch_release(x);
        apl_batch_release(y);
    }
    cr_assert_eq(batches, 3, "%s", fx_err.message);
    apl_reader_close(r);
    apl_reader_close(s);
}

static void compare_transforms(apl_store *a, apl_store *b)
{
    for (unsigned i = 0; i < 5; i++) {
        apl_transform t = APL_TRANSFORM_INIT;
        t.crop_height = t.crop_width = SIDE;
        t.sizing = i == 0 ? APL_SIZING_RANDOM : i < 3 ? APL_SIZING_RESIZE : APL_SIZING_NONE;
        t.resize_short = i == 1 ? SIDE + 5 : 0;
        t.resize_height = t.resize_width = i == 2 ? 50 : 0;
        t.crop_centre = i == 1 || i == 3;
        t.pad = i == 4 ? 4 : 0;
        t.flip = APL_FLIP_RANDOM;
        t.cutout = 5;
        t.dtype = i % 2 ? APL_U8 : APL_F32;
        t.scale = i == 0 ? APL_SCALE_NORMALISE : APL_SCALE_UNIT;
        for (unsigned c = 0; i == 0 && c < 3; c++)
            t.mean[c] = 100, t.std[c] = 50 + (float)c;
        compare_readers(a, b, &t, 0);
    }
}

Test(planes, of_any_size_as_from_files)
{
    draw_files(false);
    apl_store *a = write_images("a", FILES), *b = write_images("b", VARYING);
    compare_transforms(a, b);
    apl_transform t = APL_TRANSFORM_INIT;
    t.sizing = APL_SIZING_RANDOM;
    t.crop_height = t.crop_width = SIDE;
    t.dtype = APL_F32;
    t.scale =
        APL_SCALE_NORMALISE; /* by figures of a few crops of files, and by the store's of all pixels: not the same */
    compare_readers(a, b, &t, 0.6f);
    apl_store_close(a);
    apl_store_close(b);
    drop_files();
}

/* Of one size only resizing goes this way; normalising is by what the store knows. */
Test(planes, of_one_size_as_from_files)
{
    draw_files(true);
    apl_store *a = write_images("a", FILES), *b = write_images("b", FIXED);
    apl_transform t = APL_TRANSFORM_INIT;
    t.crop_height = t.crop_width = SIDE;
    t.sizing = APL_SIZING_RANDOM;
    compare_readers(a, b, &t, 0);
    t.sizing = APL_SIZING_RESIZE;
    t.resize_short = SIDE;
    compare_readers(a, b, &t, 0);
    t.dtype = APL_F32;
    t.scale = APL_SCALE_NORMALISE;
    OK(apl_transform_complete(b, NULL, &t, &fx_err));
    cr_assert(t.mean[0] > 0 && t.std[2] > 1);
    compare_readers(a, b, &t, 0);
    apl_store_close(a);
    apl_store_close(b);
    drop_files();
}

/* Alpha is left out; other channels, and nothing, are errors. */
Test(planes, channels)
{
    static uint8_t data[4 * 6 * 7], four[3 * 6 * 7], three[3 * 6 * 7];
    const struct crop_rules rules = {.height = 6, .width = 7, .centre = true};
    struct photo_pixels image = {data, sizeof data, 4, 6, 7};
    struct photo *photo = photo_new();
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37);
    OK(photo_draw_pixels(photo, &image, &rules, crop_draws(0, 0, 0, 0), 3, four, &fx_err));
    cr_assert_eq(memcmp(four, data, sizeof four), 0);
    image.channels = 2;
    OK(photo_draw_pixels(photo, &image, &rules, crop_draws(0, 0, 0, 0), 3, three, &fx_err));
    cr_assert(memcmp(three, data, 42) == 0 && memcmp(three + 42, data, 42) == 0);
    static const struct photo_pixels wrong[] = {
        {data, sizeof data, 5, 1, 1}, {data, sizeof data, 0, 3, 3}, {data, 10, 1, 3, 4}, {data, 9, 1, 3, 0}};
    for (size_t i = 0; i < COUNT(wrong); i++)
        cr_assert_eq(photo_draw_pixels(photo, &wrong[i], &rules, crop_draws(0, 0, 0, 0), 3, four, &fx_err),
                     APL_E_INVALID);
    photo_free(photo);
}
