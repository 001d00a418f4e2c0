/* Which samples each result takes, and how much of each; and which variant runs. */
#include "resample.h"

#include <math.h>

#define REACH      16 /* bytes of which a step picks its samples */
#define NONE       0x80
#define REMEMBERED 32

const struct resample *resample_for(enum cpu_variant variant)
{
    switch (variant) {
#if defined(__x86_64__)
    case CPU_AVX2:
        return &resample_avx2;
    case CPU_AVX512:
        return &resample_avx512;
#elif defined(__aarch64__)
    case CPU_NEON:
        return &resample_neon;
#endif
    default:
        return &resample_scalar;
    }
}

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The filter along an axis, in samples from span->low on. */
struct triangle {
    double begin, scale, support;
    uint32_t samples;
};

struct reach {
    uint32_t first, end;
    double centre;
};

static struct triangle triangle_of(const struct resample_span *span)
{
    double scale = (span->end - span->begin) / span->size;
    return (struct triangle){.begin = span->begin - span->low,
                             .scale = scale,
                             .support = scale < 1 ? 1 : scale,
                             .samples = span->high - span->low};
}

/* The samples whose middles are within the filter, to one more or less, whose weight is 0. */
static struct reach reach_of(const struct triangle *t, uint32_t result)
{
    double centre = t->begin + (result + 0.5) * t->scale;
    double first = centre - t->support + 0.5, end = centre + t->support + 0.5;
    struct reach r = {.centre = centre,
                      .first = first <= 0           ? 0
                               : first < t->samples ? (uint32_t)first
                                                    : t->samples - 1,
                      .end = end >= t->samples ? t->samples
                             : end < 1         ? 1
                                               : (uint32_t)end};
    if (r.end <= r.first)
        r.end = r.first + 1;
    return r;
}

static double height_at(const struct triangle *t, const struct reach *r, uint32_t sample)
{
    double height = 1 - fabs((sample + 0.5 - r->centre) / t->support);
    return height < 0 ? 0 : height;
}

/* Rounded so that they sum up to RESAMPLE_UNIT, each within one of what it should be. Heights take a division each: the first ones
 * are remembered. */
static void weigh(const struct triangle *t, const struct reach *r, int16_t *weights)
{
    double height[REMEMBERED], sum = 0, so_far = 0;
    uint32_t taps = r->end - r->first, few = least_of(taps, REMEMBERED);
    int32_t given = 0;
    for (uint32_t k = 0; k < few; k++)
        sum += height[k] = height_at(t, r, r->first + k);
    for (uint32_t k = few; k < taps; k++)
        sum += height_at(t, r, r->first + k);
    for (uint32_t k = 0; k < taps; k++) {
        so_far += k < few ? height[k] : height_at(t, r, r->first + k);
        int32_t upto =
            k + 1 == taps || sum <= 0 ? RESAMPLE_UNIT : (int32_t)(so_far / sum * RESAMPLE_UNIT + 0.5);
        *weights++ = (int16_t)(upto - given);
        given = upto;
    }
}

static uint32_t most_taps(const struct triangle *t, const struct resample_span *span)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < span->count; i++) {
        struct reach r = reach_of(t, span->from + i);
        most = r.end - r.first > most ? r.end - r.first : most;
    }
    return most + most % 2;
}

/* False: the samples lie too far apart. */
static bool make_step(const struct resample_axis *axis, uint32_t group, uint32_t tap,
                      struct resample_step *step)
{
    for (uint32_t lane = 0; lane < RESAMPLE_LANES; lane++) {
        uint32_t i = group * RESAMPLE_LANES + lane, from = axis->first[least_of(i, axis->count - 1)] + tap;
        uint32_t half = lane / (RESAMPLE_LANES / 2);
        if (lane % (RESAMPLE_LANES / 2) == 0)
            step->from[half] = from;
        uint32_t index = from - step->from[half];
        if (index + 1 >= REACH)
            return false;
        memcpy(step->index + 4 * lane, (uint8_t[4]){(uint8_t)index, NONE, (uint8_t)(index + 1), NONE}, 4);
        for (int k = 0; k < 2; k++)
            step->weights[2 * lane + k] = i < axis->count ? axis->weights[i * axis->taps + tap + k] : 0;
    }
    return true;
}

static bool make_steps(const struct resample_axis *axis, struct resample_step *step)
{
    for (uint32_t group = 0; group * RESAMPLE_LANES < axis->count; group++)
        for (uint32_t tap = 0; tap < axis->taps; tap += 2)
            if (!make_step(axis, group, tap, step++))
                return false;
    return true;
}

static bool axis_reserve(struct resample_axis *axis)
{
    size_t first = scratch_round(axis->count * sizeof *axis->first);
    size_t weights = scratch_round((size_t)axis->count * axis->taps * sizeof *axis->weights);
    size_t groups = (axis->count + RESAMPLE_LANES - 1) / RESAMPLE_LANES;
    uint8_t *at =
        scratch_reserve(&axis->memory, first + weights + groups * (axis->taps / 2) * sizeof *axis->steps);
    if (!at)
        return false;
    axis->first = (uint32_t *)at;
    axis->weights = (int16_t *)(at + first);
    axis->steps = (struct resample_step *)(at + first + weights);
    memset(axis->weights, 0, weights);
    return true;
}

/* A result at the end has fewer samples than the others, and weights of nothing behind them: so many of these would lie behind the `size` samples
 * that there are, and stand before its own instead. */
static uint32_t samples_behind(const struct reach *r, uint32_t taps, uint32_t size)
{
    uint32_t end = r->first + taps;
    return end > size ? least_of(end - size, r->first) : 0;
}

bool resample_axis_make(struct resample_axis *axis, const struct resample_span *span, bool steps)
{
    struct triangle t = triangle_of(span);
    axis->count = span->count;
    axis->taps = most_taps(&t, span);
    if (!axis_reserve(axis))
        return false;
    for (uint32_t i = 0; i < axis->count; i++) {
        struct reach r = reach_of(&t, span->from + i);
        uint32_t back = steps ? samples_behind(&r, axis->taps, span->high - span->low) : 0;
        axis->first[i] = span->low + r.first - back;
        weigh(&t, &r, axis->weights + (size_t)i * axis->taps + back);
    }
    if (!steps || !make_steps(axis, axis->steps))
        axis->steps = NULL;
    return true;
}

void resample_axis_free(struct resample_axis *axis)
{
    scratch_free(&axis->memory);
}
