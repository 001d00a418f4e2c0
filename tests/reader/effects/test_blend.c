/* MixUp and CutMix: their kernels and draws; what a reader makes, against the batch as it was. */
#include "blends.h"
#include "halves.h"

#include "reader_fixture.h"

#include <math.h>

#define TRAIN 60
#define ROWS  13

static void set_up(void)
{
    fixture_make(TRAIN, 0, 8);
}

TestSuite(blend, .init = set_up, .fini = fixture_free, .timeout = 60);

Test(blend, variants_write_the_same_bytes)
{
    for (int v = 0; v < CPU_VARIANTS; v++)
        if (cpu_can((enum cpu_variant)v))
            cr_expect_eq(blends_digest(blend_for((enum cpu_variant)v)), BLENDS_DIGEST, "%s: %#llx",
                         cpu_variant_name((enum cpu_variant)v),
                         (unsigned long long)blends_digest(blend_for((enum cpu_variant)v)));
}

Test(blend, halves_go_there_and_back)
{
    for (uint32_t half = 0; half < 0x10000; half++)
        if ((half & 0x7fff) <= 0x7c00)
            cr_assert_eq(f16_of(f32_of_f16((uint16_t)half)), half);
    cr_assert(f32_of_f16(0x3c00) == 1 && f32_of_f16(1) == 0x1p-24f && f32_of_f16(0xc000) == -2);
}

Test(blend, lambda_is_distributed_as_beta)
{
    static const double alphas[] = {0.05, 0.2, 0.8, 1, 1.2, 4, 100};
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++) {
        double sum = 0, squares = 0, fourths = 0, n = 20000, a = alphas[i];
        for (uint32_t k = 0; k < 20000; k++) {
            const uint32_t counter[3] = {k, 0, 0};
            double x = beta_draw(a, 5, counter) - 0.5;
            cr_assert(x >= -0.5 && x <= 0.5);
            sum += x;
            squares += x * x;
            fourths += x * x * x * x;
        }
        double variance = 1 / (4 * (2 * a + 1)), fourth = 3 / (16 * (2 * a + 1) * (2 * a + 3));
        cr_expect(fabs(sum / n) < 5 * sqrt(variance / n), "%g: mean %g", a, sum / n);
        cr_expect(fabs(squares / n / variance - 1) < 0.05, "%g: variance %g", a, squares / n);
        cr_expect(fabs(fourths / n / fourth - 1) < 0.1, "%g: fourth %g", a, fourths / n);
    }
}

/* ---------------------------------------------------------------------------------------------- readers */

static apl_reader *open_reader(const apl_transform *t, const apl_blend *blend, unsigned threads,
                               const void *state)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    static const char *const fields[] = {"image", "label"};
    apl_reader *r = NULL;
    apl_error err;
    o.fields = fields;
    o.field_count = 2;
    o.batch_size = ROWS;
    o.seed = 3;
    o.threads = threads;
    o.transforms = t;
    o.transform_count = 1;
    o.blend = blend;
    o.state = state;
    o.state_size = state ? APL_STATE_BYTES : 0;
    cr_assert_eq(apl_reader_open(fx.store, &o, &r, &err), APL_OK, "%s", err.message);
    return r;
}

static apl_batch *next_of(apl_reader *r)
{
    apl_batch *b;
    return apl_reader_next(r, &b, NULL) == APL_OK ? b : NULL;
}

/* What is left of the images, told by the labels of the batch; -1: all labels are alike. */
static float own_share(const apl_batch *mixed, const apl_batch *plain)
{
    const uint8_t *labels = apl_batch_column(plain, FIELD_LABEL)->data;
    const float *soft = apl_batch_column(mixed, FIELD_LABEL)->data;
    size_t rows = apl_batch_rows(plain);
    float own = -1;
    for (size_t k = 0; k < rows; k++) {
        size_t before = (k + rows - 1) % rows;
        if (labels[k] == labels[before])
            continue;
        own = soft[k * CLASSES + labels[k]];
        cr_assert_float_eq(soft[k * CLASSES + labels[before]], 1 - own, 1e-6);
    }
    return own;
}

/* Images of f32, mixed by this share, or cut: then that share of the pixels is another's. */
static void check_images(const apl_batch *mixed, const apl_batch *plain, float own, bool cut)
{
    const float *image = apl_batch_column(mixed, FIELD_IMAGE)->data,
                *was = apl_batch_column(plain, FIELD_IMAGE)->data;
    size_t rows = apl_batch_rows(plain), others = 0;
    for (size_t k = 0; k < rows; k++)
        for (size_t i = 0; i < IMAGE_BYTES; i++) {
            float a = was[k * IMAGE_BYTES + i], b = was[(k + rows - 1) % rows * IMAGE_BYTES + i];
            float got = image[k * IMAGE_BYTES + i];
            if (cut) {
                cr_assert(got == a || got == b);
                others += got != a;
            } else {
                cr_assert_float_eq(got, a * own + b * (1 - own), 1e-6);
            }
        }
    if (cut) /* but for pixels that are alike in both */
        cr_assert_float_eq((double)others / (double)(rows * IMAGE_BYTES), 1 - own, 0.02);
}

Test(blend, readers_mix_each_image_with_the_one_before)
{
    for (unsigned way = 0; way < 4; way++) {
        apl_transform t = APL_TRANSFORM_INIT;
        apl_blend blend = APL_BLEND_INIT;
        t.dtype = APL_F32;
        t.layout = way & 1 ? APL_NHWC : APL_NCHW;
        *(way & 2 ? &blend.cutmix_alpha : &blend.mixup_alpha) = 1;
        apl_reader *plain = open_reader(&t, NULL, 1, NULL), *mixed = open_reader(&t, &blend, 2, NULL);
        float first = -1, other = -1;
        for (apl_batch *b; (b = next_of(plain));) {
            apl_batch *m = next_of(mixed);
            const apl_column *c = apl_batch_column(m, FIELD_LABEL);
            cr_assert(c->dtype == APL_F32 && c->ndim == 1 && c->shape[0] == CLASSES);
            float own = own_share(m, b);
            if (own >= 0)
                check_images(m, b, own, way & 2);
            other = first;
            first = own;
            apl_batch_release(b);
            apl_batch_release(m);
        }
        cr_assert_neq(first, other);
        apl_reader_close(plain);
        apl_reader_close(mixed);
    }
}

Test(blend, threads_and_resuming_change_nothing)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_blend blend = APL_BLEND_INIT;
    t.dtype = APL_F16;
    blend.mixup_alpha = 0.4;
    blend.cutmix_alpha = 1;
    blend.p = 0.8;
    blend.smoothing = 0.1;
    apl_reader *one = open_reader(&t, &blend, APL_NO_THREADS, NULL), *many = open_reader(&t, &blend, 3, NULL);
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_batch_release(next_of(one));
    apl_batch_release(next_of(many));
    cr_assert_eq(apl_reader_state(one, state, &size, NULL), APL_OK);
    apl_reader *resumed = open_reader(&t, &blend, 1, state);
    for (apl_batch *a; (a = next_of(one));) {
        apl_batch *b = next_of(many), *c = next_of(resumed);
        for (unsigned f = FIELD_IMAGE; f <= FIELD_LABEL; f++) {
            const apl_column *x = apl_batch_column(a, f);
            cr_assert(memcmp(x->data, apl_batch_column(b, f)->data, x->bytes) == 0 &&
                      memcmp(x->data, apl_batch_column(c, f)->data, x->bytes) == 0);
        }
        apl_batch_release(a);
        apl_batch_release(b);
        apl_batch_release(c);
    }
    apl_reader_close(one);
    apl_reader_close(many);
    apl_reader_close(resumed);
}

static void check_refused(const apl_blend *blend, apl_dtype dtype, const char *why)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader *r;
    apl_error err = {0};
    t.dtype = dtype;
    o.transforms = &t;
    o.transform_count = 1;
    o.blend = blend;
    cr_assert_eq(apl_reader_open(fx.store, &o, &r, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, why), "%s", err.message);
}

Test(blend, what_cannot_be_mixed_is_refused)
{
    apl_blend b = APL_BLEND_INIT;
    check_refused(&b, APL_F32, "alphas of 0 and 0");
    b.mixup_alpha = 1;
    check_refused(&b, APL_U8, "MixUp is of floats");
    b.label = "name";
    check_refused(&b, APL_F32, "not of single whole numbers");
    b.label = NULL;
    b.smoothing = 1;
    check_refused(&b, APL_F32, "from 0 to 1");
    b.smoothing = 0;
    b.cutmix_alpha = NAN;
    check_refused(&b, APL_F32, "alphas");
}

Test(blend, labels_beyond_the_classes_name_their_record)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_blend blend = APL_BLEND_INIT;
    apl_batch *b;
    apl_error err;
    blend.cutmix_alpha = 1;
    blend.classes = CLASSES - 1;
    apl_reader *r = open_reader(&t, &blend, 1, NULL);
    apl_status status;
    while ((status = apl_reader_next(r, &b, &err)) == APL_OK)
        apl_batch_release(b);
    cr_assert_eq(status, APL_E_INVALID);
    cr_assert(strstr(err.message, "field label: class 9, where there are 9"), "%s", err.message);
    apl_reader_close(r);
}
