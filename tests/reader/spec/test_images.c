/* Fields that are images: which they are, and that those of one record are augmented alike. */
#include "images.h"
#include "samples.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEIGHT  9
#define WIDTH   7
#define RECORDS 400

/* A photograph, its mask (the photograph's first channel), and a grey image without a dimension for channels. */
enum { LABEL, PHOTO, MASK, GREY, FIELDS };

static char place[64], path[96];
static apl_store *store;

static void append(apl_writer *w, uint32_t id)
{
    uint8_t photo[3 * HEIGHT * WIDTH], label = (uint8_t)id;
    sample_fill(photo, sizeof photo, SAMPLE_RANDOM, 1, id + 1);
    apl_value values[FIELDS] = {{&label, NULL}, {photo, NULL}, {photo, NULL}, {photo, NULL}};
    cr_assert_eq(apl_writer_append(w, values, NULL), APL_OK);
}

static void make_store(void)
{
    static const int64_t photo[3] = {3, HEIGHT, WIDTH}, mask[3] = {1, HEIGHT, WIDTH};
    apl_writer *w;
    strcpy(place, "/tmp/apl-images-XXXXXX");
    cr_assert(mkdtemp(place));
    snprintf(path, sizeof path, "%s/db", place);
    cr_assert_eq(apl_writer_open(path, NULL, &w, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "label", APL_U8, APL_TARGET, 0, NULL, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "photo", APL_U8, APL_INPUT, 3, photo, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "mask", APL_U8, APL_INPUT, 3, mask, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "grey", APL_U8, APL_INPUT, 2, mask + 1, NULL), APL_OK);
    cr_assert_eq(apl_writer_begin_member(w, "all", "train", 0, NULL), APL_OK);
    for (uint32_t id = 0; id < RECORDS; id++)
        append(w, id);
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
    cr_assert_eq(apl_store_open(path, NULL, &store, NULL), APL_OK);
}

static void remove_store(void)
{
    char command[160];
    apl_store_close(store);
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    cr_assert_eq(system(command), 0);
}

TestSuite(images, .init = make_store, .fini = remove_store, .timeout = 60);

/* -------------------------------------------------------------------------------------------- what is read */

/* The first batch, of all records, in the order of ids, of a reader with these transforms. */
static apl_batch *read_all(const apl_transform *t, size_t count, const char *const *fields, apl_error *err)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r;
    apl_batch *batch;
    o.batch_size = RECORDS;
    o.sequential = 1;
    o.seed = 5;
    o.transforms = t;
    o.transform_count = count;
    o.fields = fields;
    for (o.field_count = 0; fields && fields[o.field_count]; o.field_count++)
        ;
    if (apl_reader_open(store, &o, &r, err) != APL_OK)
        return NULL;
    cr_assert_eq(apl_reader_next(r, &batch, NULL), APL_OK);
    apl_reader_close(r);
    return batch;
}

static apl_transform transform_of(const char *field)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.field = field;
    return t;
}

static const uint8_t *value(const apl_batch *batch, unsigned field, size_t row)
{
    const apl_column *column = apl_batch_column(batch, field);
    return (const uint8_t *)column->data + row * (column->bytes / RECORDS);
}

/* --------------------------------------------------------------------------------------------- as one draw */

static void set_all(apl_transform *t, unsigned which)
{
    t->pad = 3;
    t->crop_height = 6;
    t->crop_width = 5;
    t->cutout = which & 1 ? 3 : 0;
    t->flip = which & 2 ? APL_FLIP_ALTERNATING : APL_FLIP_RANDOM;
    t->flip_p = which & 4 && t->flip == APL_FLIP_RANDOM ? 0.3 : 0;
    t->vertical_flip_p = which & 8 ? 0.6 : 0;
}

Test(images, of_one_record_are_augmented_alike)
{
    static const char *const names[3] = {"photo", "mask", "grey"};
    for (unsigned which = 0; which < 16; which++) {
        apl_transform t[3];
        for (unsigned i = 0; i < 3; i++) {
            t[i] = transform_of(names[i]);
            set_all(&t[i], which);
        }
        apl_batch *batch = read_all(t, 3, NULL, NULL);
        for (size_t row = 0; row < RECORDS; row++) {
            cr_assert(memcmp(value(batch, PHOTO, row), value(batch, MASK, row), 30) == 0, "%u: row %zu",
                      which, row);
            cr_assert(memcmp(value(batch, PHOTO, row), value(batch, GREY, row), 30) == 0, "%u: row %zu",
                      which, row);
        }
        apl_batch_release(batch);
    }
}

Test(images, are_augmented_alike_whichever_are_read)
{
    static const char *const only[] = {"mask", NULL}, *const two[] = {"photo", "mask", NULL};
    apl_transform t[2] = {transform_of("photo"), transform_of("mask")};
    set_all(&t[0], 13);
    set_all(&t[1], 13);
    apl_batch *both = read_all(t, 2, two, NULL), *alone = read_all(t + 1, 1, only, NULL);
    for (size_t row = 0; row < RECORDS; row++)
        cr_assert(memcmp(value(both, PHOTO, row), value(alone, MASK, row), 30) == 0);
    apl_batch_release(both);
    apl_batch_release(alone);
}

/* -------------------------------------------------------------------------------------------------- flipping */

/* Is the image that is made of `from` flipped so? */
static bool is_flipped(const uint8_t *image, const uint8_t *from, bool across, bool down)
{
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++) {
            unsigned row = down ? HEIGHT - 1 - y : y, column = across ? WIDTH - 1 - x : x;
            if (image[y * WIDTH + x] != from[row * WIDTH + column])
                return false;
        }
    return true;
}

/* How many rows are flipped across and down; flags[row] has bits 1 and 2 for them. */
static void count_flips(const apl_transform *t, unsigned counts[2], uint8_t flags[RECORDS])
{
    static const char *const only[] = {"photo", NULL};
    apl_batch *plain = read_all(NULL, 0, NULL, NULL), *batch = read_all(t, 1, only, NULL);
    apl_placement placements[RECORDS];
    cr_assert_eq(apl_batch_placements(store, t, 5, batch, placements, NULL), APL_OK);
    counts[0] = counts[1] = 0;
    for (size_t row = 0; row < RECORDS; row++) {
        const uint8_t *to = value(batch, PHOTO, row), *from = value(plain, PHOTO, row);
        unsigned how = 0;
        while (how < 4 && !is_flipped(to, from, how & 1, how & 2))
            how++;
        cr_assert_lt(how, 4);
        cr_assert_eq(placements[row].flip, (int32_t)how);
        counts[0] += how & 1;
        counts[1] += how >> 1;
        flags[row] = (uint8_t)how;
    }
    apl_batch_release(plain);
    apl_batch_release(batch);
}

static bool near(unsigned count, double p)
{
    double expected = RECORDS * p;
    return count > expected - 60 && count < expected + 60; /* six deviations and more */
}

Test(images, flip_as_often_as_they_are_asked_to)
{
    static const double ps[] = {0, 0.1, 0.25, 0.5, 0.9, 1};
    unsigned counts[2];
    uint8_t flags[2][RECORDS];
    for (unsigned i = 0; i < 6; i++) {
        apl_transform t = transform_of("photo");
        t.flip = APL_FLIP_RANDOM;
        t.flip_p = ps[i];
        t.vertical_flip_p = ps[5 - i];
        count_flips(&t, counts, flags[i & 1]);
        cr_expect(near(counts[0], i == 0 ? 0.5 : ps[i]), "%u of p %g", counts[0], ps[i]);
        cr_expect(near(counts[1], ps[5 - i]), "%u down of p %g", counts[1], ps[5 - i]);
        for (size_t row = 0; i > 1 && row < RECORDS; row++) /* what is flipped stays so with a larger p */
            cr_assert(!(flags[!(i & 1)][row] & 1) || (flags[i & 1][row] & 1));
        if (ps[i] == 1)
            cr_expect_eq(counts[0], RECORDS);
    }
    apl_transform t = transform_of("photo");
    t.flip = APL_FLIP_RANDOM;
    count_flips(&t, counts, flags[0]);
    t.flip_p = 0.5;
    count_flips(&t, counts, flags[1]);
    cr_expect_arr_eq(flags[0], flags[1], RECORDS, "0 stands for one half");
    cr_expect_eq(counts[1], 0);
}

/* ----------------------------------------------------------------------------------------- which they are */

Test(images, without_channels_keep_two_dimensions)
{
    static const char *const only[] = {"grey", NULL};
    apl_transform t = transform_of(NULL);
    double mean, std;
    t.crop_height = 4;
    t.crop_centre = 1;
    t.dtype = APL_F32;
    t.scale = APL_SCALE_NORMALISE;
    for (unsigned layout = APL_NCHW; layout <= APL_NHWC; layout++) {
        t.layout = (apl_layout)layout;
        apl_batch *batch = read_all(&t, 1, only, NULL), *plain = read_all(NULL, 0, NULL, NULL);
        const apl_column *column = apl_batch_column(batch, GREY);
        cr_assert(column->ndim == 2 && column->shape[0] == 4 && column->shape[1] == WIDTH);
        cr_assert_eq(column->bytes, RECORDS * 4 * WIDTH * sizeof(float));
        cr_assert_eq(apl_store_moments(store, 0, GREY, 0, &mean, &std), APL_OK);
        const float *first = (const float *)column->data;
        double expected = (value(plain, GREY, 0)[2 * WIDTH] - mean) / std;
        cr_assert_float_eq(first[0], expected, 1e-4);
        apl_batch_release(batch);
        apl_batch_release(plain);
    }
}

static void refuse(const char *name, const char *const *fields, apl_status status, const char *message)
{
    apl_transform t = transform_of(name);
    apl_error err;
    cr_assert_null(read_all(&t, 1, fields, &err));
    cr_expect_eq(err.status, status);
    cr_expect_str_eq(err.message, message);
}

Test(images, are_named_where_one_is_needed)
{
    static const char *const label[] = {"label", NULL};
    refuse(NULL, label, APL_E_NOTFOUND,
           "a transform: image field photo is not among the requested fields (label: u8)");
    refuse(NULL, NULL, APL_E_INVALID,
           "a transform must name its field, since 2 fields are images; the fields are "
           "label: u8, photo: u8[3,9,7], mask: u8[1,9,7], grey: u8[9,7]");
    refuse("label", NULL, APL_E_INVALID,
           "a transform: field label is u8, not an image, which is u8[C,H,W] with C at most 16, u8[*,*,*], "
           "u8[H,W], or kept as image/jpeg");
    refuse("photo", label, APL_E_INVALID, "a transform: field photo is not among the fields wanted");
}

/* {16, 16, 3} are not 16 channels of images 3 pixels wide. */
Test(images, with_channels_last_are_not_taken_for_others)
{
    static const int64_t shape[3] = {16, 16, 3};
    static const uint8_t image[16 * 16 * 3];
    apl_value values[1] = {{image, NULL}};
    apl_writer *w;
    char second[112];
    snprintf(second, sizeof second, "%s/last", place);
    cr_assert_eq(apl_writer_open(second, NULL, &w, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "last", APL_U8, APL_INPUT, 3, shape, NULL), APL_OK);
    cr_assert_eq(apl_writer_begin_member(w, "all", "train", 0, NULL), APL_OK);
    cr_assert_eq(apl_writer_append(w, values, NULL), APL_OK);
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
    apl_store_close(store);
    cr_assert_eq(apl_store_open(second, NULL, &store, NULL), APL_OK);
    refuse(NULL, NULL, APL_E_NOTFOUND,
           "a transform: no field is an image, which is u8[C,H,W] with C at most 16, u8[*,*,*], u8[H,W], or "
           "kept as image/jpeg; the fields are last: u8[16,16,3]; of field last the channels come last, and "
           "should come first");
    refuse("last", NULL, APL_E_INVALID,
           "a transform: field last is u8[16,16,3], not an image, which is u8[C,H,W] with C at most 16, "
           "u8[*,*,*], u8[H,W], or kept as image/jpeg; its channels come last, and should come first");
}

/* Of {H, W, 2}, 2 are the channels if H is not likelier to be their number. */
Test(images, of_two_channels_that_come_last_are_none)
{
    const apl_field last = {.dtype = APL_U8, .ndim = 3, .shape = {16, 9, 2}},
                    few = {.dtype = APL_U8, .ndim = 3, .shape = {2, 9, 2}},
                    grey = {.dtype = APL_U8, .ndim = 3, .shape = {1, 9, 2}};
    cr_assert(!is_image(&last) && is_image(&few) && is_image(&grey));
}

/* Of any size are images of one to four channels, which come first. */
Test(images, of_any_size_have_up_to_four_channels)
{
    for (int64_t channels = 1; channels <= 6; channels++) {
        apl_field f = {.dtype = APL_U8, .ndim = 3, .shape = {channels, -1, -1}};
        cr_assert_eq(is_varying_image(&f), channels <= 4, "%d channels", (int)channels);
        cr_assert_eq(is_any_size(&f), channels <= 4);
        f.dtype = APL_U16;
        cr_assert_not(is_varying_image(&f));
    }
    const apl_field any = {.dtype = APL_U8, .ndim = 3, .shape = {-1, -1, -1}},
                    one = {.dtype = APL_U8, .ndim = 3, .shape = {3, 5, 6}},
                    grey = {.dtype = APL_U8, .ndim = 2, .shape = {-1, -1}};
    cr_assert(is_varying_image(&any) && !is_varying_image(&one) && !is_varying_image(&grey));
}

/* One answer to where the channels are, whoever asks: readers, commands, audits. */
Test(images, say_where_their_channels_are)
{
    static const struct {
        apl_dtype dtype;
        unsigned ndim;
        int64_t shape[4];
        apl_kind_id kind;
        apl_form said, form;
    } fields[] = {
        {APL_U8, 3, {3, 32, 32}, APL_KIND_NONE, 0, APL_FORM_CHW},
        {APL_U8, 3, {4, 32, 32}, APL_KIND_NONE, 0, APL_FORM_CHW},
        {APL_U8, 3, {5, 32, 32}, APL_KIND_NONE, 0, APL_FORM_CHW},
        {APL_U8, 3, {32, 32, 2}, APL_KIND_NONE, 0, APL_FORM_HWC},
        {APL_U8, 3, {32, 32, 3}, APL_KIND_NONE, 0, APL_FORM_HWC},
        {APL_U8, 3, {3, 32, 3}, APL_KIND_NONE, 0, APL_FORM_CHW},
        {APL_U8, 3, {2, 32, 2}, APL_KIND_NONE, 0, APL_FORM_CHW},
        {APL_U8, 3, {17, 32, 32}, APL_KIND_NONE, 0, APL_FORM_NONE},
        {APL_U8, 3, {-1, -1, 3}, APL_KIND_NONE, 0, APL_FORM_HWC},
        {APL_U8, 3, {-1, -1, -1}, APL_KIND_NONE, 0, APL_FORM_CHW},
        {APL_U16, 2, {32, 32}, APL_KIND_NONE, 0, APL_FORM_HW},
        {APL_F32, 3, {3, 32, 32}, APL_KIND_NONE, 0, APL_FORM_NONE},
        {APL_U8, 1, {32}, APL_KIND_NONE, 0, APL_FORM_NONE},
        {APL_U8, 4, {2, 3, 32, 32}, APL_KIND_NONE, 0, APL_FORM_NONE},
        {APL_U8, 3, {3, 32, 3}, APL_KIND_IMAGE, APL_FORM_HWC, APL_FORM_HWC},
        {APL_U8, 3, {3, 32, 32}, APL_KIND_IMAGE, APL_FORM_HW, APL_FORM_NONE},
        {APL_U8, 2, {32, 32}, APL_KIND_IMAGE, APL_FORM_NONE, APL_FORM_HW},
        {APL_U8, 2, {32, 32}, APL_KIND_MASK, APL_FORM_NONE, APL_FORM_HW},
        {APL_U8, 2, {32, 32}, APL_KIND_PLAIN, APL_FORM_NONE, APL_FORM_NONE},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const apl_kind kind = {.id = fields[i].kind, .form = fields[i].said};
        apl_field f = {.dtype = fields[i].dtype, .ndim = fields[i].ndim, .kind = kind.id ? &kind : NULL};
        memcpy(f.shape, fields[i].shape, sizeof fields[i].shape);
        cr_expect_eq(apl_field_form(&f), fields[i].form, "%zu: %d", i, (int)apl_field_form(&f));
    }
    cr_expect_eq(apl_field_form(NULL), APL_FORM_NONE);
}
