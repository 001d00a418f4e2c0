/* The operations of png_filter_kernel.h on two vectors of two pixels, where png_samples.h has any. */
#ifndef PNG_ROWS_PAIR_H
#define PNG_ROWS_PAIR_H

#include "png_samples.h"

#ifdef PNG_SAMPLES

typedef struct {
    samples upper, lower;
} rows;

static inline rows rows_from(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return (rows){samples_of(a, b), samples_of(c, d)};
}

static inline void rows_bytes(rows v, uint64_t *upper, uint64_t *lower)
{
    *upper = samples_bytes(v.upper);
    *lower = samples_bytes(v.lower);
}

static inline rows rows_mask(bool a, bool b, bool c, bool d)
{
    return (rows){samples_mask(a, b), samples_mask(c, d)};
}

static inline rows rows_follow(uint32_t above, rows v)
{
    return (rows){samples_firsts(samples_of(above, 0), v.upper), samples_between(v.upper, v.lower)};
}

static inline rows rows_add(rows a, rows b)
{
    return (rows){samples_add(a.upper, b.upper), samples_add(a.lower, b.lower)};
}

static inline rows rows_and(rows a, rows b)
{
    return (rows){samples_and(a.upper, b.upper), samples_and(a.lower, b.lower)};
}

static inline rows rows_either(rows mask, rows a, rows b)
{
    return (rows){samples_either(mask.upper, a.upper, b.upper), samples_either(mask.lower, a.lower, b.lower)};
}

static inline rows rows_average(rows a, rows b)
{
    return (rows){samples_average(a.upper, b.upper), samples_average(a.lower, b.lower)};
}

static inline rows rows_difference(rows a, rows b)
{
    return (rows){samples_difference(a.upper, b.upper), samples_difference(a.lower, b.lower)};
}

static inline rows rows_sum(rows a, rows b)
{
    return (rows){samples_sum(a.upper, b.upper), samples_sum(a.lower, b.lower)};
}

static inline rows rows_magnitude(rows v)
{
    return (rows){samples_magnitude(v.upper), samples_magnitude(v.lower)};
}

static inline rows rows_least(rows a, rows b)
{
    return (rows){samples_least(a.upper, b.upper), samples_least(a.lower, b.lower)};
}

static inline rows rows_equal(rows a, rows b)
{
    return (rows){samples_equal(a.upper, b.upper), samples_equal(a.lower, b.lower)};
}

#endif

#endif
