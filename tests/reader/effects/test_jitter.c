/* The parts of a jitter: each once, in any of their orders. */
#include "jitter.h"
#include "samples.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(jitter);

#define SIDE   8
#define ALL    ((size_t)SIDE * SIDE)
#define ORDERS 24

static const double factors[4] = {1.3, 0.6, 1.7, 0.15};

static void apply(unsigned part, const struct image *p)
{
    const struct colour *k = colour_for(cpu_variant());
    uint8_t spare[ALL];
    if (part == 0)
        jitter_brightness(k, p, jitter_factor(factors[0]));
    else if (part == 1)
        jitter_contrast(k, p, jitter_factor(factors[1]), spare);
    else if (part == 2)
        jitter_saturation(k, p, jitter_factor(factors[2]));
    else
        jitter_hue(k, p, factors[3]);
}

/* What each order makes of the image. */
static void make_all(const uint8_t *pixels, uint8_t made[ORDERS][3 * ALL])
{
    unsigned n = 0;
    for (unsigned a = 0; a < 256; a++) {
        const unsigned order[4] = {a & 3, a >> 2 & 3, a >> 4 & 3, a >> 6};
        struct image p = {.channels = 3, .height = SIDE, .width = SIDE};
        if ((1u << order[0] | 1u << order[1] | 1u << order[2] | 1u << order[3]) != 15)
            continue;
        p.pixels = memcpy(made[n++], pixels, 3 * ALL);
        for (unsigned i = 0; i < 4; i++)
            apply(order[i], &p);
    }
    cr_assert_eq(n, ORDERS);
}

Test(jitter, each_part_comes_once_in_any_order)
{
    static uint8_t pixels[3 * ALL], made[ORDERS][3 * ALL], is[3 * ALL], spare[ALL];
    unsigned met[ORDERS] = {0}, different = 0;
    apl_transform t = APL_TRANSFORM_INIT;
    double *const bounds[4] = {t.brightness, t.contrast, t.saturation, t.hue};
    for (unsigned i = 0; i < 4; i++)
        bounds[i][0] = bounds[i][1] = factors[i];
    t.jitter_p = 1;
    sample_fill(pixels, sizeof pixels, SAMPLE_RANDOM, SIDE, 1);
    make_all(pixels, made);
    for (uint64_t id = 0; id < 600; id++) {
        struct effect_draws draws = effect_draws(1, 2, id, 0);
        struct image p = {.pixels = is, .channels = 3, .height = SIDE, .width = SIDE};
        unsigned n = 0;
        memcpy(is, pixels, sizeof is);
        jitter_apply(colour_for(cpu_variant()), &t, &draws, &p, spare);
        while (n < ORDERS && memcmp(is, made[n], sizeof is) != 0)
            n++;
        cr_assert_lt(n, ORDERS, "record %d", (int)id);
        met[n]++;
    }
    for (unsigned n = 0; n < ORDERS; n++)
        different += met[n] > 0;
    cr_assert_gt(different, 16, "%u orders", different);
}

/* To turn the hue back by a quarter is to turn it by three. */
Test(jitter, hues_turn_back)
{
    static uint8_t back[3 * ALL], on[3 * ALL];
    struct image p = {.pixels = back, .channels = 3, .height = SIDE, .width = SIDE}, q = p;
    q.pixels = on;
    for (unsigned i = 1; i < 8; i++) {
        sample_fill(back, sizeof back, SAMPLE_RANDOM, SIDE, i);
        memcpy(on, back, sizeof on);
        jitter_hue(colour_for(cpu_variant()), &p, -0.0625 * i);
        jitter_hue(colour_for(cpu_variant()), &q, 1 - 0.0625 * i);
        cr_assert(memcmp(back, on, sizeof on) == 0, "by %u of 16", i);
    }
}
