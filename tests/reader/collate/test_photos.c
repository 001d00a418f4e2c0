/* A reader of JPEG files that a store keeps: each row is what photo_draw() and assemble() make of its file. */
#include "photos.h"

#include "augment.h"
#include "jpegs.h"
#include "store_fixture.h"

#include <criterion/criterion.h>

#define IMAGES 23
#define SIDE   24u
#define VALUES ((size_t)3 * SIDE * SIDE)
#define SEED   9u

TestSuite(photos, .init = fx_set_up, .fini = fx_tear_down, .timeout = 240);

static struct jpeg_bytes files[IMAGES];

static void write_files(void)
{
    static const int64_t any[1] = {-1};
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 1, any, &fx_err));
    OK(apl_writer_add_field(w, "label", APL_U8, APL_TARGET, 0, NULL, &fx_err));
    OK(apl_writer_set_media(w, "image", "image/jpeg", &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (uint8_t i = 0; i < IMAGES; i++) {
        const int64_t shape[1] = {(int64_t)files[i].size};
        OK(apl_writer_append(w, (apl_value[]){{files[i].data, shape}, {&i, NULL}}, &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

static apl_store *make_store(void)
{
    for (unsigned i = 0; i < IMAGES; i++) {
        struct jpeg_case k = jpeg_cases[i % JPEG_CASES];
        k.width += i;
        k.height += 2 * i;
        files[i] = jpeg_draw(&k);
    }
    write_files();
    return fx_open(fx_path("db"));
}

static void drop_store(apl_store *s)
{
    apl_store_close(s);
    for (unsigned i = 0; i < IMAGES; i++)
        free(files[i].data);
}

static apl_transform random_crop(void)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.sizing = APL_SIZING_RANDOM;
    t.crop_height = t.crop_width = SIDE;
    t.flip = APL_FLIP_RANDOM;
    t.cutout = 5;
    return t;
}

static apl_reader *open_reader(apl_store *s, const apl_transform *t, unsigned threads, uint64_t epoch)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r;
    o.batch_size = 5;
    o.seed = SEED;
    o.first_epoch = epoch;
    o.threads = threads;
    o.transforms = t;
    o.transform_count = 1;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    return r;
}

/* What record `id` becomes, with the rules that belong to random_crop(). */
static void model(const apl_transform *t, uint64_t epoch, uint64_t id, const struct assembly *a, void *out)
{
    static const struct crop_rules rules = {.sizing = CROP_RANDOM_RESIZED,
                                            .height = SIDE,
                                            .width = SIDE,
                                            .scale = {0.08, 1},
                                            .ratio = {3.0 / 4, 4.0 / 3}};
    struct photo *photo = photo_new();
    uint8_t rgb[VALUES];
    const uint8_t *source = rgb;
    struct augment augment;
    struct placement p;
    uint32_t copy = 0;
    OK(photo_draw(photo, files[id].data, files[id].size, &rules, crop_draws(SEED, epoch, id, 0),
                  JPEG_CHROMA_PLANES, rgb, &fx_err));
    augment_init(&augment, (struct image_shape){3, SIDE, SIDE}, 0, t, SEED, epoch);
    augment_draw(&augment, &id, &copy, 1, &p);
    assemble(a, &source, &p, 1, out);
    photo_free(photo);
}

static void check_epoch(apl_reader *r, const apl_transform *t, uint64_t epoch, const struct assembly *a)
{
    uint8_t want[VALUES * sizeof(float)];
    size_t bytes = assemble_bytes(a), rows = 0;
    apl_batch *batch;
    apl_status status;
    while ((status = apl_reader_next(r, &batch, &fx_err)) == APL_OK) {
        const apl_column *c = &batch->columns[0];
        bool last = a->layout == APL_NHWC;
        cr_assert(c->dtype == a->dtype && c->ndim == 3 && !c->offsets && c->bytes == batch->rows * bytes);
        cr_assert(c->shape[0] == (last ? SIDE : 3) && c->shape[1] == SIDE &&
                  c->shape[2] == (last ? 3 : SIDE));
        for (size_t k = 0; k < batch->rows; k++) {
            model(t, epoch, batch->ids[k], a, want);
            cr_assert(memcmp((const uint8_t *)c->data + k * bytes, want, bytes) == 0, "record %llu",
                      (unsigned long long)batch->ids[k]);
            cr_assert_eq(((const uint8_t *)batch->columns[1].data)[k], batch->ids[k]);
        }
        rows += batch->rows;
        apl_batch_release(batch);
    }
    cr_assert_eq(status, APL_END);
    cr_assert_eq(rows, IMAGES);
}

Test(photos, rows_are_crops_of_their_files)
{
    apl_store *s = make_store();
    for (unsigned way = 0; way < 6; way++) {
        apl_transform t = random_crop();
        t.dtype = way % 2 ? APL_F32 : APL_U8;
        t.layout = way / 2 % 2 ? APL_NHWC : APL_NCHW;
        struct assembly a = {.channels = 3,
                             .height = SIDE,
                             .width = SIDE,
                             .out_height = SIDE,
                             .out_width = SIDE,
                             .cutout = 5,
                             .dtype = t.dtype,
                             .layout = t.layout};
        a.scale[0] = a.scale[1] = a.scale[2] = 1.0f / 255.0f;
        apl_reader *r = open_reader(s, &t, way < 4 ? APL_NO_THREADS : 3, way);
        check_epoch(r, &t, way, &a);
        OK(apl_reader_next_epoch(r, &fx_err));
        check_epoch(r, &t, way + 1, &a);
        apl_reader_close(r);
    }
    drop_store(s);
}

/* Without a transform, files come as they are. */
Test(photos, without_a_transform_files_come_as_they_are)
{
    apl_store *s = make_store();
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r;
    apl_batch *batch;
    o.batch_size = IMAGES;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    OK(apl_reader_next(r, &batch, &fx_err));
    for (size_t k = 0; k < batch->rows; k++) {
        const struct jpeg_bytes *file = &files[batch->ids[k]];
        const apl_column *c = &batch->columns[0];
        cr_assert_eq(c->offsets[k + 1] - c->offsets[k], file->size);
        cr_assert(memcmp((const uint8_t *)c->data + c->offsets[k], file->data, file->size) == 0);
    }
    apl_batch_release(batch);
    apl_reader_close(r);
    drop_store(s);
}

Test(photos, mean_and_deviation_are_those_of_the_crops)
{
    apl_store *s = make_store();
    apl_transform t = random_crop();
    t.scale = APL_SCALE_NORMALISE;
    t.mean[1] = 7;
    t.std[1] = 3;
    OK(apl_transform_complete(s, NULL, &t, &fx_err));
    cr_assert(t.mean[1] == 7 && t.std[1] == 3);
    for (int c = 0; c < 3; c += 2)
        cr_assert(t.mean[c] > 80 && t.mean[c] < 170 && t.std[c] > 30 && t.std[c] < 110, "%f, %f",
                  (double)t.mean[c], (double)t.std[c]);
    drop_store(s);
}

/* A file that is not a photo: found when it is its turn, and named. */
Test(photos, what_cannot_be_decoded_is_named)
{
    apl_store *s = make_store();
    apl_store_close(s);
    files[3].size /= 2;
    fx_shell("rm -r '%s%s'", fx_path("db"), "");
    write_files();
    s = fx_open(fx_path("db"));
    apl_transform t = random_crop();
    t.sizing = APL_SIZING_RESIZE;
    t.resize_height = t.resize_width = SIDE;
    apl_reader *r = open_reader(s, &t, APL_NO_THREADS, 0);
    apl_batch *batch;
    apl_status status;
    while ((status = apl_reader_next(r, &batch, &fx_err)) == APL_OK)
        apl_batch_release(batch);
    cr_assert_eq(status, APL_E_CORRUPT);
    SAYS(fx_path("db: record 3, field image: JPEG: Premature end of JPEG file"));
    cr_assert(fx_err.first_record == 3 && fx_err.records == 1);
    apl_reader_close(r);
    drop_store(s);
}

/* Three files of which the second half is nothing, in a store whose checksums are right. */
static const uint64_t damaged[] = {3, 4, 17};
#define DAMAGED (sizeof damaged / sizeof *damaged)

static apl_store *make_damaged_store(void)
{
    apl_store *s = make_store();
    apl_store_close(s);
    for (size_t i = 0; i < DAMAGED; i++)
        files[damaged[i]].size /= 2;
    fx_shell("rm -r '%s%s'", fx_path("db"), "");
    write_files();
    return fx_open(fx_path("db"));
}

/* A reader that decodes all of each file, and may leave out `most` records. */
static apl_reader *open_lenient(apl_store *s, uint64_t most, unsigned way)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_transform t = random_crop();
    apl_reader *r;
    t.sizing = APL_SIZING_RESIZE;
    t.resize_height = t.resize_width = SIDE;
    t.area[0] = t.area[1] = t.ratio[0] = t.ratio[1] = 0;
    o.batch_size = 5;
    o.seed = SEED;
    o.order = way % 2 ? APL_FREE : APL_STRICT;
    o.threads = way / 2 % 3 ? way / 2 % 3 * 2 : APL_NO_THREADS;
    o.transforms = &t;
    o.transform_count = 1;
    o.faults.skip_corrupt = most;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    return r;
}

/* Reads until the epoch ends or fails: which records came, and which were left out. */
static apl_status read_lenient(apl_reader *r, unsigned seen[IMAGES], unsigned left[IMAGES], unsigned *batches)
{
    apl_batch *batch;
    apl_status status;
    size_t skipped;
    for (*batches = 0; (status = apl_reader_next(r, &batch, &fx_err)) == APL_OK; ++*batches) {
        const uint64_t *ids = apl_batch_skipped(batch, &skipped);
        const uint8_t *labels = batch->columns[1].data;
        cr_assert_eq(batch->columns[0].bytes, batch->rows * VALUES);
        for (size_t k = 0; k < batch->rows; k++) {
            cr_assert_eq(labels[k], batch->ids[k]);
            seen[batch->ids[k]]++;
        }
        for (size_t k = 0; k < skipped; k++)
            left[ids[k]]++;
        apl_batch_release(batch);
    }
    return status;
}

Test(photos, what_cannot_be_decoded_may_be_left_out)
{
    apl_store *s = make_damaged_store();
    for (unsigned way = 0; way < 6; way++) {
        apl_reader *r = open_lenient(s, DAMAGED, way);
        for (unsigned epoch = 0; epoch < 3; epoch++) {
            unsigned seen[IMAGES] = {0}, left[IMAGES] = {0}, batches;
            apl_receipt receipt;
            cr_assert_eq(read_lenient(r, seen, left, &batches), APL_END, "%s", fx_err.message);
            for (uint64_t id = 0; id < IMAGES; id++) {
                bool bad = id == damaged[0] || id == damaged[1] || id == damaged[2];
                cr_assert(seen[id] == !bad && left[id] == bad, "way %u, record %u", way, (unsigned)id);
            }
            OK(apl_reader_receipt(r, &receipt, sizeof receipt, &fx_err));
            cr_assert(receipt.delivered == IMAGES - DAMAGED && receipt.skipped == DAMAGED &&
                      !receipt.missing && !receipt.repeated && !receipt.dropped);
            cr_assert_eq(batches, (IMAGES + 4) / 5);
            OK(apl_reader_next_epoch(r, &fx_err));
        }
        apl_reader_close(r);
    }
    drop_store(s);
}

/* The first beyond the limit is an error, at the same place whoever decodes; and it stays. */
Test(photos, no_more_may_be_left_out_than_was_said)
{
    apl_store *s = make_damaged_store();
    for (uint64_t most = 0; most < DAMAGED; most++) {
        unsigned first = 0;
        for (unsigned way = 0; way < 6; way += 2) {
            unsigned seen[IMAGES] = {0}, left[IMAGES] = {0}, batches;
            apl_reader *r = open_lenient(s, most, way);
            cr_assert_eq(read_lenient(r, seen, left, &batches), APL_E_CORRUPT);
            cr_assert_not_null(strstr(fx_err.message, "field image: JPEG: Premature end of JPEG file"), "%s",
                               fx_err.message);
            cr_assert(way == 0 || batches == first, "%u, %u batches", first, batches);
            first = batches;
            cr_assert_eq(read_lenient(r, seen, left, &batches), APL_E_CORRUPT);
            cr_assert_eq(batches, 0);
            apl_reader_close(r);
        }
    }
    drop_store(s);
}

static void refused(apl_store *s, apl_transform t, const char *says)
{
    FAILS(APL_E_INVALID, apl_transform_complete(s, NULL, &t, &fx_err));
    SAYS(says);
}

Test(photos, transforms_that_cannot_be_are_refused)
{
    apl_store *s = make_store();
    const apl_transform good = random_crop();
    apl_transform t = good;
    OK(apl_transform_complete(s, NULL, &t, &fx_err));
    cr_assert(t.area[0] == 0.08 && t.area[1] == 1 && t.ratio[0] == 0.75 && t.ratio[1] == 4.0 / 3);
    t = (apl_transform)APL_TRANSFORM_INIT;
    refused(s, t, "field image: its images may have any size: a transform must crop them to one");
    t = good, t.area[0] = 0.5, t.area[1] = 0.4;
    refused(s, t, "boxes of 0.5 to 0.4 of an image's area");
    t = good, t.area[1] = 2;
    refused(s, t, "boxes of 0 to 2");
    t = good, t.ratio[0] = -1, t.ratio[1] = 1;
    refused(s, t, "width / height from -1 to 1");
    t = good, t.pad = 4;
    refused(s, t, "neither padded nor in the middle");
    t = good, t.crop_width = 40000;
    refused(s, t, "a crop of 24 x 40000");
    t = good, t.sizing = APL_SIZING_RESIZE;
    refused(s, t, "resizing wants resize_short, or resize_height and resize_width");
    t.resize_short = 5, t.resize_width = 5;
    refused(s, t, "resizing wants resize_short, or resize_height and resize_width");
    t.resize_short = 50000, t.resize_width = 0;
    refused(s, t, "resizing to more than 32768 pixels");
    t = good, t.sizing = APL_SIZING_NONE, t.pads[2] = 40000;
    refused(s, t, "padded by 40000 pixels");
    t = good, t.sizing = (apl_sizing)3;
    refused(s, t, "an impossible value");
    t = (apl_transform)APL_TRANSFORM_INIT, t.sizing = APL_SIZING_RESIZE, t.resize_height = 7,
    t.resize_width = 8;
    OK(apl_transform_complete(s, NULL, &t, &fx_err));
    cr_assert(t.crop_height == 7 && t.crop_width == 8);
    drop_store(s);
}

Test(photos, placements_are_not_for_files)
{
    apl_store *s = make_store();
    apl_transform t = random_crop();
    apl_reader *r = open_reader(s, &t, APL_NO_THREADS, 0);
    apl_placement placements[5];
    apl_batch *batch;
    OK(apl_reader_next(r, &batch, &fx_err));
    FAILS(APL_E_INVALID, apl_batch_placements(s, &t, SEED, batch, placements, &fx_err));
    SAYS("the images of field image are not of one size, or are resized");
    apl_batch_release(batch);
    apl_reader_close(r);
    drop_store(s);
}

/* One image of 6 x 5 pixels, in a field of that shape. */
static apl_store *make_image_of(int64_t channels, const int64_t shape[3])
{
    static const uint8_t image[4 * 6 * 5];
    const int64_t own[3] = {channels, 6, 5};
    bool varies = shape[0] < 0 || shape[1] < 0 || shape[2] < 0;
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w;
    o.replace = 1;
    OK(apl_writer_open(fx_path("channels"), &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, shape, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    OK(apl_writer_append(w, &(apl_value){image, varies ? own : NULL}, &fx_err));
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    return fx_open(fx_path("channels"));
}

/* Images are resized if they have 1 or 3 channels. */
Test(photos, images_of_many_channels_are_not_resized)
{
    apl_store *s = make_image_of(4, (const int64_t[]){4, 6, 5});
    refused(s, random_crop(), "images of 4 channels cannot be resized, only those of 1 or 3");
    apl_store_close(s);
}

/* Of bands, the last was left out as if it were alpha, of two the second. */
Test(photos, bands_of_any_size_are_not_taken_for_alpha)
{
    apl_transform crop = random_crop();
    crop.sizing = APL_SIZING_NONE;
    crop.area[0] = crop.area[1] = crop.ratio[0] = crop.ratio[1] = 0;
    for (int64_t channels = 2; channels <= 4; channels += 2) {
        static const char *const says[] = {
            "images of 2 channels and of any size cannot be transformed, only those of 1 or 3; where",
            "images of 4 channels and of any size cannot be transformed, only those of 1 or 3; where"};
        apl_store *s = make_image_of(channels, (const int64_t[]){channels, -1, -1});
        refused(s, random_crop(), says[channels == 4]);
        refused(s, crop, says[channels == 4]);
        apl_store_close(s);
        s = make_image_of(channels, (const int64_t[]){-1, -1, -1});
        apl_transform t = random_crop();
        OK(apl_transform_complete(s, NULL, &t, &fx_err));
        apl_store_close(s);
    }
}
