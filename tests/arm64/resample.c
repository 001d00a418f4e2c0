/* The NEON variant of resampling against the plain one. */
#include "resample.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST 700
#define EDGE 77

static uint32_t state = 1;

static uint32_t below(uint32_t bound)
{
    return (sample_random(&state) >> 4) % bound;
}

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "resample: %s differs\n", what);
    exit(1);
}

static void across(void)
{
    static uint8_t row[MOST + RESAMPLE_SLACK];
    int16_t a[256 + RESAMPLE_BLOCK], b[256 + RESAMPLE_BLOCK];
    struct resample_axis axis = {.count = 0};
    uint32_t size = 1 + below(240), samples = 1 + below(below(3) ? 2 * size : MOST);
    struct resample_span s = {0, samples, 0, samples, size, 0, size};
    for (size_t i = 0; i < sizeof row; i++)
        row[i] = (uint8_t)(below(4) ? below(256) : 255);
    must(resample_axis_make(&axis, &s, true), "memory");
    resample_scalar.across(&axis, row, a);
    resample_neon.across(&axis, row, b);
    must(memcmp(a, b, size * sizeof *a) == 0, "across");
    resample_axis_free(&axis);
}

static void draw(int16_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (int16_t)(below(8) ? below(255 * 128 + 1) : below(2) * 255 * 128);
}

static void down(void)
{
    static int16_t rows[8][256];
    const int16_t *taps[8];
    int16_t weights[8] = {0}, a[256], b[256];
    uint32_t n = 2 + 2 * below(4), left = RESAMPLE_UNIT, values = RESAMPLE_BLOCK * (1 + below(16));
    for (uint32_t k = 0; k < n; k++) {
        weights[k] = (int16_t)(k + 1 == n ? left : below(left + 1));
        left -= (uint32_t)weights[k];
        taps[k] = rows[k];
        draw(rows[k], 256);
    }
    resample_scalar.down(taps, weights, n, values, a);
    resample_neon.down(taps, weights, n, values, b);
    must(memcmp(a, b, values * sizeof *a) == 0, "down");
}

static void colours(void)
{
    static int16_t rows[3][256 + RESAMPLE_BLOCK];
    uint8_t a[3][257], b[3][257];
    const int16_t *const ycc[3] = {rows[0], rows[1], rows[2]};
    uint8_t *const first[3] = {a[0], a[1], a[2]}, *const second[3] = {b[0], b[1], b[2]};
    uint32_t n = 1 + below(256);
    memset(a, EDGE, sizeof a);
    memset(b, EDGE, sizeof b);
    for (int i = 0; i < 3; i++)
        draw(rows[i], 256 + RESAMPLE_BLOCK);
    resample_scalar.colours(ycc, n, first);
    resample_neon.colours(ycc, n, second);
    must(memcmp(a, b, sizeof a) == 0, "colours");
    resample_scalar.bytes(rows[0], n, a[0]);
    resample_neon.bytes(rows[0], n, b[0]);
    must(memcmp(a, b, sizeof a) == 0, "bytes");
}

int main(void)
{
    for (int n = 0; n < 2000; n++) {
        across();
        down();
        colours();
    }
    return 0;
}
