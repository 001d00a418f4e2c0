/* Weights as whole numbers: see weights.h. */
#include "weights.h"

#include <stdlib.h>
#include <string.h>

#define MANTISSA_BITS 52

/* A number that is finite and not negative as significand x 2^exponent. */
static uint64_t take_apart(double w, int *exponent)
{
    uint64_t bits, significand;
    memcpy(&bits, &w, sizeof bits);
    int e = (int)(bits >> MANTISSA_BITS & 0x7ff);
    significand = bits & (((uint64_t)1 << MANTISSA_BITS) - 1);
    *exponent = (e ? e : 1) - 1023 - MANTISSA_BITS;
    return significand | (uint64_t)(e != 0) << MANTISSA_BITS;
}

/* w x 2^scale, rounded to the nearest whole number, or up; which must be below 2^63. */
static uint64_t scaled_weight(double w, int scale, bool up)
{
    int e;
    uint64_t significand = take_apart(w, &e);
    e += scale;
    if (e >= 0 || significand == 0)
        return significand ? significand << e : 0;
    if (e < -60)
        return up;
    uint64_t unit = (uint64_t)1 << -e;
    return (significand + (up ? unit - 1 : unit / 2)) >> -e;
}

/* The power of two by which the weights are scaled. */
static int find_scale(const double *weights, uint32_t n)
{
    double most = 0;
    int scale, e;
    uint64_t sum = 0,
             limit = ((uint64_t)1 << WEIGHT_BITS) - ((uint64_t)1 << 32); /* each is rounded by 1/2 at most */
    for (uint32_t i = 0; i < n; i++)
        most = weights[i] > most ? weights[i] : most;
    uint64_t significand = take_apart(most, &e);
    for (scale = 30 - e; significand >>= 1; scale--) /* the largest becomes 2^30 to 2^31 */
        continue;
    for (uint32_t i = 0; i < n; i++)
        sum += scaled_weight(weights[i], scale, true);
    for (; sum <= limit / 2; scale++)
        sum *= 2;
    for (; sum > limit; scale--)
        sum = sum / 2 + 1;
    return scale;
}

void weights_scale(const double *weights, uint32_t n, uint64_t *into)
{
    int scale = find_scale(weights, n);
    for (uint32_t i = 0; i < n; i++)
        into[i] = scaled_weight(weights[i], scale, false);
}

uint64_t weights_part(uint64_t m, uint64_t a, uint64_t b, uint64_t *rest)
{
    uint64_t quotient = 0, r = 0;
    for (unsigned bit = 32; bit-- > 0;) {
        r = 2 * r + (m >> bit & 1) * a;
        quotient = 2 * quotient + r / b;
        r %= b;
    }
    *rest = r;
    return quotient;
}

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x > y ? -1 : x < y;
}

apl_status weights_divide(uint64_t m, const uint64_t *weights, uint64_t total, uint32_t n,
                          struct weight_parts *parts, apl_error *err)
{
    uint64_t *rests = malloc((2 * (size_t)n + 1) * sizeof *rests), *sorted, up = m;
    if (!rests)
        return fail_nomem(err);
    sorted = rests + n;
    for (uint32_t i = 0; i < n; i++) {
        parts->quota[i] = (uint32_t)weights_part(m, weights[i], total, &rests[i]);
        up -= parts->quota[i];
    }
    memcpy(sorted, rests, n * sizeof *rests);
    qsort(sorted, n, sizeof *sorted, descending);
    uint64_t least = up ? sorted[up - 1] : UINT64_MAX;
    *parts = (struct weight_parts){parts->quota, parts->up, 0, (uint32_t)up};
    for (uint32_t i = 0; i < n; i++) {
        parts->up[i] = rests[i] > least ? 1 : rests[i] == least ? 2 : 0;
        parts->ties_up -= parts->up[i] == 1;
        parts->ties += parts->up[i] == 2;
    }
    free(rests);
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------- weighted draws */

static unsigned bits_of_double(uint64_t x)
{
    return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

uint64_t weight_table_buckets(uint32_t n)
{
    return (uint64_t)1 << bits_of_double(n - 1);
}

void weight_table_make(struct weight_table *t, const uint64_t *weights, const uint32_t *item, uint32_t n)
{
    unsigned buckets = bits_of_double(n - 1);
    t->total = 0;
    for (uint32_t i = 0; i < n; i++)
        t->ends[i] = t->total += weights[item ? item[i] : i];
    t->bits = bits_of_double(t->total - 1);
    t->shift = t->bits > buckets ? t->bits - buckets : 0;
    uint32_t i = 0;
    for (uint64_t j = 0; j <= (t->total - 1) >> t->shift; j++) {
        while (t->ends[i] <= j << t->shift)
            i++;
        t->guide[j] = i;
    }
}

uint32_t weight_table_draw(const struct weight_table *t, struct random_stream *stream)
{
    uint64_t x;
    do {
        x = (uint64_t)random_u32(stream) << 32 | random_u32(stream);
        x = t->bits ? x >> (64 - t->bits) : 0;
    } while (x >= t->total);
    uint32_t i = t->guide[x >> t->shift];
    while (t->ends[i] <= x)
        i++;
    return i;
}
