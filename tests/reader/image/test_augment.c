/* Placements: who applies them by the words of the header gets the bytes of the reader. */
#include "reader_fixture.h"

#define TRAIN 90

static void set_up(void)
{
    fixture_make(TRAIN, 10, 8);
}

TestSuite(augment, .init = set_up, .fini = fixture_free, .timeout = 60);

/* ------------------------------------------------------------------------ a reader of placements, in plain C */

/* A pixel of the padded picture, of which (0, 0) is the first one that is stored. */
static uint8_t pixel(const apl_transform *t, const uint8_t *plane, int32_t y, int32_t x)
{
    if (t->pad_mode == APL_PAD_REFLECT) {
        y = y < 0 ? -y : y >= SIDE ? 2 * (SIDE - 1) - y : y;
        x = x < 0 ? -x : x >= SIDE ? 2 * (SIDE - 1) - x : x;
    }
    return y < 0 || y >= SIDE || x < 0 || x >= SIDE ? 0 : plane[y * SIDE + x];
}

static bool is_cut(const apl_transform *t, const apl_placement *p, int32_t y, int32_t x)
{
    int32_t side = (int32_t)t->cutout;
    return y >= p->cut_top && y < p->cut_top + side && x >= p->cut_left && x < p->cut_left + side;
}

static float scaled(const apl_transform *t, unsigned channel, uint8_t v)
{
    float a = 1.0f, b = 0.0f;
    if (t->scale == APL_SCALE_UNIT)
        a = 1.0f / 255.0f;
    if (t->scale == APL_SCALE_NORMALISE) {
        a = 1.0f / t->std[channel];
        b = -t->mean[channel] / t->std[channel];
    }
    float product = (float)v * a; /* in a statement of its own: rounded by itself */
    return product + b;
}

static size_t place_of(const apl_transform *t, unsigned c, unsigned y, unsigned x)
{
    return t->layout == APL_NHWC ? ((size_t)y * t->crop_width + x) * 3 + c
                                 : ((size_t)c * t->crop_height + y) * t->crop_width + x;
}

/* The picture of a record, augmented: of u8 or f32. */
static void apply(const apl_transform *t, const apl_placement *p, uint64_t id, void *out)
{
    uint8_t image[IMAGE_BYTES];
    fixture_image(id, image);
    for (unsigned c = 0; c < 3; c++)
        for (unsigned y = 0; y < t->crop_height; y++)
            for (unsigned x = 0; x < t->crop_width; x++) {
                int32_t from = (int32_t)(p->flip ? t->crop_width - 1 - x : x), pad = (int32_t)t->pad;
                uint8_t v =
                    pixel(t, image + c * SIDE * SIDE, p->top + (int32_t)y - pad, p->left + from - pad);
                bool cut = is_cut(t, p, (int32_t)y, (int32_t)x);
                if (t->dtype == APL_U8)
                    ((uint8_t *)out)[place_of(t, c, y, x)] = cut ? 0 : v;
                else
                    ((float *)out)[place_of(t, c, y, x)] = cut ? 0 : scaled(t, c, v);
            }
}

/* ------------------------------------------------------------------------------------------------ the same bytes */

static void check_batch(const apl_transform *t, const apl_placement *placements, const apl_batch *b)
{
    const apl_column *column = apl_batch_column(b, FIELD_IMAGE);
    float expected[3 * 16 * 16];
    size_t bytes = (size_t)3 * t->crop_height * t->crop_width * (t->dtype == APL_U8 ? 1 : sizeof(float));
    cr_assert_leq(bytes, sizeof expected);
    cr_assert_eq(column->bytes, apl_batch_rows(b) * bytes);
    for (size_t i = 0; i < apl_batch_rows(b); i++) {
        apply(t, &placements[i], apl_batch_ids(b)[i], expected);
        cr_assert(memcmp(expected, (const uint8_t *)column->data + i * bytes, bytes) == 0, "row %zu", i);
    }
}

/* Two epochs, with the placements drawn from batches of ids alone. Returns the rows that are flipped. */
static size_t check_transform(const apl_transform *asked, unsigned reuse, uint64_t seed)
{
    static const char *const none[] = {NULL};
    apl_transform t = *asked;
    apl_placement placements[16];
    apl_batch *a, *b;
    size_t flipped = 0, copies = 0;
    apl_reader_options o = fixture_options(), ids = o;
    o.seed = ids.seed = seed;
    o.reuse = ids.reuse = reuse;
    ids.fields = none;
    o.transforms = asked;
    o.transform_count = 1;
    cr_assert_eq(apl_transform_complete(fx.store, "train", &t, NULL), APL_OK);
    apl_reader *whole = fixture_reader(&o), *alone = fixture_reader(&ids);
    for (unsigned epoch = 0; epoch < 2; epoch++) {
        while ((a = fixture_next(whole)) && (b = fixture_next(alone))) {
            size_t rows = apl_batch_rows(a);
            cr_assert_eq(apl_batch_placements(fx.store, asked, seed, b, placements, NULL), APL_OK);
            check_batch(&t, placements, a);
            cr_assert(memcmp(apl_batch_copies(a), apl_batch_copies(b), rows * sizeof(uint32_t)) == 0);
            for (size_t i = 0; i < rows; i++) {
                flipped += (size_t)placements[i].flip;
                copies += apl_batch_copies(b)[i];
            }
            apl_batch_release(a);
            apl_batch_release(b);
        }
        fixture_next_epoch(whole);
        fixture_next_epoch(alone);
    }
    apl_reader_close(whole);
    apl_reader_close(alone);
    cr_assert_eq(copies, (size_t)2 * TRAIN * (reuse * (reuse - 1) / 2));
    return flipped;
}

static apl_transform transform(void)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.pad = 2;
    t.crop_height = 7;
    t.crop_width = 9;
    t.flip = APL_FLIP_RANDOM;
    t.cutout = 3;
    return t;
}

Test(augment, makes_what_the_reader_makes)
{
    static const apl_scale scales[] = {APL_SCALE_UNIT, APL_SCALE_NORMALISE, APL_SCALE_NONE};
    for (unsigned i = 0; i < 24; i++) {
        apl_transform t = transform();
        t.dtype = i & 1 || i / 8 == 1 ? APL_F32 : APL_U8; /* bytes cannot be normalised */
        t.layout = i & 2 ? APL_NHWC : APL_NCHW;
        t.pad_mode = i & 4 ? APL_PAD_REFLECT : APL_PAD_ZERO;
        t.scale = scales[i / 8];
        t.cutout = i / 8 * 3;
        size_t flipped = check_transform(&t, 1 + i / 2 % 2, 30 + i);
        cr_assert(flipped > TRAIN / 2 && flipped < 4 * TRAIN - TRAIN / 2, "%zu", flipped);
    }
}

Test(augment, alternating_flips_turn_each_record_once_in_two_epochs)
{
    apl_transform t = transform();
    t.flip = APL_FLIP_ALTERNATING;
    cr_assert_eq(check_transform(&t, 1, 3), TRAIN);
    t.dtype = APL_F32;
    cr_assert_eq(check_transform(&t, 2, 4), 2 * TRAIN);
}

Test(augment, what_is_not_random_has_its_place)
{
    apl_transform t = transform();
    apl_placement placements[16];
    apl_reader_options o = fixture_options();
    t.flip = APL_FLIP_NONE;
    t.cutout = 0;
    t.crop_centre = 1;
    cr_assert_eq(check_transform(&t, 1, 5), 0);
    apl_reader *r = fixture_reader(&o);
    apl_batch *b = fixture_next(r);
    cr_assert_eq(apl_batch_placements(fx.store, &t, 0, b, placements, NULL), APL_OK);
    for (size_t i = 0; i < apl_batch_rows(b); i++) {
        const apl_placement *p = &placements[i];
        cr_assert(p->top == 2 && p->left == 2 && p->flip == 0); /* of 12 x 12: 2.5 and 1.5 */
        cr_assert(p->cut_top == 7 && p->cut_left == 9);
    }
    apl_batch_release(b);
    apl_reader_close(r);
    t = (apl_transform)APL_TRANSFORM_INIT;
    cr_assert_eq(check_transform(&t, 1, 6), 0);
}

Test(augment, refuses_what_it_cannot_place)
{
    apl_transform t = transform();
    apl_placement placements[16];
    apl_batch *b;
    apl_error err;
    cr_assert_eq(apl_store_get(fx.store, 3, &b, NULL), APL_OK);
    cr_assert_null(apl_batch_copies(b));
    cr_assert_eq(apl_batch_placements(fx.store, &t, 0, b, placements, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "reader"), "%s", err.message);
    cr_assert_eq(apl_batch_placements(fx.store, &t, 0, NULL, placements, &err), APL_E_INVALID);
    cr_assert_eq(apl_batch_placements(NULL, &t, 0, b, placements, &err), APL_E_INVALID);
    cr_assert_eq(apl_batch_placements(fx.store, NULL, 0, b, placements, &err), APL_E_INVALID);
    cr_assert_eq(apl_batch_placements(fx.store, &t, 0, b, NULL, NULL), APL_E_INVALID);
    apl_batch_release(b);
    apl_reader_options o = fixture_options();
    apl_reader *r = fixture_reader(&o);
    b = fixture_next(r);
    t.crop_width = 13;
    cr_assert_eq(apl_batch_placements(fx.store, &t, 0, b, placements, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "crop"), "%s", err.message);
    t.size--;
    cr_assert_eq(apl_batch_placements(fx.store, &t, 0, b, placements, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "size"), "%s", err.message);
    t = transform();
    t.field = "colour";
    cr_assert_eq(apl_batch_placements(fx.store, &t, 0, b, placements, &err), APL_E_NOTFOUND);
    apl_batch_release(b);
    apl_reader_close(r);
}
