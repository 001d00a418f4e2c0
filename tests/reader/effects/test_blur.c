/* Blurs against their definition in doubles, up to the edges, which are reflected. */
#include "blur.h"
#include "samples.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(blur);

#define MOST 40

static uint8_t before[3 * MOST * MOST], after[3 * MOST * MOST];

static int reflected(int at, int size)
{
    at = abs(at);
    return at < size ? at : 2 * (size - 1) - at;
}

static double weight(int at, int size, double sigma)
{
    double sum = 0;
    for (int k = 0; k < size; k++)
        sum += exp(-pow((k - size / 2) / sigma, 2) / 2);
    return exp(-pow((at - size / 2) / sigma, 2) / 2) / sum;
}

static double blurred(const uint8_t *plane, int width, int height, int x, int y, int across, int down,
                      double sigma)
{
    double sum = 0;
    for (int i = 0; i < down; i++)
        for (int k = 0; k < across; k++)
            sum += weight(i, down, sigma) * weight(k, across, sigma) *
                   plane[reflected(y + i - down / 2, height) * width + reflected(x + k - across / 2, width)];
    return sum;
}

static void check(int width, int height, int across, int down, double sigma)
{
    struct scratch scratch = {0};
    struct image p = {.pixels = after, .channels = 3, .height = (unsigned)height, .width = (unsigned)width};
    apl_error err;
    size_t n = image_plane(&p);
    sample_fill(before, 3 * n, SAMPLE_RANDOM, (size_t)width, (uint32_t)(width + across));
    for (size_t i = 0; i < 3 * n; i++) /* steep */
        after[i] = before[i] = before[i] < 128 ? 0 : 255;
    cr_assert_eq(blur_apply(&scratch, &p, (unsigned)across, (unsigned)down, sigma, &err), APL_OK);
    for (size_t c = 0; c < 3; c++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                double want = blurred(before + c * n, width, height, x, y, across, down, sigma);
                uint8_t is = after[c * n + (size_t)(y * width + x)];
                cr_assert(fabs(want - is) < 1.5, "%d x %d: %d, %d: %u instead of %g", across, down, x, y, is,
                          want);
            }
    scratch_free(&scratch);
}

Test(blur, is_its_definition)
{
    check(MOST, MOST, 3, 3, 0.8);
    check(17, 23, 5, 9, 1.5);
    check(23, 9, 1, 7, 2);
    check(12, 10, 23, 19, 4); /* as large as it may be */
}
