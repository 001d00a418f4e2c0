/* Ranges {least, most} that callers give. NaN is in none. */
#ifndef RANGES_H
#define RANGES_H

#include <stdbool.h>

#define RANGE_LEAST_RATIO 1e-3 /* of sides, and its inverse the most */

static inline bool range_within(const double range[2], double least, double most)
{
    return range[0] >= least && range[0] <= range[1] && range[1] <= most;
}

static inline bool range_is_probability(double p)
{
    return p >= 0 && p <= 1;
}

/* {0, 0} stands for the default. */
static inline void range_default(double range[2], double least, double most)
{
    if (range[0] == 0 && range[1] == 0)
        range[0] = least, range[1] = most;
}

#endif
