/* Tables of values and sharpness, against the definitions of Pillow and torchvision. */
#include "samples.h"
#include "tone.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(tone);

#define SIDE 24
#define ALL  ((size_t)SIDE * SIDE)

static uint8_t before[3 * ALL], after[3 * ALL];

/* Noise, of which the values are from `least` on, every `step`. */
static struct image drawn(unsigned least, unsigned step, uint32_t seed)
{
    sample_fill(before, sizeof before, SAMPLE_RANDOM, SIDE, seed);
    for (size_t i = 0; i < sizeof before; i++)
        before[i] = (uint8_t)(least + before[i] % ((255 - least) / step + 1) * step);
    memcpy(after, before, sizeof after);
    return (struct image){.pixels = after, .channels = 3, .height = SIDE, .width = SIDE};
}

Test(tone, solarize_inverts_from_the_threshold_on)
{
    for (unsigned threshold = 0; threshold <= 256; threshold += 32) {
        struct image p = drawn(0, 1, threshold);
        tone_solarize(&p, threshold);
        for (size_t i = 0; i < sizeof after; i++)
            cr_assert_eq(after[i], before[i] >= threshold ? 255 - before[i] : before[i]);
    }
}

Test(tone, posterize_keeps_the_highest_bits)
{
    for (unsigned bits = 0; bits <= 8; bits++) {
        struct image p = drawn(0, 1, bits);
        tone_posterize(&p, bits);
        for (size_t i = 0; i < sizeof after; i++)
            cr_assert_eq(after[i], before[i] >> (8 - bits) << (8 - bits));
    }
}

/* As ImageOps.equalize() of Pillow has it. */
static void equalized(const uint8_t *plane, uint8_t *out)
{
    unsigned counts[256] = {0}, last = 0, step, n;
    for (size_t i = 0; i < ALL; i++) {
        counts[plane[i]]++;
        last = plane[i] > last ? plane[i] : last;
    }
    step = (unsigned)(ALL - counts[last]) / 255;
    n = step / 2;
    for (unsigned v = 0; v < 256; n += counts[v++])
        for (size_t i = 0; i < ALL; i++)
            if (plane[i] == v)
                out[i] = step ? (uint8_t)(n / step < 255 ? n / step : 255) : plane[i];
}

Test(tone, equalize_is_that_of_pillow)
{
    static const unsigned steps[] = {1, 5, 20, 85, 255};
    for (unsigned i = 0; i < 15; i++) {
        struct image p = drawn(i % 3 * 40, steps[i / 3], i + 1);
        uint8_t want[ALL];
        tone_equalize(&p);
        for (size_t c = 0; c < 3; c++) {
            equalized(before + c * ALL, want);
            cr_assert(memcmp(after + c * ALL, want, ALL) == 0, "image %u, channel %zu", i, c);
        }
    }
}

Test(tone, autocontrast_stretches_each_channel)
{
    struct image p = drawn(60, 1, 3);
    for (size_t i = 0; i < ALL; i++) { /* of one channel */
        before[i] = after[i] = (uint8_t)(100 + before[i] % 20);
        before[2 * ALL + i] = after[2 * ALL + i] = 77; /* and one of one value */
    }
    tone_autocontrast(&p);
    for (size_t i = 0; i < ALL; i++) {
        double want = (before[i] - 100) * 255.0 / 19;
        cr_assert(after[i] <= want + 1e-3 && after[i] > want - 1.001, "%u becomes %u", before[i], after[i]);
        cr_assert_eq(after[2 * ALL + i], 77);
    }
}

/* A pixel and its neighbours, 5 and 1 each, rounded; pixels at the edge stay. */
Test(tone, sharpness_0_is_smooth)
{
    struct image p = drawn(0, 1, 9);
    tone_sharpen(&p, before, 0);
    for (size_t c = 0; c < 3; c++)
        for (size_t y = 0; y < SIDE; y++)
            for (size_t x = 0; x < SIDE; x++) {
                const uint8_t *at = before + c * ALL + y * SIDE + x;
                unsigned sum = 4u * *at;
                bool edge = x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1;
                for (int dy = -1; !edge && dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        sum += at[dy * SIDE + dx];
                unsigned want = edge ? *at : (unsigned)floor(sum / 13.0 + 0.5);
                cr_assert_eq(after[at - before], want, "%zu, %zu", x, y);
            }
}

Test(tone, sharpness_1_is_the_image)
{
    struct image p = drawn(0, 1, 9);
    tone_sharpen(&p, before, COLOUR_UNIT);
    cr_assert(memcmp(before, after, sizeof after) == 0);
}
