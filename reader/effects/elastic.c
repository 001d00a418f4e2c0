/* Noise, smoothed down and then across by sums in one order, so that every machine rounds alike: see elastic.h. */
#include "elastic.h"

#include "exact.h"
#include "ranges.h"
#include "status.h"

#include <string.h>

#define WEIGHTS (8 * (int)ELASTIC_SIGMA + 2)

bool elastic_any(const apl_transform *t)
{
    return t->elastic_alpha[0] != 0 || t->elastic_alpha[1] != 0;
}

/* Weights to each side of the middle of the kernel. */
static int32_t blur_reach(double sigma)
{
    return ((int32_t)(8 * sigma + 1)) / 2;
}

static apl_status check_smoothing(const char *field, const apl_transform *t, apl_error *err)
{
    const double *sigma = t->elastic_sigma;
    for (int i = 0; i < 2; i++)
        if (!(sigma[i] >= 0 && sigma[i] <= ELASTIC_SIGMA) || (sigma[0] > 0) != (sigma[1] > 0))
            return fail(err, APL_E_INVALID,
                        "field %s: elastic_sigma of %g and %g; wanted: two of 0, or above 0 to %g", field,
                        sigma[0], sigma[1], ELASTIC_SIGMA);
    uint32_t side = t->crop_width < t->crop_height ? t->crop_width : t->crop_height;
    int32_t reach = blur_reach(sigma[0] > sigma[1] ? sigma[0] : sigma[1]);
    if (elastic_any(t) && reach >= (int64_t)side)
        return fail(
            err, APL_E_INVALID,
            "field %s: an elastic_sigma of %g and %g smooths over %d pixels to each side, and crops are "
            "%u x %u",
            field, sigma[0], sigma[1], reach, t->crop_width, t->crop_height);
    return APL_OK;
}

apl_status elastic_check(const char *field, unsigned channels, apl_transform *t, apl_error *err)
{
    for (int i = 0; i < 2; i++)
        if (!(t->elastic_alpha[i] >= 0 && t->elastic_alpha[i] <= ELASTIC_ALPHA))
            return fail(err, APL_E_INVALID, "field %s: elastic_alpha of %g; wanted: 0 to %g", field,
                        t->elastic_alpha[i], ELASTIC_ALPHA);
    if (!range_is_probability(t->elastic_p))
        return fail(err, APL_E_INVALID, "field %s: elastic_p is a probability, from 0 to 1, not %g", field,
                    t->elastic_p);
    if ((unsigned)t->elastic_interpolation > APL_BILINEAR)
        return fail(err, APL_E_INVALID, "field %s: elastic by an interpolation that there is not", field);
    for (unsigned c = 0; c < channels; c++)
        if (!(t->elastic_fill[c] >= 0 && t->elastic_fill[c] <= 255))
            return fail(err, APL_E_INVALID, "field %s: elastic_fill[%u] is %g; wanted: 0 to 255", field, c,
                        (double)t->elastic_fill[c]);
    t->elastic_p = t->elastic_p > 0 ? t->elastic_p : 1;
    t->elastic_blend = t->elastic_blend != 0;
    TRY(check_smoothing(field, t, err));
    if (!elastic_any(t) || channels == 1 || channels == 3)
        return APL_OK;
    return fail(err, APL_E_INVALID, "field %s: elastic is for images of 1 or 3 channels; these have %u",
                field, channels);
}

bool elastic_happens(const apl_transform *t, const struct effect_draws *draws)
{
    uint32_t words[4];
    if (!elastic_any(t))
        return false;
    effect_words(draws, DRAW_ELASTIC, words);
    return effect_happens(words[0], t->elastic_p);
}

/* -1 to 1, uniformly, in steps of 2^-23, which a float holds. */
static void draw_noise(const struct effect_draws *draws, uint32_t first, size_t n, float *to)
{
    uint32_t words[4];
    for (size_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            effect_words(draws, first + (uint32_t)(i / 4), words);
        to[i] = (float)(int32_t)(words[i % 4] >> 8) * 0x1p-23f - 1;
    }
}

/* Of a Gaussian, which add up to `sum`. */
static void smoothing_weights(double sigma, int32_t reach, double sum, float weights[WEIGHTS])
{
    double values[WEIGHTS], total = 0;
    for (int32_t k = -reach; k <= reach; k++) {
        double power = k * (double)k / (2 * sigma * sigma);
        values[k + reach] = power < 100 ? exact_exp(-power) : 0;
        total += values[k + reach];
    }
    for (int32_t k = 0; k <= 2 * reach; k++)
        weights[k] = (float)(values[k] / total * sum);
}

static size_t reflected_row(int32_t at, uint32_t size)
{
    int32_t last = (int32_t)size - 1;
    at = at < 0 ? -at : at;
    return (size_t)(at <= last ? at : 2 * last - at);
}

/* A plane of noise, and where it goes: `row` has room for one that is mirrored at both ends. */
struct smoothing {
    uint32_t width, height;
    int32_t reach;
    const float *noise;
    float *row;
    float across[WEIGHTS], down[WEIGHTS];
};

static void smooth_row(const struct smoothing *s, uint32_t y, float *out)
{
    float *middle = s->row + s->reach;
    memset(middle, 0, s->width * sizeof *middle);
    for (int32_t k = -s->reach; k <= s->reach; k++) {
        const float *from = s->noise + reflected_row((int32_t)y + k, s->height) * s->width;
        float weight = s->down[k + s->reach];
        for (uint32_t x = 0; x < s->width; x++)
            middle[x] += weight * from[x];
    }
    for (int32_t k = 1; k <= s->reach; k++) {
        middle[-k] = middle[reflected_row(-k, s->width)];
        middle[(int32_t)s->width - 1 + k] = middle[reflected_row((int32_t)s->width - 1 + k, s->width)];
    }
    memset(out, 0, s->width * sizeof *out);
    for (int32_t k = 0; k <= 2 * s->reach; k++)
        for (uint32_t x = 0; x < s->width; x++)
            out[x] += s->across[k] * s->row[x + (uint32_t)k];
}

/* Grids of torch are two units wide: half of alpha is in pixels. Kernels are as long both ways as the sigma of that direction asks for. */
static void draw_plane(struct smoothing *s, const apl_transform *t, int way, float *noise, float *out)
{
    size_t n = (size_t)s->width * s->height;
    const double *sigma = t->elastic_sigma, pixels = t->elastic_alpha[way] / 2;
    s->noise = noise;
    s->reach = blur_reach(sigma[way]);
    if (sigma[way] > 0) {
        smoothing_weights(sigma[0], s->reach, pixels, s->across);
        smoothing_weights(sigma[1], s->reach, 1, s->down);
        for (uint32_t y = 0; y < s->height; y++)
            smooth_row(s, y, out + (size_t)y * s->width);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = noise[i] * (float)pixels;
}

apl_status elastic_draw(struct scratch *scratch, const apl_transform *t, const struct effect_draws *draws,
                        uint32_t height, uint32_t width, struct elastic *field, apl_error *err)
{
    size_t n = (size_t)width * height;
    float *room = (float *)scratch_reserve(scratch, (3 * n + width + WEIGHTS) * sizeof *room);
    if (!room)
        return fail_nomem(err);
    float *right = room, *down = room + n, *noise = room + 2 * n;
    struct smoothing s = {.width = width, .height = height, .row = room + 3 * n};
    draw_noise(draws, DRAW_ELASTIC_RIGHT, n, noise);
    draw_plane(&s, t, 0, noise, right);
    draw_noise(draws, DRAW_ELASTIC_DOWN, n, noise);
    draw_plane(&s, t, 1, noise, down);
    *field = (struct elastic){right, down, width, height};
    return APL_OK;
}

static void elastic_find(const void *of, uint32_t row, uint32_t column, struct warp_places *places)
{
    const struct elastic *e = of;
    size_t at = (size_t)row * e->width + column;
    for (uint32_t i = 0; i < places->count; i++) {
        places->x[i] = warp_place((double)(column + i) + (double)e->right[at + i], e->width);
        places->y[i] = warp_place((double)row + (double)e->down[at + i], e->height);
    }
}

/* torchvision's approximation: the corner, rounded up, less what its pixel is moved by. */
static void elastic_point(const void *of, const double from[2], double to[2])
{
    const struct elastic *e = of;
    double x = ceil(from[0]), y = ceil(from[1]);
    x = x > 0 ? x < e->width - 1.0 ? x : e->width - 1.0 : 0;
    y = y > 0 ? y < e->height - 1.0 ? y : e->height - 1.0 : 0;
    size_t at = (size_t)y * e->width + (size_t)x;
    to[0] = x - (double)e->right[at];
    to[1] = y - (double)e->down[at];
}

struct warp elastic_warp(const struct elastic *field)
{
    return (struct warp){elastic_find, elastic_point, field};
}
