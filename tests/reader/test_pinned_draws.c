/*
 * What is drawn for an image never changes: the same seed gives the same augmentation for ever. Numbers that a law, its defaults, its
 * key's purpose or the order of its words would change; a change is a new law, not a new number here.
 */
#include "blend.h"
#include "crop.h"
#include "effects.h"
#include "elastic.h"
#include "erase.h"
#include "motion.h"
#include "perspective.h"
#include "photo_transform.h"
#include "policy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct drawn_at {
    uint64_t seed, epoch, id;
    uint32_t copy;
} places[] = {
    {0, 0, 0, 0}, {1, 2, 3, 4}, {12345678901234567890u, 99, UINT64_C(1) << 40 | 7, 1}, {7, 0, 59999, 0}};

#define PLACES (sizeof places / sizeof *places)
#define TEXT   200

/* `tell` writes what is drawn at a place; lines[i]: what it must be. */
static void pinned(const char *what, void (*tell)(const struct drawn_at *at, char *text),
                   const char *const lines[PLACES])
{
    for (size_t i = 0; i < PLACES; i++) {
        char text[TEXT] = "";
        tell(&places[i], text);
        cr_expect_str_eq(text, lines[i], "%s, place %zu:\n        \"%s\"", what, i, text);
    }
}
#define PINNED(tell, ...) pinned(#tell, tell, (const char *const[PLACES]){__VA_ARGS__})

static apl_transform completed(apl_transform t)
{
    apl_error err = {0};
    cr_assert_eq(effects_check("image", 3, &t, &err), APL_OK, "%s", err.message);
    return t;
}

/* ------------------------------------------------------------------------------------------- placements */

static void tell_placement(const apl_transform *t, const struct drawn_at *at, char *text)
{
    struct augment a;
    struct placement p;
    augment_init(&a, (struct image_shape){3, 32, 32}, 0, t, at->seed, at->epoch);
    augment_draw(&a, &at->id, &at->copy, 1, &p);
    snprintf(text, TEXT, "top %d, left %d, flips %d %d, cut %d %d", p.top, p.left, p.flip, p.vertical_flip,
             p.cut_top, p.cut_left);
}

static void random_placement(const struct drawn_at *at, char *text)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.pad = 4;
    t.crop_height = t.crop_width = 32;
    t.flip = APL_FLIP_RANDOM;
    t.vertical_flip_p = 0.3;
    t.cutout = 9;
    tell_placement(&t, at, text);
}

static void alternating_placement(const struct drawn_at *at, char *text)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.crop_height = 28;
    t.crop_width = 20;
    t.flip = APL_FLIP_ALTERNATING;
    tell_placement(&t, at, text);
}

Test(pinned_draws, placements)
{
    PINNED(random_placement, "top 4, left 8, flips 0 0, cut 26 26", "top 5, left 2, flips 0 1, cut 16 7",
           "top 4, left 7, flips 1 1, cut -1 18", "top 6, left 6, flips 1 1, cut 0 7");
    PINNED(alternating_placement, "top 2, left 11, flips 1 0, cut 28 20",
           "top 2, left 3, flips 0 0, cut 28 20", "top 2, left 11, flips 1 0, cut 28 20",
           "top 3, left 9, flips 1 0, cut 28 20");
}

/* ------------------------------------------------------------------------------------------------ boxes */

static void tell_plan(const apl_transform *t, uint32_t width, uint32_t height, const struct drawn_at *at,
                      char *text)
{
    struct crop_plan p;
    apl_error err = {0};
    cr_assert_eq(
        photo_transform_plan(t, width, height, crop_draws(at->seed, at->epoch, at->id, at->copy), &p, &err),
        APL_OK, "%s", err.message);
    snprintf(text, TEXT, "box %ux%u at %u %u, as %ux%u, window %d %d", p.box.width, p.box.height, p.box.left,
             p.box.top, p.width, p.height, p.window.left, p.window.top);
}

static apl_transform boxes(void)
{
    apl_transform t = APL_TRANSFORM_INIT;
    const double area[2] = {BOX_AREA}, ratio[2] = {BOX_RATIO};
    t.crop_height = t.crop_width = 224;
    t.sizing = APL_SIZING_RANDOM;
    memcpy(t.area, area, sizeof area);
    memcpy(t.ratio, ratio, sizeof ratio);
    return t;
}

/* Large, so that a bound moved by a thousandth moves pixels. */
static void random_resized_crop(const struct drawn_at *at, char *text)
{
    apl_transform t = boxes();
    tell_plan(&t, 20000, 15000, at, text);
}

/* Tries that do not fit are drawn again. */
static void random_resized_crop_of_a_strip(const struct drawn_at *at, char *text)
{
    apl_transform t = boxes();
    tell_plan(&t, 20000, 6000, at, text);
}

static void random_crop(const struct drawn_at *at, char *text)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.crop_height = 100;
    t.crop_width = 300;
    t.pad = 10;
    t.pad_if_needed = 1;
    tell_plan(&t, 250, 5000, at, text);
}

static void resized_and_cropped(const struct drawn_at *at, char *text)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.sizing = APL_SIZING_RESIZE;
    t.resize_short = 256;
    t.crop_height = t.crop_width = 224;
    tell_plan(&t, 500, 375, at, text);
}

Test(pinned_draws, boxes)
{
    PINNED(random_resized_crop, "box 14036x13399 at 5703 1301, as 224x224, window 0 0",
           "box 6840x5360 at 6698 303, as 224x224, window 0 0",
           "box 8335x7213 at 9253 6497, as 224x224, window 0 0",
           "box 11126x12931 at 8234 351, as 224x224, window 0 0");
    PINNED(random_resized_crop_of_a_strip, "box 8000x6000 at 6000 0, as 224x224, window 0 0",
           "box 4326x3390 at 7978 82, as 224x224, window 0 0",
           "box 5271x4562 at 11684 1200, as 224x224, window 0 0",
           "box 4773x5299 at 10113 306, as 224x224, window 0 0");
    PINNED(random_crop, "box 250x5000 at 0 0, as 250x5000, window -11 3986",
           "box 250x5000 at 0 0, as 250x5000, window -25 145",
           "box 250x5000 at 0 0, as 250x5000, window -16 340",
           "box 250x5000 at 0 0, as 250x5000, window -12 825");
    PINNED(resized_and_cropped, "box 500x375 at 0 0, as 341x256, window 112 26",
           "box 500x375 at 0 0, as 341x256, window 60 1", "box 500x375 at 0 0, as 341x256, window 92 2",
           "box 500x375 at 0 0, as 341x256, window 109 5");
}

/* ---------------------------------------------------------------------------------------------- pixels */

#define SIDE 8

/* Three pixels of what becomes of one image. */
static void tell_pixels(const apl_transform *asked, const struct drawn_at *at, char *text)
{
    static const unsigned shown[] = {9, 30, 52};
    uint8_t pixels[3 * SIDE * SIDE];
    struct image p = {pixels, 3, SIDE, SIDE};
    struct effects e = {NULL};
    apl_transform t = completed(*asked);
    struct effect_draws draws = effect_draws(at->seed, at->epoch, at->id, at->copy);
    apl_error err = {0};
    size_t used = 0;
    for (unsigned i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(40 + i * 37 % 160);
    cr_assert_eq(effects_apply(&e, &t, &draws, &p, &err), APL_OK, "%s", err.message);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        used += (size_t)snprintf(text + used, TEXT - used, "%s%u %u %u", i ? ", " : "", pixels[shown[i]],
                                 pixels[shown[i] + SIDE * SIDE], pixels[shown[i] + 2 * SIDE * SIDE]);
    effects_free(&e);
}

/* One effect by itself, and the transform that asks for it. */
#define EFFECT(name, ...)                                   \
    static void name(const struct drawn_at *at, char *text) \
    {                                                       \
        apl_transform t = APL_TRANSFORM_INIT;               \
        t.crop_height = t.crop_width = SIDE;                \
        __VA_ARGS__;                                        \
        tell_pixels(&t, at, text);                          \
    }

EFFECT(brightness, t.brightness[0] = 0.5; t.brightness[1] = 1.5)
EFFECT(contrast, t.contrast[0] = 0.5; t.contrast[1] = 1.5)
EFFECT(saturation, t.saturation[0] = 0; t.saturation[1] = 2)
EFFECT(hue, t.hue[0] = -0.5; t.hue[1] = 0.5)
EFFECT(sometimes_brighter, t.brightness[0] = t.brightness[1] = 1.5; t.jitter_p = 0.5)
EFFECT(jitter_in_order, t.brightness[0] = 0.5; t.brightness[1] = 1.5; t.contrast[0] = 0.5;
       t.contrast[1] = 1.5; t.saturation[1] = 2; t.hue[0] = -0.5; t.hue[1] = 0.5)
EFFECT(grey, t.grey_p = 0.5)
EFFECT(blur, t.blur_size[0] = 3; t.blur_size[1] = 5)
EFFECT(sometimes_blurred, t.blur_size[0] = t.blur_size[1] = 3; t.blur_sigma[0] = t.blur_sigma[1] = 1;
       t.blur_p = 0.5)
EFFECT(affine, t.affine_degrees[0] = -90; t.affine_degrees[1] = 90; t.affine_translate[0] = 0.3;
       t.affine_translate[1] = 0.2; t.affine_scale[0] = 0.5; t.affine_scale[1] = 1.5; t.affine_shear[1] = 20;
       t.affine_shear[2] = -10; t.affine_interpolation = APL_BILINEAR)
EFFECT(trivial_wide, t.policy = APL_POLICY_TRIVIAL_WIDE)
EFFECT(rand_augment, t.policy = APL_POLICY_RAND; t.policy_magnitude = 9)

Test(pinned_draws, colours)
{
    PINNED(brightness, "67 230 189, 241 201 160, 56 218 178", "37 127 104, 133 111 88, 30 121 98",
           "58 201 165, 211 175 140, 48 191 155", "41 142 117, 149 124 99, 34 135 110");
    PINNED(contrast, "52 181 149, 190 158 126, 43 172 140", "50 183 150, 192 159 126, 41 173 140",
           "21 210 163, 223 176 129, 8 197 150", "60 174 145, 182 153 125, 52 166 137");
    PINNED(saturation, "109 153 142, 172 161 150, 100 144 133", "0 221 158, 216 153 90, 0 212 149",
           "75 170 146, 183 159 135, 66 161 137", "8 202 154, 203 155 106, 0 193 145");
    PINNED(hue, "181 104 53, 136 126 190, 172 95 44", "53 181 81, 190 126 128, 44 172 72",
           "88 181 53, 190 126 160, 79 172 44", "53 121 181, 176 190 126, 44 112 172");
    PINNED(sometimes_brighter, "79 255 223, 255 237 189, 66 255 210", "53 181 149, 190 158 126, 44 172 140",
           "53 181 149, 190 158 126, 44 172 140", "53 181 149, 190 158 126, 44 172 140");
    PINNED(jitter_in_order, "194 161 138, 196 191 219, 182 149 127", "0 163 20, 166 74 78, 0 156 14",
           "103 215 60, 236 158 199, 89 201 45", "16 87 152, 137 153 84, 11 82 146");
    PINNED(grey, "53 181 149, 190 158 126, 44 172 140", "139 139 139, 163 163 163, 130 130 130",
           "139 139 139, 163 163 163, 130 130 130", "53 181 149, 190 158 126, 44 172 140");
    PINNED(blur, "107 129 131, 118 131 119, 107 131 128", "104 131 138, 128 145 125, 103 140 131",
           "106 129 134, 122 138 122, 107 135 129", "107 129 132, 119 133 120, 107 133 128");
    PINNED(sometimes_blurred, "53 181 149, 190 158 126, 44 172 140", "53 181 149, 190 158 126, 44 172 140",
           "105 129 137, 126 146 126, 108 140 128", "53 181 149, 190 158 126, 44 172 140");
}

Test(pinned_draws, maps_and_policies_in_pixels)
{
    PINNED(affine, "92 139 160, 107 75 180, 184 155 123", "115 89 111, 91 107 88, 128 96 79",
           "143 111 79, 114 87 60, 149 122 96", "173 141 109, 123 91 59, 145 113 81");
    PINNED(trivial_wide, "48 176 144, 184 152 120, 40 168 136", "109 127 122, 128 124 119, 107 126 121",
           "55 179 148, 189 158 127, 46 170 139", "21 228 174, 251 189 137, 6 213 160");
    PINNED(rand_augment, "28 191 150, 197 156 116, 20 183 142", "70 164 140, 170 146 122, 64 156 134",
           "87 64 157, 90 183 160, 78 55 148", "21 228 174, 251 189 137, 6 213 160");
}

/* -------------------------------------------------------------------------------------------- geometry */

static void affine_map(const struct drawn_at *at, char *text)
{
    apl_transform t = APL_TRANSFORM_INIT;
    struct effect_draws draws = effect_draws(at->seed, at->epoch, at->id, at->copy);
    struct affine_map map;
    t.affine_degrees[0] = -180;
    t.affine_degrees[1] = 180;
    t.affine_translate[0] = 0.3;
    t.affine_translate[1] = 0.2;
    t.affine_scale[0] = 0.5;
    t.affine_scale[1] = 2;
    t.affine_shear[1] = 20;
    t.affine_shear[2] = -10;
    t.affine_p = 0.9;
    t = completed(t);
    if (!motion_draw(&t, &draws, 300, 400, &map)) {
        snprintf(text, TEXT, "none");
        return;
    }
    snprintf(text, TEXT, "%lld %lld %lld, %lld %lld %lld", (long long)map.xx, (long long)map.xy,
             (long long)map.x0, (long long)map.yx, (long long)map.yy, (long long)map.y0);
}

static void perspective_corners(const struct drawn_at *at, char *text)
{
    apl_transform t = APL_TRANSFORM_INIT;
    struct effect_draws draws = effect_draws(at->seed, at->epoch, at->id, at->copy);
    struct perspective_corners c;
    t.perspective_distortion = 0.5;
    t.perspective_p = 0.9;
    if (!perspective_draw(&t, &draws, 300, 400, &c)) {
        snprintf(text, TEXT, "none");
        return;
    }
    snprintf(text, TEXT, "%d %d, %d %d, %d %d, %d %d", c.x[0], c.y[0], c.x[1], c.y[1], c.x[2], c.y[2], c.x[3],
             c.y[3]);
}

static void elastic_shifts(const struct drawn_at *at, char *text)
{
    apl_transform t = APL_TRANSFORM_INIT;
    struct effect_draws draws = effect_draws(at->seed, at->epoch, at->id, at->copy);
    struct scratch scratch = {0};
    struct elastic field;
    apl_error err = {0};
    t.crop_height = t.crop_width = 20;
    t.elastic_alpha[0] = 30;
    t.elastic_alpha[1] = 40;
    t.elastic_sigma[0] = t.elastic_sigma[1] = 1;
    t.elastic_p = 0.5;
    t = completed(t);
    cr_assert_eq(elastic_draw(&scratch, &t, &draws, 20, 20, &field, &err), APL_OK);
    snprintf(text, TEXT, "%s: %.6g %.6g, %.6g %.6g", elastic_happens(&t, &draws) ? "done" : "not done",
             (double)field.right[0], (double)field.down[0], (double)field.right[399],
             (double)field.down[399]);
    scratch_free(&scratch);
}

static void erased_box(const struct drawn_at *at, char *text)
{
    apl_transform t = APL_TRANSFORM_INIT;
    struct effect_draws draws = effect_draws(at->seed, at->epoch, at->id, at->copy);
    struct erase_box b;
    t.erase_p = 0.9;
    t = completed(t);
    if (erase_draw(&t, &draws, 15000, 20000, &b))
        snprintf(text, TEXT, "%u high, %u wide, at %u down, %u across", b.height, b.width, b.top, b.left);
    else
        snprintf(text, TEXT, "none");
}

static void noise_of_an_erased_box(const struct drawn_at *at, char *text)
{
    apl_transform t = APL_TRANSFORM_INIT;
    struct effect_draws draws = effect_draws(at->seed, at->epoch, at->id, at->copy);
    struct assembly a = {
        .channels = 1, .out_height = 40, .out_width = 40, .dtype = APL_F32, .layout = APL_NCHW};
    static float image[1600];
    struct erase_box b = {0};
    t.erase_p = 1;
    t.erase = APL_ERASE_NOISE;
    t = completed(t);
    memset(image, 0, sizeof image);
    erase_apply(&t, &a, &draws, image);
    cr_assert(erase_draw(&t, &draws, 40, 40, &b));
    const float *first = image + b.top * 40 + b.left, *below = first + 40;
    snprintf(text, TEXT, "%.6g %.6g %.6g", (double)first[0], (double)first[1], (double)below[0]);
}

static void policies(const struct drawn_at *at, char *text)
{
    apl_transform wide = APL_TRANSFORM_INIT, rand = APL_TRANSFORM_INIT;
    struct effect_draws draws = effect_draws(at->seed, at->epoch, at->id, at->copy);
    wide.policy = APL_POLICY_TRIVIAL_WIDE;
    rand.policy = APL_POLICY_RAND;
    rand.policy_magnitude = 9;
    wide = completed(wide);
    rand = completed(rand);
    struct policy_operation a = policy_draw(&wide, &draws, 0, 300, 400),
                            b = policy_draw(&rand, &draws, 0, 300, 400),
                            c = policy_draw(&rand, &draws, 1, 300, 400);
    snprintf(text, TEXT, "%d %.7g, %d %.7g, %d %.7g", a.kind, a.magnitude, b.kind, b.magnitude, c.kind,
             c.magnitude);
}

Test(pinned_draws, geometry)
{
    PINNED(affine_map, "329243841 643498476 64491877048, -685888999 247215041 201709751576", "none",
           "622682086 206042061 31281915645, -135238691 638859385 137704164039",
           "-129409533 -752751458 365926863090, 768685870 -45924294 2427144066");
    PINNED(perspective_corners, "38 49, 386 45, 352 230, 27 290", "32 47, 376 67, 329 237, 75 250",
           "74 62, 399 64, 341 254, 82 237", "90 16, 333 39, 377 240, 86 224");
    PINNED(elastic_shifts, "done: 0.794302 7.01726, -4.3518 3.43124",
           "done: -2.69377 5.23607, 2.94467 -1.12065", "done: 5.06632 8.07955, -1.32366 -6.81732",
           "done: 0.982723 4.14676, 2.15295 4.28154");
    PINNED(erased_box, "2413 high, 7433 wide, at 7357 down, 2746 across",
           "3532 high, 11281 wide, at 208 down, 8687 across",
           "5279 high, 10050 wide, at 4425 down, 9872 across",
           "9349 high, 10021 wide, at 5473 down, 2335 across");
    PINNED(noise_of_an_erased_box, "-1.07043 0.444759 1.04898", "-0.352631 -1.85755 -1.24499",
           "1.45118 2.64969 0.873174", "-0.74981 0.336396 -0.317674");
    PINNED(policies, "10 5, 10 7, 7 0.27", "8 -0.858, 8 -0.27, 10 7", "7 -0.033, 7 -0.27, 3 -54.38066",
           "12 0, 12 0, 0 -0");
}

/* ---------------------------------------------------------------------------------------------- batches */

static void tell_blend(double mixup, double cutmix, double p, const struct drawn_at *at, char *text)
{
    const apl_blend how = {.mixup_alpha = mixup,
                           .cutmix_alpha = cutmix,
                           .p = p,
                           .cutmix_p = mixup == 0    ? 1
                                       : cutmix == 0 ? 0
                                                     : 0.5};
    struct blend_plan b = blend_draw(&how, blend_key(at->seed, at->epoch, at->id, at->copy), 300, 400);
    if (b.how == BLEND_NOTHING)
        snprintf(text, TEXT, "nothing");
    else if (b.how == BLEND_MIXUP)
        snprintf(text, TEXT, "own %.10g", b.own);
    else
        snprintf(text, TEXT, "own %.10g, box %u %u to %u %u", b.own, b.left, b.top, b.right, b.bottom);
}

static void mixup_of_small_alpha(const struct drawn_at *at, char *text)
{
    tell_blend(0.2, 0, 1, at, text);
}

static void mixup_of_large_alpha(const struct drawn_at *at, char *text)
{
    tell_blend(8, 0, 1, at, text);
}

static void cutmix(const struct drawn_at *at, char *text)
{
    tell_blend(0, 1, 1, at, text);
}

static void either_or_nothing(const struct drawn_at *at, char *text)
{
    tell_blend(1, 1, 0.6, at, text);
}

Test(pinned_draws, batches)
{
    PINNED(mixup_of_small_alpha, "own 0.9664453906", "own 0.04249406354", "own 0.02551498247",
           "own 0.07777717342");
    PINNED(mixup_of_large_alpha, "own 0.5268860044", "own 0.3600443072", "own 0.388802548",
           "own 0.4280740008");
    PINNED(cutmix, "own 0.7622, box 132 177 to 364 300", "own 0.7866, box 0 168 to 194 300",
           "own 0.7042916667, box 165 149 to 400 300", "own 0.7912, box 0 0 to 174 144");
    PINNED(either_or_nothing, "nothing", "own 0.7866, box 0 168 to 194 300",
           "own 0.7042916667, box 165 149 to 400 300", "nothing");
}
