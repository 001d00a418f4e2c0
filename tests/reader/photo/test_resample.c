/* Resampling against Pillow's algorithm in double precision; and the variants against the plain one. */
#include "resample.h"

#include "samples.h"

#include <criterion/criterion.h>
#include <math.h>

#define MOST 700

static uint32_t below(uint32_t *state, uint32_t bound)
{
    return (sample_random(state) >> 4) % bound;
}

/* The results of a span, in doubles: a triangle around each middle, samples beyond low ... high left out. */
static void model(const struct resample_span *s, const uint8_t *row, double *out)
{
    double scale = (s->end - s->begin) / s->size, support = scale < 1 ? 1 : scale;
    for (uint32_t i = 0; i < s->count; i++) {
        double centre = s->begin + (s->from + i + 0.5) * scale, sum = 0, weights = 0;
        for (uint32_t k = s->low; k < s->high; k++) {
            double weight = fmax(0, 1 - fabs((k + 0.5 - centre) / support));
            weights += weight;
            sum += weight * row[k];
        }
        out[i] = sum / weights;
    }
}

/* Sizes at which a result takes one sample or hundreds; boxes with whole edges and such as chroma has. */
static struct resample_span draw_span(uint32_t *state)
{
    static const uint32_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 31, 64, 100, 224, 225};
    struct resample_span s = {.size = sizes[below(state, 12)]};
    uint32_t samples = 1 + below(state, below(state, 3) ? 2 * s.size : MOST - 100), part = below(state, 4);
    s.low = below(state, 50);
    s.high = s.low + samples;
    s.begin = s.low + (part & 1 ? 0.5 : 0);
    s.end = s.high - (part & 2 ? 0.5 : 0);
    if (s.end <= s.begin)
        s.begin = s.low;
    s.from = below(state, s.size);
    s.count = 1 + below(state, s.size - s.from);
    return s;
}

static void fill(uint32_t *state, uint8_t *row, size_t n)
{
    unsigned kind = below(state, 3);
    for (size_t i = 0; i < n; i++)
        row[i] = kind == 0   ? (uint8_t)(sample_random(state) >> 9)
                 : kind == 1 ? (uint8_t)(below(state, 2) * 255)
                             : (uint8_t)(i * 3);
}

Test(resample, across_is_what_pillow_computes)
{
    static uint8_t row[MOST + RESAMPLE_SLACK];
    static int16_t out[256 + RESAMPLE_BLOCK];
    static double exact[256];
    struct resample_axis axis = {.count = 0};
    uint32_t state = 1;
    for (int n = 0; n < 3000; n++) {
        struct resample_span s = draw_span(&state);
        fill(&state, row, sizeof row);
        cr_assert(resample_axis_make(&axis, &s, true));
        resample_scalar.across(&axis, row, out);
        model(&s, row, exact);
        double bound =
            0.02 + 255.0 * axis.taps / RESAMPLE_UNIT / 2; /* each weight is rounded to one in 2^14 */
        for (uint32_t i = 0; i < s.count; i++)
            cr_assert(fabs(out[i] / 128.0 - exact[i]) <= bound, "%u of %u of %u, %u taps: %f, not %f", i,
                      s.count, s.size, axis.taps, out[i] / 128.0, exact[i]);
    }
    resample_axis_free(&axis);
}

/* Not even for nothing, but for one where a row has fewer than all take. */
Test(resample, no_sample_behind_the_last_is_read)
{
    uint32_t state = 6;
    for (unsigned round = 0; round < 300; round++) {
        struct resample_span s = draw_span(&state);
        struct resample_axis axis = {.count = 0};
        cr_assert(resample_axis_make(&axis, &s, true));
        for (uint32_t i = 0; i < axis.count; i++)
            cr_assert_leq(axis.first[i] + axis.taps, s.high + (axis.taps > s.high - s.low), "round %u",
                          round);
        resample_axis_free(&axis);
    }
}

Test(resample, weights_sum_up_to_one)
{
    struct resample_axis axis = {.count = 0};
    uint32_t state = 2;
    for (int n = 0; n < 2000; n++) {
        struct resample_span s = draw_span(&state);
        cr_assert(resample_axis_make(&axis, &s, false));
        cr_assert(axis.taps % 2 == 0 && axis.count == s.count && !axis.steps);
        for (uint32_t i = 0; i < s.count; i++) {
            int sum = 0;
            for (uint32_t k = 0; k < axis.taps; k++) {
                int weight = axis.weights[(size_t)i * axis.taps + k];
                cr_assert(weight >= 0 &&
                          (weight == 0 || (axis.first[i] + k >= s.low && axis.first[i] + k < s.high)));
                sum += weight;
            }
            cr_assert_eq(sum, RESAMPLE_UNIT);
            cr_assert(i == 0 || axis.first[i] >= axis.first[i - 1]);
        }
    }
    resample_axis_free(&axis);
}

/* Whole images: across, then down, to bytes. At the scales at which images are resampled, one level off at most, and that seldom. */
Test(resample, images_are_what_pillow_computes)
{
    static uint8_t image[120][128 + RESAMPLE_SLACK], got[256];
    static int16_t rows[120][64 + RESAMPLE_BLOCK], out[64 + RESAMPLE_BLOCK];
    static double columns[120][64];
    const struct resample_span x = {5.5, 101, 5, 101, 61, 3, 50}, y = {0, 119, 0, 119, 50, 0, 50};
    struct resample_axis across = {.count = 0}, down = {.count = 0};
    uint32_t state = 3;
    cr_assert(resample_axis_make(&across, &x, true) && resample_axis_make(&down, &y, false));
    for (int r = 0; r < 120; r++) {
        fill(&state, image[r], sizeof image[r]);
        resample_scalar.across(&across, image[r], rows[r]);
        model(&x, image[r], columns[r]);
    }
    for (uint32_t i = 0; i < y.count; i++) {
        const int16_t *taps[64];
        for (uint32_t k = 0; k < down.taps; k++)
            taps[k] = rows[down.first[i] + k < 120 ? down.first[i] + k : 119];
        resample_scalar.down(taps, down.weights + (size_t)i * down.taps, down.taps, 64, out);
        resample_scalar.bytes(out, x.count, got);
        for (uint32_t c = 0; c < x.count; c++) {
            double scale = 119 / 50.0, centre = (i + 0.5) * scale, sum = 0, weights = 0;
            for (int r = 0; r < 119; r++) {
                double weight = fmax(0, 1 - fabs((r + 0.5 - centre) / scale));
                weights += weight;
                sum += weight * columns[r][c];
            }
            cr_assert(fabs(got[c] - sum / weights) <= 0.55, "row %u, column %u: %u, not %f", i, c, got[c],
                      sum / weights);
        }
    }
    resample_axis_free(&across);
    resample_axis_free(&down);
}

Test(resample, what_keeps_its_size_stays_as_it_is)
{
    uint8_t row[256 + RESAMPLE_SLACK], bytes[256];
    int16_t out[256];
    const int16_t weights[2] = {RESAMPLE_UNIT, 0}, *const rows[2] = {out, out};
    const struct resample_span s = {0, 256, 0, 256, 256, 0, 256};
    struct resample_axis axis = {.count = 0};
    for (int i = 0; i < 256; i++)
        row[i] = (uint8_t)i;
    cr_assert(resample_axis_make(&axis, &s, true));
    resample_scalar.across(&axis, row, out);
    resample_scalar.down(rows, weights, 2, 256, out);
    resample_scalar.bytes(out, 256, bytes);
    cr_assert_arr_eq(bytes, row, 256);
    resample_axis_free(&axis);
}

Test(resample, colours_are_those_of_jfif)
{
    for (int y = 0; y < 256; y += 5)
        for (int cb = 0; cb < 256; cb += 3)
            for (int cr = 0; cr < 256; cr += 3) {
                int16_t in[3] = {(int16_t)(y * 128), (int16_t)(cb * 128), (int16_t)(cr * 128)};
                const int16_t *const rows[3] = {in, in + 1, in + 2};
                uint8_t out[3], *const rgb[3] = {out, out + 1, out + 2};
                resample_scalar.colours(rows, 1, rgb);
                const double exact[3] = {y + 1.402 * (cr - 128),
                                         y - 0.344136 * (cb - 128) - 0.714136 * (cr - 128),
                                         y + 1.772 * (cb - 128)};
                for (int i = 0; i < 3; i++)
                    cr_assert(fabs(out[i] - fmin(255, fmax(0, exact[i]))) <= 0.53, "%d %d %d: %u, not %f", y,
                              cb, cr, out[i], exact[i]);
            }
}

/* --------------------------------------------------------------------------------------------- variants */

#define EDGE 77 /* what stays around a result */

static void same_across(const struct resample *r, uint32_t *state)
{
    static uint8_t row[MOST + RESAMPLE_SLACK];
    int16_t a[256 + RESAMPLE_BLOCK], b[256 + RESAMPLE_BLOCK];
    struct resample_axis axis = {.count = 0};
    struct resample_span s = draw_span(state);
    fill(state, row, sizeof row);
    cr_assert(resample_axis_make(&axis, &s, true));
    resample_scalar.across(&axis, row, a);
    r->across(&axis, row, b);
    cr_assert_arr_eq(a, b, s.count * sizeof *a);
    resample_axis_free(&axis);
}

static void draw_values(uint32_t *state, int16_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (int16_t)(below(state, 8) ? below(state, 255 * 128 + 1) : below(state, 2) * 255 * 128);
}

static void same_down(const struct resample *r, uint32_t *state)
{
    static int16_t rows[8][256];
    const int16_t *taps[8];
    int16_t weights[8] = {0}, a[256 + 1], b[256 + 1];
    uint32_t n = 2 + 2 * below(state, 4), left = RESAMPLE_UNIT,
             values = RESAMPLE_BLOCK * (1 + below(state, 16));
    for (uint32_t k = 0; k < n; k++) {
        weights[k] = (int16_t)(k + 1 == n ? left : below(state, left + 1));
        left -= (uint32_t)weights[k];
        taps[k] = rows[k];
        draw_values(state, rows[k], 256);
    }
    a[values] = b[values] = EDGE;
    resample_scalar.down(taps, weights, n, values, a);
    r->down(taps, weights, n, values, b);
    cr_assert_arr_eq(a, b, (values + 1) * sizeof *a);
    cr_assert_eq(b[values], EDGE);
}

static void same_bytes(const struct resample *r, uint32_t *state)
{
    static int16_t rows[3][256 + RESAMPLE_BLOCK];
    uint8_t a[3][257], b[3][257];
    const int16_t *const ycc[3] = {rows[0], rows[1], rows[2]};
    uint8_t *const first[3] = {a[0], a[1], a[2]}, *const second[3] = {b[0], b[1], b[2]};
    uint32_t n = 1 + below(state, 256);
    memset(a, EDGE, sizeof a);
    memset(b, EDGE, sizeof b);
    for (int i = 0; i < 3; i++)
        draw_values(state, rows[i], 256 + RESAMPLE_BLOCK);
    resample_scalar.colours(ycc, n, first);
    r->colours(ycc, n, second);
    cr_assert_arr_eq(a, b, sizeof a);
    resample_scalar.bytes(rows[0], n, a[0]);
    r->bytes(rows[0], n, b[0]);
    cr_assert_arr_eq(a, b, sizeof a);
    cr_assert(n == 256 || b[0][n] == EDGE);
}

Test(resample, variants_give_the_same)
{
    uint32_t state = 4;
    for (int v = CPU_SCALAR; v < CPU_VARIANTS; v++) {
        const struct resample *r = resample_for((enum cpu_variant)v);
        for (int n = 0; n < 1500 && cpu_can((enum cpu_variant)v); n++) {
            same_across(r, &state);
            same_down(r, &state);
            same_bytes(r, &state);
        }
    }
}
