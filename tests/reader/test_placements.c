/* apl_batch_boxes(): the boxes are those that the reader takes. Images are gradients, so that the mean of a crop says where it was. */
#include "reader_fixture.h"

#include <math.h>

#define WIDE    64
#define HIGH    48
#define RECORDS 60u

static void append_gradient(apl_writer *w, int64_t height, int64_t width)
{
    static uint8_t image[3 * WIDE * WIDE];
    int64_t shape[3] = {3, height, width};
    uint32_t sizes[3] = {3, (uint32_t)height, (uint32_t)width};
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            image[y * width + x] = (uint8_t)(3 * x);
            image[(height + y) * width + x] = (uint8_t)(3 * y);
            image[(2 * height + y) * width + x] = 0;
        }
    apl_value values[2] = {{image, shape}, {sizes, NULL}};
    cr_assert_eq(apl_writer_append(w, values, NULL), APL_OK);
}

/* `vary`: sizes differ from record to record. */
static void make_gradients(bool vary)
{
    apl_error err = {0};
    apl_writer *w = NULL;
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    int64_t one[3] = {3, HIGH, WIDE}, any[3] = {3, -1, -1}, sizes[1] = {3};
    strcpy(fx.place, "/tmp/apl-boxes-XXXXXX");
    cr_assert_not_null(mkdtemp(fx.place));
    snprintf(fx.db, sizeof fx.db, "%s/db", fx.place);
    o.threads = 1;
    cr_assert_eq(apl_writer_open(fx.db, &o, &w, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, vary ? any : one, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "image_shape", APL_U32, APL_NAME, 1, sizes, NULL), APL_OK);
    cr_assert_eq(apl_writer_begin_member(w, "all", "train", 0, NULL), APL_OK);
    for (unsigned i = 0; i < RECORDS; i++)
        append_gradient(w, vary ? 20 + i % 40 : HIGH, vary ? 60 - i % 37 : WIDE);
    cr_assert_eq(apl_writer_commit(w, &err), APL_OK, "%s", err.message);
    apl_writer_close(w);
    cr_assert_eq(apl_store_open(fx.db, NULL, &fx.store, &err), APL_OK, "%s", err.message);
}

static apl_transform crop_of(unsigned height, unsigned width)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.field = "image";
    t.crop_height = height;
    t.crop_width = width;
    t.flip = APL_FLIP_RANDOM;
    return t;
}

static double mean_of(const uint8_t *plane, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += plane[i];
    return sum / (double)count;
}

/* The mean of a gradient over the crop, which lies within the image. */
static double due_mean(uint32_t from, uint32_t side, uint32_t resized, int32_t at, uint32_t crop)
{
    return 3 * (from + (at + crop / 2.0) * side / resized - 0.5);
}

/* Of a flipped crop, the left pixel is brighter than the right one. */
static void check_row(const apl_transform *t, const apl_crop_box *b, const uint8_t *crop)
{
    size_t plane = (size_t)t->crop_height * t->crop_width;
    double x = due_mean(b->left, b->width, b->resized_width, b->crop_left, t->crop_width);
    double y = due_mean(b->top, b->height, b->resized_height, b->crop_top, t->crop_height);
    cr_assert_lt(fabs(mean_of(crop, plane) - x), 1.5, "across: %g, not %g", mean_of(crop, plane), x);
    cr_assert_lt(fabs(mean_of(crop + plane, plane) - y), 1.5, "down: %g, not %g",
                 mean_of(crop + plane, plane), y);
    cr_assert_eq(b->flip, crop[0] > crop[t->crop_width - 1]);
}

/* Reads two epochs of the store, and compares; `vary`: sizes are given. */
static void check_boxes(const apl_transform *t, bool vary)
{
    apl_reader_options o = fixture_options();
    apl_crop_box boxes[16];
    apl_error err = {0};
    apl_batch *b;
    o.transforms = t;
    o.transform_count = 1;
    o.batch_size = 16;
    o.seed = 9;
    o.reuse = 2;
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < 2; epoch++) {
        while (apl_reader_next(r, &b, &err) == APL_OK) {
            const apl_column *image = apl_batch_column(b, 0);
            const uint32_t *sizes = apl_batch_column(b, 1)->data;
            for (size_t i = 0; vary && i < apl_batch_rows(b); i++) {
                boxes[i].image_height = sizes[3 * i + 1];
                boxes[i].image_width = sizes[3 * i + 2];
            }
            cr_assert_eq(apl_batch_boxes(fx.store, t, 9, b, boxes, &err), APL_OK, "%s", err.message);
            for (size_t i = 0; i < apl_batch_rows(b); i++)
                check_row(t, &boxes[i], (const uint8_t *)image->data + i * image->bytes / apl_batch_rows(b));
            apl_batch_release(b);
        }
        cr_assert_eq(apl_reader_next_epoch(r, &err), APL_OK);
    }
    apl_reader_close(r);
}

Test(placements, boxes_of_images_of_one_size, .fini = fixture_free)
{
    make_gradients(false);
    apl_transform t = crop_of(20, 24);
    check_boxes(&t, false);
    t.sizing = APL_SIZING_RANDOM;
    t.area[0] = 0.3;
    t.area[1] = 1;
    t.ratio[0] = 0.75;
    t.ratio[1] = 1.5;
    check_boxes(&t, false);
    t = crop_of(20, 24);
    t.sizing = APL_SIZING_RESIZE;
    t.resize_short = 30;
    check_boxes(&t, false);
}

Test(placements, boxes_of_images_of_any_size, .fini = fixture_free)
{
    make_gradients(true);
    apl_transform t = crop_of(16, 18);
    check_boxes(&t, true);
    t.sizing = APL_SIZING_RANDOM;
    check_boxes(&t, true);
}

Test(placements, boxes_that_nobody_can_know, .fini = fixture_free)
{
    make_gradients(true);
    apl_transform t = crop_of(16, 18);
    apl_reader_options o = fixture_options();
    apl_crop_box boxes[16];
    apl_error err = {0};
    apl_batch *b, *got;
    memset(boxes, 0, sizeof boxes);
    o.transforms = &t;
    o.transform_count = 1;
    o.batch_size = 16;
    apl_reader *r = fixture_reader(&o);
    cr_assert_eq(apl_reader_next(r, &b, &err), APL_OK);
    cr_assert_eq(apl_batch_boxes(fx.store, &t, 9, b, boxes, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "image_width"), "%s", err.message);
    for (size_t i = 0; i < 16; i++)
        boxes[i].image_width = boxes[i].image_height = 10;
    cr_assert_eq(apl_batch_boxes(fx.store, &t, 9, b, boxes, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "smaller than the crop"), "%s", err.message);
    cr_assert_eq(apl_batch_boxes(fx.store, &t, 9, b, NULL, &err), APL_E_INVALID);
    cr_assert_eq(apl_batch_boxes(fx.store, &t, 9, NULL, boxes, &err), APL_E_INVALID);
    cr_assert_eq(apl_store_get(fx.store, 3, &got, &err), APL_OK);
    cr_assert_eq(apl_batch_boxes(fx.store, &t, 9, got, boxes, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "not one of a reader"), "%s", err.message);
    apl_batch_release(got);
    apl_batch_release(b);
    apl_reader_close(r);
}
