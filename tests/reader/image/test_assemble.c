/* Assembly: the plain variant against a model that makes every step by itself, the others against the plain
 * one. */
#include "assemblies.h"
#include "counts.h"
#include "halves.h"

#include <criterion/criterion.h>
#include <math.h>

#define CASES 1500

/* A padded picture of one channel, as an array of its own. */
struct plane {
    int height, width;
    uint8_t *at;
};

static struct plane new_plane(unsigned height, unsigned width)
{
    struct plane p = {(int)height, (int)width, calloc((size_t)height * width, 1)};
    cr_assert(p.at);
    return p;
}

/* The neighbour across the edge: walks back and forth between the edges, step by step. */
static int walk(int from, int steps, int direction, int size)
{
    while (steps-- > 0) {
        if (from + direction < 0 || from + direction >= size)
            direction = -direction;
        from += direction;
    }
    return from;
}

static int mirrored(int at, int size)
{
    return at < 0 ? walk(0, -at, 1, size) : at >= size ? walk(size - 1, at - size + 1, -1, size) : at;
}

static struct plane model_pad(const struct assembly *a, const uint8_t *source)
{
    int pad = (int)a->pad, height = (int)a->height, width = (int)a->width;
    struct plane p = new_plane(a->height + 2 * a->pad, a->width + 2 * a->pad);
    for (int y = -pad; y < height + pad; y++)
        for (int x = -pad; x < width + pad; x++) {
            int row = y, column = x;
            if (a->pad_mode == APL_PAD_REFLECT) {
                row = mirrored(y, height);
                column = mirrored(x, width);
            }
            int inside = row >= 0 && row < height && column >= 0 && column < width;
            p.at[(y + pad) * p.width + x + pad] = inside ? source[row * width + column] : 0;
        }
    return p;
}

static struct plane model_crop(const struct assembly *a, struct plane padded, struct placement p)
{
    struct plane crop = new_plane(a->out_height, a->out_width);
    for (int y = 0; y < crop.height; y++)
        for (int x = 0; x < crop.width; x++)
            crop.at[y * crop.width + x] = padded.at[(p.top + y) * padded.width + p.left + x];
    free(padded.at);
    return crop;
}

static void model_flip(struct plane p)
{
    for (int y = 0; y < p.height; y++)
        for (int x = 0, z = p.width - 1; x < z; x++, z--) {
            uint8_t *row = p.at + y * p.width, left = row[x];
            row[x] = row[z];
            row[z] = left;
        }
}

static void model_vertical_flip(struct plane p)
{
    for (int y = 0, z = p.height - 1; y < z; y++, z--)
        for (int x = 0; x < p.width; x++) {
            uint8_t top = p.at[y * p.width + x];
            p.at[y * p.width + x] = p.at[z * p.width + x];
            p.at[z * p.width + x] = top;
        }
}

/* The nearest number with `bits` bits behind the point and exponents from `least` on, as it is written. */
static uint16_t model_half(double value, int bits, int least, uint16_t infinite)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent;
    if (isinf(value))
        return sign | infinite;
    frexp(value, &exponent);
    exponent = value == 0 || exponent - 1 < least ? least : exponent - 1;
    double steps = rint(ldexp(fabs(value), bits - exponent)); /* ties to even */
    double code = ldexp(exponent - least, bits) + steps;
    return sign | (uint16_t)(code < infinite ? code : infinite);
}

static void model_store(const struct assembly *a, void *out, size_t at, uint8_t value, unsigned channel,
                        int cut)
{
    volatile float product = value * a->scale[channel], result = product + a->bias[channel];
    uint32_t bits = 0;
    if (a->dtype == APL_U8)
        bits = value;
    else if (a->dtype == APL_F16)
        bits = model_half(result, 10, -14, 0x7c00);
    else if (a->dtype == APL_BF16)
        bits = model_half(result, 7, -126, 0x7f80);
    else
        bits = float_bits(result);
    size_t bytes = element_bytes(a->dtype);
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)out)[at * bytes + i] = cut ? 0 : (uint8_t)(bits >> (8 * i));
}

static void model_plane(const struct assembly *a, struct plane plane, struct placement p, unsigned channel,
                        void *out)
{
    int side = (int)a->cutout;
    for (int y = 0; y < plane.height; y++)
        for (int x = 0; x < plane.width; x++) {
            int cut = y >= p.cut_top && y < p.cut_top + side && x >= p.cut_left && x < p.cut_left + side;
            size_t at = a->layout == APL_NCHW
                            ? (channel * a->out_height + (size_t)y) * a->out_width + (size_t)x
                            : ((size_t)y * a->out_width + (size_t)x) * a->channels + channel;
            model_store(a, out, at, plane.at[y * plane.width + x], channel, cut);
        }
}

static void model(const struct assembly *a, const uint8_t *const *sources, const struct placement *placements,
                  size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) {
        struct placement p = {0};
        p.top = (int32_t)nearbyint((a->height + 2 * a->pad - a->out_height) / 2.0); /* half to even */
        p.left = (int32_t)nearbyint((a->width + 2 * a->pad - a->out_width) / 2.0);
        p.cut_top = (int32_t)a->out_height;
        if (placements)
            p = placements[i];
        uint8_t *to = (uint8_t *)out + i * assemble_bytes(a);
        for (unsigned c = 0; c < a->channels; c++) {
            struct plane plane = model_crop(a, model_pad(a, sources[i] + c * a->height * a->width), p);
            if (p.flip)
                model_flip(plane);
            if (p.vertical_flip)
                model_vertical_flip(plane);
            model_plane(a, plane, p, c, to);
            free(plane.at);
        }
    }
}

Test(assemble, scalar_is_as_the_model)
{
    cr_assert_eq(compare_assemblies(assemble_scalar, model, 1, (unsigned)(CASES / sweep_step()), "scalar"),
                 0);
}

Test(assemble, variants_are_bit_equal)
{
    for (int v = CPU_SCALAR + 1; v < CPU_VARIANTS; v++) {
        enum cpu_variant variant = (enum cpu_variant)v;
        const char *name = cpu_variant_name(variant);
        if (cpu_can(variant))
            cr_expect_eq(compare_assemblies(assemble_for(variant), assemble_scalar, 1,
                                            (unsigned)(3 * CASES / sweep_step()), name),
                         0);
        else
            printf("skipped: this machine cannot run %s\n", name);
    }
}

Test(assemble, variants_round_alike)
{
    for (int v = CPU_SCALAR + 1; v < CPU_VARIANTS; v++) {
        if (!cpu_can((enum cpu_variant)v))
            continue;
        assemble_fn *variant = assemble_for((enum cpu_variant)v);
        cr_expect_eq(compare_all_roundings(variant, assemble_scalar, APL_F16), 0);
        cr_expect_eq(compare_all_roundings(variant, assemble_scalar, APL_BF16), 0);
    }
}

Test(assemble, tables_are_those_of_their_variant)
{
    cr_assert_eq(assemble_for(CPU_SCALAR), assemble_scalar);
#if defined(__x86_64__)
    cr_assert_eq(assemble_for(CPU_AVX2), assemble_avx2);
    cr_assert_eq(assemble_for(CPU_AVX512), assemble_avx512);
    cr_assert_eq(assemble_for(CPU_NEON), assemble_scalar);
#endif
}

/* The sum of the variants that are chosen for all kinds of results; each is chosen for good. */
static unsigned chosen_variants(unsigned *kinds)
{
    static const apl_dtype types[] = {APL_U8, APL_F32, APL_F16, APL_BF16};
    unsigned sum = 0;
    *kinds = 0;
    for (unsigned i = 0; i < 4 * 2 * 4 * 2; i++, ++*kinds) {
        struct assembly a = {.channels = 1 + i % 4, .height = 9, .width = 32, .out_height = 9};
        a.out_width = i / 4 % 2 ? 32 : 20;
        a.dtype = types[i / 8 % 4];
        a.layout = i / 32 ? APL_NHWC : APL_NCHW;
        enum cpu_variant variant = assemble_variant(&a);
        cr_assert(cpu_can(variant));
        cr_assert(cpu_can(CPU_SCALAR + 1) || cpu_can(CPU_NEON) || variant == CPU_SCALAR);
        cr_assert_eq(assemble_variant(&a), variant);
        sum += variant;
    }
    return sum;
}

Test(assemble, the_fastest_variant_is_chosen_once)
{
    unsigned kinds;
    cr_assert_eq(unsetenv("APL_CPU"), 0);
    cr_assert_geq(chosen_variants(&kinds), cpu_variant() == CPU_SCALAR ? 0 : kinds * CPU_AVX2);
}

Test(assemble, the_variant_that_is_forced_is_chosen)
{
    unsigned kinds;
    cr_assert_eq(setenv("APL_CPU", "scalar", 1), 0);
    cr_assert_eq(chosen_variants(&kinds), 0u);
}

Test(assemble, negative_control_a_pixel_off_is_seen)
{
    struct assembly_case c;
    case_draw(&c, 5);
    c.a = (struct assembly){.channels = 1, .height = 1, .width = 1, .out_height = 1, .out_width = 1};
    c.a.dtype = APL_U8;
    c.centred = 1;
    struct fenced a = case_run(&c, assemble_scalar, 1);
    *c.memory[0].data ^= 1;
    struct fenced b = case_run(&c, assemble_scalar, 1);
    cr_assert_neq(memcmp(a.data, b.data, CASE_PICTURES), 0);
    unfence(a);
    unfence(b);
    case_free(&c);
}

/* ------------------------------------------------------------------------------------------------ by hand */

static void assemble_one(const struct assembly *a, const uint8_t *source, const struct placement *p,
                         void *out)
{
    assemble(a, &source, p, 1, out);
}

Test(assemble, by_hand_padding)
{
    const uint8_t source[6] = {1, 2, 3, 4, 5, 6};
    struct assembly a = {.channels = 1, .height = 2, .width = 3, .pad = 1, .out_height = 3, .out_width = 4};
    struct placement p = {.top = 0, .left = 0, .cut_top = 9};
    uint8_t out[12];
    a.dtype = APL_U8;
    assemble_one(&a, source, &p, out);
    cr_assert_arr_eq(out, ((uint8_t[]){0, 0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6}), 12);
    a.pad_mode = APL_PAD_REFLECT;
    assemble_one(&a, source, &p, out);
    cr_assert_arr_eq(out, ((uint8_t[]){5, 4, 5, 6, 2, 1, 2, 3, 5, 4, 5, 6}), 12);
    p.flip = true;
    assemble_one(&a, source, &p, out);
    cr_assert_arr_eq(out, ((uint8_t[]){6, 5, 4, 5, 3, 2, 1, 2, 6, 5, 4, 5}), 12);
    p.vertical_flip = true;
    assemble_one(&a, source, &p, out);
    cr_assert_arr_eq(out, ((uint8_t[]){6, 5, 4, 5, 3, 2, 1, 2, 6, 5, 4, 5}), 12);
    a.pad_mode = APL_PAD_ZERO;
    assemble_one(&a, source, &p, out);
    cr_assert_arr_eq(out, ((uint8_t[]){6, 5, 4, 0, 3, 2, 1, 0, 0, 0, 0, 0}), 12);
    p.flip = false;
    assemble_one(&a, source, &p, out);
    cr_assert_arr_eq(out, ((uint8_t[]){0, 4, 5, 6, 0, 1, 2, 3, 0, 0, 0, 0}), 12);
    a.pad_mode = APL_PAD_REFLECT;
    p.flip = true, p.vertical_flip = false;
    p.top = 1, p.left = 1;
    assemble_one(&a, source, &p, out);
    cr_assert_arr_eq(out, ((uint8_t[]){2, 3, 2, 1, 5, 6, 5, 4, 2, 3, 2, 1}), 12);
}

Test(assemble, by_hand_middle_and_layout)
{
    const uint8_t source[12] = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16};
    struct assembly a = {.channels = 2, .height = 2, .width = 3, .out_height = 1, .out_width = 2};
    uint8_t out[4];
    a.dtype = APL_U8;
    assemble_one(&a, source, NULL, out);
    cr_assert_arr_eq(out, ((uint8_t[]){1, 2, 11, 12}), 4);
    a.layout = APL_NHWC;
    assemble_one(&a, source, NULL, out);
    cr_assert_arr_eq(out, ((uint8_t[]){1, 11, 2, 12}), 4);
}

Test(assemble, pictures_that_stay_as_they_are)
{
    const uint8_t first[8] = {1, 2, 3, 4, 5, 6, 7, 8}, second[8] = {11, 12, 13, 14, 15, 16, 17, 18};
    const uint8_t *sources[2] = {second, first};
    struct assembly a = {.channels = 2, .height = 2, .width = 2, .out_height = 2, .out_width = 2};
    uint8_t out[16];
    a.dtype = APL_U8;
    a.cutout = 2; /* without places there are no squares */
    assemble(&a, sources, NULL, 2, out);
    cr_assert_arr_eq(out, second, 8);
    cr_assert_arr_eq(out + 8, first, 8);
    a.layout = APL_NHWC;
    assemble(&a, sources, NULL, 2, out);
    cr_assert_arr_eq(out + 8, ((uint8_t[]){1, 5, 2, 6, 3, 7, 4, 8}), 8);
    a.channels = 1;
    assemble(&a, sources, NULL, 2, out);
    cr_assert_arr_eq(out, ((uint8_t[]){11, 12, 13, 14, 1, 2, 3, 4}), 8);
}

/* The square is set after scaling; a pixel of the padding is scaled like any other. */
Test(assemble, by_hand_cutout_and_scale)
{
    const uint8_t source[4] = {10, 20, 30, 40};
    struct assembly a = {.channels = 1, .height = 2, .width = 2, .pad = 1, .out_height = 2, .out_width = 3};
    struct placement p = {.top = 1, .left = 1, .cut_top = -1, .cut_left = 1};
    float out[6];
    a.dtype = APL_F32;
    a.scale[0] = 0.5f, a.bias[0] = -1, a.cutout = 2;
    assemble_one(&a, source, &p, out);
    cr_assert_arr_eq(out, ((float[]){4, 0, 0, 14, 19, -1}), sizeof out);
}

/* One rounding would give another number than two. */
Test(assemble, product_is_rounded_before_the_sum)
{
    float scale = 1 + 0x1p-12f, bias = -(float)(255 * (1 + 0x1p-12f));
    uint8_t source[40];
    memset(source, 255, sizeof source);
    for (unsigned i = 0; i < 200; i++) {
        scale = nextafterf(scale, 2);
        volatile float product = 255 * scale;
        bias = -product;
        struct assembly a = {.channels = 1, .height = 1, .width = 40, .out_height = 1, .out_width = 40};
        a.dtype = APL_F32, a.scale[0] = scale, a.bias[0] = bias;
        float out[40];
        for (int v = 0; v < CPU_VARIANTS; v++) {
            if (!cpu_can((enum cpu_variant)v))
                continue;
            assemble_for((enum cpu_variant)v)(&a, (const uint8_t *const[]){source}, NULL, 1, out);
            for (int k = 0; k < 40; k++)
                cr_assert_eq(out[k], 0.0f);
        }
    }
}

/* -------------------------------------------------------------------------------------------------- halves
 */

Test(assemble, halves_by_hand)
{
    cr_assert_eq(f16_of(0.0f), 0);
    cr_assert_eq(f16_of(-0.0f), 0x8000);
    cr_assert_eq(f16_of(1.0f), 0x3c00);
    cr_assert_eq(f16_of(1 + 0x1p-11f), 0x3c00);
    cr_assert_eq(f16_of(1 + 3 * 0x1p-11f), 0x3c02);
    cr_assert_eq(f16_of(65504.0f), 0x7bff);
    cr_assert_eq(f16_of(65519.99f), 0x7bff);
    cr_assert_eq(f16_of(65520.0f), 0x7c00);
    cr_assert_eq(f16_of(-1e30f), 0xfc00);
    cr_assert_eq(f16_of(0x1p-24f), 1);
    cr_assert_eq(f16_of(0x1p-25f), 0);
    cr_assert_eq(f16_of(0x1.000002p-25f), 1);
    cr_assert_eq(f16_of(0x1p-26f), 0);
    cr_assert_eq(f16_of(0x1.ffcp-15f), 0x3ff + 1);
    cr_assert_eq(bf16_of(1.0f), 0x3f80);
    cr_assert_eq(bf16_of(1 + 0x1p-8f), 0x3f80);
    cr_assert_eq(bf16_of(1 + 3 * 0x1p-8f), 0x3f82);
    cr_assert_eq(bf16_of(3.4028234e38f), 0x7f80);
    cr_assert_eq(bf16_of(INFINITY), 0x7f80);
    cr_assert_eq(bf16_of(0x1p-149f), 0);
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* About every f16 and bf16, every middle between two, and what drawn numbers there are. */
Test(assemble, halves_are_the_nearest)
{
    uint32_t state = 1;
    for (uint32_t i = 0; i < 0x7f800000u; i += 1u << 12) {
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t bits = k < 3 ? i + k - (i > 0) : i + draw(&state, 1u << 12);
            float value = float_of(bits);
            cr_assert_eq(f16_of(value), model_half(value, 10, -14, 0x7c00), "%a", value);
            cr_assert_eq(bf16_of(-value), model_half(-value, 7, -126, 0x7f80), "%a", value);
        }
    }
}

/* -------------------------------------------------------------------------------------------------- gather
 */

Test(assemble, gather_copies_values_of_any_size)
{
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 12, 16, 33, 3072};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        enum { ROWS = 9 };
        struct fenced from = fence(ROWS * sizes[s], 1), to = fence(ROWS * sizes[s], 1);
        const uint8_t *sources[ROWS];
        sample_fill(from.data, ROWS * sizes[s], SAMPLE_RANDOM, 1, (uint32_t)s);
        for (size_t i = 0; i < ROWS; i++)
            sources[i] = from.data + i * 4 % ROWS * sizes[s];
        gather(sources, sizes[s], ROWS, to.data);
        for (size_t i = 0; i < ROWS; i++)
            cr_assert_arr_eq(to.data + i * sizes[s], sources[i], sizes[s]);
        gather(sources, sizes[s], 0, NULL);
        unfence(from);
        unfence(to);
    }
}
