/* Effects: the kernels against torchvision's formulas and against each other; what a reader makes, against its steps one by one. */
#include "colour_cases.h"
#include "effects.h"

#include "assemble_variants.h"
#include "augment.h"
#include "erase.h"
#include "jitter.h"
#include "noise.h"
#include "order_case.h"
#include "reader_fixture.h"

#include <math.h>

#define TRAIN 60

static void set_up(void)
{
    fixture_make(TRAIN, 0, 8);
}

TestSuite(effects, .init = set_up, .fini = fixture_free, .timeout = 60);

/* ---------------------------------------------------------------------------------------------- kernels */

Test(effects, variants_write_the_same_bytes)
{
    for (int v = 0; v < CPU_VARIANTS; v++)
        if (cpu_can((enum cpu_variant)v))
            cr_expect_eq(colours_digest(colour_for((enum cpu_variant)v)), COLOURS_DIGEST, "%s: %#llx",
                         cpu_variant_name((enum cpu_variant)v),
                         (unsigned long long)colours_digest(colour_for((enum cpu_variant)v)));
}

/* A byte that torchvision's number would be truncated to, if it is not within a few thousandths of the next. */
static bool truncates_to(double value, uint8_t byte)
{
    double clamped = value < 0 ? 0 : value > 255 ? 255 : value;
    return byte == (uint8_t)clamped || byte == (uint8_t)(clamped + 5e-3) ||
           byte == (uint8_t)(clamped > 5e-3 ? clamped - 5e-3 : 0);
}

static double grey_of(const uint8_t rgb[3])
{
    return 0.2989 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
}

/* Hue as torchvision has it: to HSV and back, in doubles. */
static void turned(const uint8_t rgb[3], double turn, double out[3])
{
    double most = fmax(rgb[0], fmax(rgb[1], rgb[2])) / 255, least = fmin(rgb[0], fmin(rgb[1], rgb[2])) / 255;
    double range = most - least, divisor = range > 0 ? range : 1, away[3], h;
    for (int c = 0; c < 3; c++)
        away[c] = (most - rgb[c] / 255.0) / divisor;
    h = rgb[0] / 255.0 == most   ? away[2] - away[1]
        : rgb[1] / 255.0 == most ? 2 + away[0] - away[2]
                                 : 4 + away[1] - away[0];
    h = fmod(h / 6 + 1 + turn + 1, 1) * 6;
    for (int c = 0; c < 3; c++) {
        double k = fmod(5 - 2 * c + h, 6), lacks = fmax(0, fmin(fmin(k, 4 - k), 1));
        out[c] = (most - range * lacks) * 255.999;
    }
}

static struct image drawn_image(uint8_t *pixels, uint32_t seed, unsigned side)
{
    sample_fill(pixels, (size_t)3 * side * side, SAMPLE_RANDOM, side, seed);
    return (struct image){.pixels = pixels, .channels = 3, .height = side, .width = side};
}

#define BIG 40
#define ALL ((size_t)BIG * BIG)

static void check_factor(double factor, uint32_t seed)
{
    static uint8_t before[3 * ALL], after[3 * ALL], spare[ALL];
    const struct colour *k = colour_for(cpu_variant());
    struct image p = drawn_image(before, seed, BIG);
    double mean = 0;
    for (size_t i = 0; i < ALL; i++)
        mean += floor(grey_of((uint8_t[]){before[i], before[ALL + i], before[2 * ALL + i]})) / (double)ALL;
    p.pixels = after;
    for (int part = 0; part < 3; part++) {
        memcpy(after, before, sizeof after);
        if (part == 0)
            jitter_brightness(k, &p, jitter_factor(factor));
        else if (part == 1)
            jitter_contrast(k, &p, jitter_factor(factor), spare);
        else
            jitter_saturation(k, &p, jitter_factor(factor));
        for (size_t i = 0; i < 3 * ALL; i++) {
            const uint8_t rgb[3] = {before[i % ALL], before[ALL + i % ALL], before[2 * ALL + i % ALL]};
            double with = part == 0 ? 0 : part == 1 ? mean : floor(grey_of(rgb));
            double want = before[i] * factor + with * (1 - factor);
            cr_assert(truncates_to(want, after[i]), "%d: %g: %g is not %u", part, factor, want, after[i]);
        }
    }
}

Test(effects, factors_are_those_of_torchvision)
{
    static const double factors[] = {0, 0.25, 0.6, 1, 1.4, 2, 7.3};
    for (unsigned i = 0; i < sizeof factors / sizeof *factors; i++)
        check_factor(factors[i], i + 1);
}

Test(effects, hue_is_turned_as_torchvision_turns_it)
{
    static uint8_t before[3 * ALL], after[3 * ALL];
    static const double turns[] = {-0.5, -0.3, -0.01, 0, 0.1, 0.25, 0.5};
    for (unsigned t = 0; t < sizeof turns / sizeof *turns; t++) {
        struct image p = drawn_image(before, t + 9, BIG);
        memcpy(after, before, sizeof after);
        p.pixels = after;
        jitter_hue(colour_for(cpu_variant()), &p, turns[t]);
        for (size_t i = 0; i < ALL; i++) {
            double want[3];
            const uint8_t rgb[3] = {before[i], before[ALL + i], before[2 * ALL + i]};
            turned(rgb, turns[t], want);
            for (size_t c = 0; c < 3; c++)
                cr_assert(fabs(want[c] - 0.5 - after[c * ALL + i]) < 0.51, "%g: %u %u %u: %g is not %u",
                          turns[t], rgb[0], rgb[1], rgb[2], want[c], after[c * ALL + i]);
        }
        cr_assert(turns[t] != 0 || memcmp(before, after, sizeof after) == 0);
    }
}

/* ------------------------------------------------------------------------------------------------ noise */

Test(effects, noise_is_normal)
{
    const float *q = noise_quantiles();
    double sum = 0, squares = 0;
    for (int i = 0; i < NOISE_STEPS; i++) {
        sum += q[i];
        squares += (double)q[i] * q[i];
        cr_assert(i == 0 || q[i] > q[i - 1]);
        cr_assert(fabs(0.5 * erfc(-q[i] / sqrt(2)) - (i + 0.5) / NOISE_STEPS) < 1e-6);
    }
    cr_assert(fabs(sum) < 1e-6 && fabs(squares / NOISE_STEPS - 1) < 2e-3);
}

/* -------------------------------------------------------------------------------------------- a reader */

static apl_transform colourful(void)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.field = "image";
    t.pad = 2;
    t.crop_height = 7;
    t.crop_width = 9;
    t.flip = APL_FLIP_RANDOM;
    t.brightness[0] = t.contrast[0] = t.saturation[0] = 0.6;
    t.brightness[1] = t.contrast[1] = t.saturation[1] = 1.4;
    t.hue[0] = -0.1;
    t.hue[1] = 0.1;
    t.jitter_p = 0.8;
    t.grey_p = 0.2;
    t.erase_p = 0.5;
    t.erase_value[0] = 3;
    t.erase_value[1] = 7;
    t.erase_value[2] = 9;
    return t;
}

/* Step by step, by the plain kernels. */
static size_t expected(const apl_transform *t, uint64_t seed, uint64_t epoch, uint64_t id, uint8_t *out)
{
    uint8_t image[IMAGE_BYTES + 64], crop[3 * 7 * 9 + 64];
    const uint8_t *source = image;
    uint32_t copy = 0;
    struct augment augment;
    struct placement p;
    struct effects e = {.colour = &colour_scalar};
    struct effect_draws draws = effect_draws(seed, epoch, id, 0);
    struct assembly a = {.channels = 3,
                         .height = SIDE,
                         .width = SIDE,
                         .pad = 2,
                         .out_height = 7,
                         .out_width = 9,
                         .dtype = APL_U8};
    struct image shrunk = {crop, 3, 7, 9};
    fixture_image(id, image);
    augment_init(&augment, (struct image_shape){3, SIDE, SIDE}, FIELD_IMAGE, t, seed, epoch);
    augment_draw(&augment, &id, &copy, 1, &p);
    assemble_for(CPU_SCALAR)(&a, &source, &p, 1, crop);
    cr_assert_eq(effects_apply(&e, t, &draws, &shrunk, NULL), APL_OK);
    a.channels = shrunk.channels;
    a.height = 7, a.width = 9, a.pad = 0, a.dtype = t->dtype, a.layout = t->layout;
    for (unsigned c = 0; c < 3; c++)
        a.scale[c] = 1.0f / 255.0f;
    source = crop;
    assemble_for(CPU_SCALAR)(&a, &source, NULL, 1, out);
    erase_apply(t, &a, &draws, out);
    effects_free(&e);
    return assemble_bytes(&a);
}

static void check_reader(apl_transform t, unsigned threads, size_t batch_size, uint64_t epoch)
{
    apl_reader_options o = fixture_options();
    size_t rows = 0;
    o.seed = 5;
    o.first_epoch = epoch;
    o.threads = threads;
    o.batch_size = batch_size;
    o.transforms = &t;
    o.transform_count = 1;
    apl_reader *r = fixture_reader(&o);
    cr_assert_eq(apl_transform_complete(fx.store, NULL, &t, NULL), APL_OK);
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
        for (size_t i = 0; i < apl_batch_rows(b); i++, rows++) {
            const apl_column *c = apl_batch_column(b, FIELD_IMAGE);
            uint8_t want[3 * 7 * 9 * 4];
            size_t bytes = expected(&t, 5, epoch, apl_batch_ids(b)[i], want);
            cr_assert_eq(c->bytes, apl_batch_rows(b) * bytes);
            cr_assert_eq(c->shape[t.layout == APL_NHWC ? 2 : 0], t.grey_plane ? 1 : 3);
            cr_assert(memcmp(want, (const uint8_t *)c->data + i * bytes, bytes) == 0, "id %d",
                      (int)apl_batch_ids(b)[i]);
        }
    apl_reader_close(r);
    cr_assert_eq(rows, TRAIN);
}

Test(effects, of_a_reader_hang_on_the_record_alone)
{
    static const apl_dtype dtypes[] = {APL_U8, APL_F32, APL_F16, APL_BF16};
    for (unsigned i = 0; i < 8; i++) {
        apl_transform t = colourful();
        t.dtype = dtypes[i / 2];
        t.layout = i % 2 ? APL_NHWC : APL_NCHW;
        t.erase = i < 2 ? APL_ERASE_RESULT : (apl_erase)(i % 3);
        t.policy = (apl_policy)(i % 3);
        t.policy_magnitude = 20;
        t.policy_interpolation = (apl_interpolation)(i / 4);
        t.blur_size[0] = t.blur_size[1] = i < 6 ? 3 : 0;
        t.blur_p = 0.5;
        t.grey_plane = i == 5;
        t.grey_p = i == 5 ? 0 : t.grey_p;
        check_reader(t, i % 3, 1 + 6 * i, i);
    }
}

/* ----------------------------------------------------------------------------------------------- erasing */

Test(effects, erased_boxes_have_the_area_and_the_place_they_should)
{
    apl_transform t = colourful();
    uint32_t erased = 0, middles[4] = {0};
    t.erase_p = 0.25;
    cr_assert_eq(apl_transform_complete(fx.store, NULL, &t, NULL), APL_OK);
    for (uint64_t id = 0; id < 4000; id++) {
        struct effect_draws draws = effect_draws(1, 2, id, 0);
        struct erase_box b;
        if (!erase_draw(&t, &draws, 64, 48, &b))
            continue;
        erased++;
        double area = (double)b.height * b.width / (64 * 48), ratio = (double)b.height / b.width;
        cr_assert(b.top + b.height <= 64 && b.left + b.width <= 48);
        cr_assert(area > 0.01 && area < 0.36 && ratio > 0.25 && ratio < 3.9, "%g %g", area, ratio);
        middles[(2 * b.top + b.height > 64) * 2 + (2 * b.left + b.width > 48)]++;
    }
    uint32_t counts[2] = {erased, 4000 - erased};
    cr_expect_lt(fabs(counts[0] - 1000.0), 5 * sqrt(750));
    for (int i = 0; i < 4; i++)
        cr_expect_lt(fabs(middles[i] - erased / 4.0), 5 * sqrt(erased * 3.0 / 16), "%u", middles[i]);
}

Test(effects, erasing_touches_the_box_alone)
{
    apl_transform t = colourful();
    struct assembly a = {
        .channels = 3, .out_height = 20, .out_width = 30, .dtype = APL_F32, .layout = APL_NHWC};
    static float image[20 * 30 * 3];
    t.erase_p = 1;
    cr_assert_eq(apl_transform_complete(fx.store, NULL, &t, NULL), APL_OK);
    for (uint64_t id = 0; id < 50; id++) {
        struct effect_draws draws = effect_draws(1, 2, id, 0);
        struct erase_box b;
        for (size_t i = 0; i < 1800; i++)
            image[i] = -1;
        cr_assert(erase_draw(&t, &draws, 20, 30, &b));
        erase_apply(&t, &a, &draws, image);
        for (size_t i = 0; i < 1800; i++) {
            size_t y = i / 90, x = i / 3 % 30;
            bool in = y >= b.top && y < b.top + b.height && x >= b.left && x < b.left + b.width;
            cr_assert_eq(image[i], in ? t.erase_value[i % 3] : -1);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ errors */

#define REFUSED(word, change)                                                                \
    do {                                                                                     \
        apl_transform t = APL_TRANSFORM_INIT;                                                \
        apl_error err = {0};                                                                 \
        t.field = "image";                                                                   \
        change;                                                                              \
        cr_assert_eq(apl_transform_complete(fx.store, NULL, &t, &err), APL_E_INVALID);       \
        cr_assert(strstr(err.message, word), "\"%s\" lacks \"%s\"", err.message, word);      \
        cr_assert(strstr(err.message, "field image"), "\"%s\" names no field", err.message); \
    } while (0)

Test(effects, what_cannot_be_is_refused)
{
    REFUSED("brightness from 2 to 1", (t.brightness[0] = 2, t.brightness[1] = 1));
    REFUSED("contrast from -1 to 1", (t.contrast[0] = -1, t.contrast[1] = 1));
    REFUSED("saturation", (t.saturation[1] = 101));
    REFUSED("saturation", (t.saturation[1] = NAN));
    REFUSED("hue from -0.6 to 0", t.hue[0] = -0.6);
    REFUSED("jitter_p", t.jitter_p = 2);
    REFUSED("grey_p", t.grey_p = -1);
    REFUSED("contradicts", (t.grey_p = 0.5, t.grey_plane = 1));
    REFUSED("grey images are normalised by",
            (t.grey_plane = 1, t.scale = APL_SCALE_NORMALISE, t.dtype = APL_F32));
    REFUSED("a blur of 4 x 3", (t.blur_size[0] = 4, t.blur_size[1] = 3));
    REFUSED("of a crop of 8 x 8", (t.blur_size[0] = 3, t.blur_size[1] = 17));
    REFUSED("sigma 0 to 2", (t.blur_size[0] = t.blur_size[1] = 3, t.blur_sigma[1] = 2));
    REFUSED("blur_p", (t.blur_size[0] = t.blur_size[1] = 3, t.blur_p = -1));
    REFUSED("that there is not", t.policy = (apl_policy)3);
    REFUSED("magnitude 31 of 31", (t.policy = APL_POLICY_RAND, t.policy_magnitude = 31));
    REFUSED("policy_fill[2] is -1", (t.policy = APL_POLICY_RAND, t.policy_fill[2] = -1));
    REFUSED("erase_p", t.erase_p = NAN);
    REFUSED("erasing 0.5 to 0.2", (t.erase_p = 1, t.erase_area[0] = 0.5, t.erase_area[1] = 0.2));
    REFUSED("erase_value[1] is 256", (t.erase_p = 1, t.erase_value[1] = 256));
    REFUSED("noise", (t.erase_p = 1, t.erase = APL_ERASE_NOISE));
}

Test(effects, placements_do_not_tell_of_them)
{
    apl_transform t = colourful();
    apl_reader_options o = fixture_options();
    apl_placement places[64];
    apl_error err;
    apl_reader *r = fixture_reader(&o);
    apl_batch *b = fixture_next(r);
    cr_assert_eq(apl_batch_placements(fx.store, &t, 0, b, places, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "colours"), "%s", err.message);
    apl_batch_release(b);
    apl_reader_close(r);
}
