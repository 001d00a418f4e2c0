/* Affine maps: the kernels against their definition, one pixel after another, and the draws of a record. */
#include "affine_take.h"
#include "exact.h"
#include "motion.h"
#include "random.h"

#include <criterion/criterion.h>
#include <math.h>

#define LONGEST 300
#define PLANES  3

static uint32_t drawn(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static double between(uint64_t *state, double least, double most)
{
    return least + (most - least) * drawn(state) / 0x1p31;
}

static struct affine_map some_map(uint64_t *state, uint32_t width, uint32_t height)
{
    struct affine_motion m = {.degrees = between(state, -360, 360),
                              .zoom = between(state, 0.3, 3),
                              .shear = {between(state, -60, 60), between(state, -60, 60)},
                              .centre = {between(state, -10, width + 10.0), height / 2.0},
                              .right = (int32_t)drawn(state) % 9 - 4,
                              .down = (int32_t)drawn(state) % 9 - 4};
    if (drawn(state) % 3 == 0) { /* along the axes, on the very edges of pixels */
        m = (struct affine_motion){.degrees = 90.0 * (drawn(state) % 5), .zoom = 1};
        m.centre[0] = width / 2.0;
        m.centre[1] = height / 2.0;
    }
    return affine_of(&m);
}

/* An element of the source; NULL: it lies beyond. */
static const uint8_t *element_at(const struct affine_planes *p, const uint8_t *plane, int64_t x, int64_t y)
{
    bool there = x >= 0 && x < (int64_t)p->width && y >= 0 && y < (int64_t)p->height;
    return there ? plane + ((size_t)y * p->width + (size_t)x) * p->element : NULL;
}

static uint8_t blended(const struct affine_planes *p, const uint8_t *plane, int64_t x, int64_t y,
                       const uint8_t *fill)
{
    int64_t value = 0, weight = 0, wx = (x & (AFFINE_UNIT - 1)) >> 18, wy = (y & (AFFINE_UNIT - 1)) >> 18;
    for (int i = 0; i < 4; i++) {
        const uint8_t *at = element_at(p, plane, (x >> 30) + i % 2, (y >> 30) + i / 2);
        int64_t w = (i % 2 ? wx : 4096 - wx) * (i / 2 ? wy : 4096 - wy);
        value += at ? *at * w : 0;
        weight += at ? w : 0;
    }
    if (fill)
        value = ((value - ((int64_t)*fill << 24)) * weight >> 24) + ((int64_t)*fill << 24);
    return (uint8_t)((value + (1 << 23)) >> 24);
}

static void by_definition(const struct affine_map *m, const struct affine_planes *p, const uint8_t *from,
                          const uint8_t *fill, bool bilinear, uint8_t *out)
{
    size_t plane = (size_t)p->width * p->height * p->element, half = AFFINE_UNIT / 2;
    for (unsigned k = 0; k < p->count; k++)
        for (int64_t y = 0; y < (int64_t)p->height; y++)
            for (int64_t x = 0; x < (int64_t)p->width; x++, out += p->element) {
                int64_t at_x = m->xx * x + m->xy * y + m->x0, at_y = m->yx * x + m->yy * y + m->y0;
                const uint8_t *beyond = fill ? fill + k * p->element : NULL;
                if (bilinear) {
                    *out = blended(p, from + k * plane, at_x, at_y, beyond);
                    continue;
                }
                const uint8_t *at = element_at(p, from + k * plane, (at_x + (int64_t)half) >> 30,
                                               (at_y + (int64_t)half) >> 30);
                memcpy(out, at ? at : beyond, p->element);
            }
}

static void check_case(uint64_t *state, uint32_t width, uint32_t height)
{
    static const size_t elements[] = {1, 2, 4, 8};
    size_t n = (size_t)PLANES * width * height;
    uint8_t *from = malloc(8 * n + AFFINE_BEYOND), *want = malloc(8 * n), *got = malloc(8 * n);
    uint8_t fill[8 * PLANES];
    for (size_t i = 0; i < 8 * n + AFFINE_BEYOND; i++)
        from[i] = (uint8_t)drawn(state);
    for (size_t i = 0; i < sizeof fill; i++)
        fill[i] = (uint8_t)drawn(state);
    struct affine_map m = some_map(state, width, height);
    for (int i = 0; i < 4; i++) {
        const struct affine_planes p = {PLANES, width, height, elements[i]};
        by_definition(&m, &p, from, fill, false, want);
        affine_nearest(&m, &p, from, fill, got);
        cr_assert(memcmp(want, got, n * p.element) == 0, "%u x %u, of %zu bytes", width, height, p.element);
    }
    const struct affine_planes p = {PLANES, width, height, 1};
    for (int i = 0; i < 2; i++) {
        by_definition(&m, &p, from, i ? fill : NULL, true, want);
        affine_bilinear(&m, &p, from, i ? fill : NULL, got);
        cr_assert(memcmp(want, got, n) == 0, "%u x %u, bilinear", width, height);
    }
    free(from);
    free(want);
    free(got);
}

Test(affine, kernels_are_their_definition)
{
    uint64_t state = 5;
    for (uint32_t i = 0; i < 60; i++)
        check_case(&state, 1 + drawn(&state) % 40, 1 + drawn(&state) % 40);
    check_case(&state, LONGEST, 9);
    check_case(&state, 7, LONGEST);
    check_case(&state, 1, 1);
}

Test(affine, variants_blend_to_the_same_bytes)
{
    static uint8_t plane[64 * 64 + AFFINE_BEYOND], want[AFFINE_RUN], got[AFFINE_RUN + 1];
    struct affine_run run;
    uint64_t state = 6;
    for (size_t i = 0; i < sizeof plane; i++)
        plane[i] = drawn(&state) % 3 ? (uint8_t)drawn(&state) : 255;
    for (uint32_t n = 0; n <= AFFINE_RUN; n += n < 40 ? 1 : 54)
        for (int v = 0; v < CPU_VARIANTS; v++) {
            run.count = n;
            for (uint32_t i = 0; i < n; i++) {
                run.at[i] = drawn(&state) % 63 * 64 + drawn(&state) % 63;
                run.right[i] = drawn(&state) % 4096;
                run.low[i] = drawn(&state) % 4096;
            }
            got[n] = 7;
            affine_blend_scalar(&run, plane, 64, want);
            if (cpu_can((enum cpu_variant)v))
                affine_blend_for((enum cpu_variant)v)(&run, plane, 64, got);
            cr_assert(got[n] == 7 && (!cpu_can((enum cpu_variant)v) || memcmp(want, got, n) == 0));
        }
}

Test(affine, sines_are_right)
{
    const double radian = acos(-1) / 180;
    for (double d = -720; d <= 720; d += 0.37) {
        cr_assert(fabs(exact_sine(d) - sin(d * radian)) < 2e-14);
        cr_assert(fabs(exact_cosine(d) - cos(d * radian)) < 2e-14);
    }
    cr_assert(exact_cosine(90) == 0 && exact_sine(-90) == -1 && exact_sine(180) == 0);
}

Test(affine, a_point_goes_where_its_pixel_goes)
{
    uint64_t state = 9;
    for (int i = 0; i < 50; i++) {
        struct affine_map m = some_map(&state, 50, 40);
        double x = drawn(&state) % 50, y = drawn(&state) % 40, to[2], unit = (double)AFFINE_UNIT;
        const double from[2] = {((double)m.xx * x + (double)m.xy * y + (double)m.x0) / unit + 0.5,
                                ((double)m.yx * x + (double)m.yy * y + (double)m.y0) / unit + 0.5};
        affine_point(&m, from, to);
        cr_assert(fabs(to[0] - x - 0.5) < 1e-5 && fabs(to[1] - y - 0.5) < 1e-5);
    }
}

/* ------------------------------------------------------------------------------------------------ draws */

static struct affine_map drawn_map(const apl_transform *t, uint64_t seed, uint64_t id, bool *moved)
{
    struct affine_map m = {.xx = 0};
    struct effect_draws draws = effect_draws(seed, 3, id, 0);
    *moved = motion_draw(t, &draws, 40, 100, &m);
    return m;
}

Test(affine, draws_stay_within_their_ranges)
{
    apl_transform t = APL_TRANSFORM_INIT;
    double most = 0, least = 0;
    int32_t right = 0, moves = 0;
    bool moved;
    t.affine_degrees[0] = -30;
    t.affine_degrees[1] = 10;
    t.affine_p = 0.5;
    cr_assert_eq(motion_check("image", 3, &t, NULL), APL_OK);
    for (uint64_t id = 0; id < 2000; id++) {
        struct affine_map m = drawn_map(&t, 1, id, &moved);
        double degrees = moved ? atan2((double)m.xy, (double)m.xx) * 180 / acos(-1) : 0;
        moves += moved;
        most = fmax(most, degrees);
        least = fmin(least, degrees);
    }
    cr_assert(least >= -30 && least < -29.8 && most <= 10 && most > 9.8, "%g ... %g", least, most);
    cr_assert(abs(moves - 1000) < 120, "%d", moves);
    t = (apl_transform)APL_TRANSFORM_INIT;
    t.affine_translate[0] = 0.05;
    cr_assert_eq(motion_check("image", 3, &t, NULL), APL_OK);
    for (uint64_t id = 0; id < 2000; id++) {
        struct affine_map m = drawn_map(&t, 1, id, &moved);
        cr_assert(moved && m.xx == AFFINE_UNIT && m.y0 == 0 && m.x0 % AFFINE_UNIT == 0);
        cr_assert(llabs(m.x0) <= 5 * AFFINE_UNIT);
        right += m.x0 == -5 * AFFINE_UNIT; /* half as often as others */
    }
    cr_assert(abs(right - 100) < 50, "%d", right);
}

Test(affine, draws_never_change)
{
    apl_transform t = APL_TRANSFORM_INIT;
    bool moved;
    t.affine_degrees[0] = -30, t.affine_degrees[1] = 30;
    t.affine_translate[0] = t.affine_translate[1] = 0.2;
    t.affine_scale[0] = 0.5, t.affine_scale[1] = 2;
    t.affine_shear[0] = -10, t.affine_shear[1] = 10, t.affine_shear[3] = 20;
    cr_assert_eq(motion_check("image", 3, &t, NULL), APL_OK);
    struct affine_map m = drawn_map(&t, 7, 12345, &moved);
    const int64_t want[6] = {542533209, 204547901, 23195444471, 4698176, 580451286, 13445066605};
    cr_assert(moved && memcmp(&m, want, sizeof want) == 0, "%lld, %lld, %lld, %lld, %lld, %lld",
              (long long)m.xx, (long long)m.xy, (long long)m.x0, (long long)m.yx, (long long)m.yy,
              (long long)m.y0);
}

#define REFUSED(word, change)                                                           \
    do {                                                                                \
        apl_transform t = APL_TRANSFORM_INIT;                                           \
        apl_error err = {0};                                                            \
        change;                                                                         \
        cr_assert_eq(motion_check("image", 3, &t, &err), APL_E_INVALID);                \
        cr_assert(strstr(err.message, word), "\"%s\" lacks \"%s\"", err.message, word); \
    } while (0)

Test(affine, what_cannot_be_is_refused)
{
    apl_transform four = APL_TRANSFORM_INIT;
    REFUSED("affine_degrees from 2 to 1", (t.affine_degrees[0] = 2, t.affine_degrees[1] = 1));
    REFUSED("affine_degrees", t.affine_degrees[1] = 361);
    REFUSED("affine_scale from 0 to 2", t.affine_scale[1] = 2);
    REFUSED("affine_scale", (t.affine_scale[0] = 1, t.affine_scale[1] = INFINITY));
    REFUSED("shear of x", t.affine_shear[1] = 81);
    REFUSED("shear of y", t.affine_shear[2] = NAN);
    REFUSED("fractions", t.affine_translate[1] = 1.1);
    REFUSED("affine_centre", (t.affine_about = 1, t.affine_centre[0] = NAN));
    REFUSED("affine_fill[2] is 256", t.affine_fill[2] = 256);
    REFUSED("affine_p", t.affine_p = -1);
    REFUSED("interpolation", t.affine_interpolation = (apl_interpolation)2);
    four.affine_degrees[1] = 5;
    cr_assert_eq(motion_check("image", 4, &four, NULL), APL_E_INVALID);
}
