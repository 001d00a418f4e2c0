/* The kernels: all variants alike, and the plain one as the format says. */
#include "kernels.h"

#include <criterion/criterion.h>

Test(filter, variants_are_bit_equal)
{
    for (int v = 0; v < CPU_VARIANTS; v++) {
        const char *name = cpu_variant_name((enum cpu_variant)v);
        if (!cpu_can((enum cpu_variant)v))
            printf("skipped: this machine cannot run %s\n", name);
        else
            cr_expect_eq(compare_tables(filter_for((enum cpu_variant)v), &filter_scalar, name), 0, "%s",
                         name);
    }
}

Test(filter, tables_are_those_of_their_variant)
{
    cr_assert_eq(filter_for(CPU_SCALAR), &filter_scalar);
#if defined(__x86_64__)
    cr_assert_eq(filter_for(CPU_AVX2), &filter_avx2);
    cr_assert_eq(filter_for(CPU_AVX512), &filter_avx512);
    cr_assert_eq(filter_for(CPU_NEON), &filter_scalar);
#endif
}

/* Worked out by hand from the description in image_codec.h. */
Test(filter, residuals_of_a_small_plane)
{
    const uint8_t plane[6] = {130, 140, 135, 120, 150, 100};
    /* 130-128, 140-W, 135-W; 120-N, 150-median(120, 140, 130), 100-median(150, 135, 145) */
    const uint8_t want[6] = {2, 10, 251, 246, 20, 211};
    uint8_t got[6];
    uint64_t activity = filter_scalar.residuals(got, plane, 3, 2);
    cr_assert_arr_eq(got, want, 6);
    cr_assert_eq(activity, 2 + 10 + 5 + 10 + 12 + 12);
}

Test(filter, med_is_the_median_of_three)
{
    cr_assert_eq(filter_med(10, 20, 5), 20);
    cr_assert_eq(filter_med(10, 20, 25), 10);
    cr_assert_eq(filter_med(10, 20, 13), 17);
    cr_assert_eq(filter_med(200, 100, 150), 150);
    cr_assert_eq(filter_med(0, 0, 255), 0);
}

Test(filter, subtract_and_separate_turn_about_the_middle)
{
    uint8_t a[2] = {10, 200}, b[2] = {10, 255}, d[2];
    filter_scalar.subtract(d, a, b, 2);
    cr_assert_eq(d[0], 128);
    cr_assert_eq(d[1], 73);
    uint8_t group[2 * WAYS], out[2], *to[WAYS];
    const uint8_t *plus[WAYS];
    for (size_t w = 0; w < WAYS; w++) {
        group[w] = d[0];
        group[WAYS + w] = d[1];
        to[w] = out;
        plus[w] = b;
    }
    filter_scalar.separate(to, plus, group, 2);
    cr_assert_arr_eq(out, a, 2);
}

/* residuals, interleave, restore and separate are each other's inverse. */
Test(filter, there_and_back)
{
    enum { W = 9, H = 5, N = W * H };
    static uint8_t planes[WAYS][N], residual[WAYS][N], back[WAYS][N], group[WAYS * (N + W)];
    const uint8_t *from[WAYS];
    uint8_t *to[WAYS];
    for (int v = 0; v < CPU_VARIANTS; v++) {
        const struct filter *f = filter_for((enum cpu_variant)v);
        if (!cpu_can((enum cpu_variant)v))
            continue;
        for (size_t w = 0; w < WAYS; w++) {
            sample_fill(planes[w], N, (enum sample)(w % SAMPLES), W, (uint32_t)w);
            f->residuals(residual[w], planes[w], W, H);
            from[w] = residual[w];
            to[w] = back[w];
        }
        memset(group, FILTER_MIDDLE, WAYS * W);
        f->interleave(group + WAYS * W, from, N);
        f->restore(group + WAYS * W, W, H);
        f->separate(to, NULL, group + WAYS * W, N);
        cr_assert_arr_eq(back, planes, sizeof planes);
    }
}

/* Of one image; and add undoes subtract. */
Test(filter, there_and_back_by_planes)
{
    enum { MOST = 70 };
    static uint8_t plane[MOST * MOST], other[MOST * MOST], less[MOST * MOST], residual[MOST * MOST];
    for (int v = 0; v < CPU_VARIANTS; v++) {
        const struct filter *f = filter_for((enum cpu_variant)v);
        for (size_t w = 1; w <= MOST && cpu_can((enum cpu_variant)v); w++) {
            size_t h = 1 + w * 37 % MOST, n = w * h;
            sample_fill(plane, n, (enum sample)(w % SAMPLES), w, (uint32_t)w);
            sample_fill(other, n, (enum sample)(h % SAMPLES), w, (uint32_t)h);
            f->subtract(less, plane, other, n);
            f->residuals(residual, less, w, h);
            f->restore_plane(residual, w, h);
            f->add_back(residual, other, n);
            cr_assert_arr_eq(residual, plane, n, "%zu x %zu", w, h);
        }
    }
}
