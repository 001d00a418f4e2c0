/* Numbers that callers give as double, as elements of a dtype. */
#ifndef EXACT_VALUE_H
#define EXACT_VALUE_H

#include "apl.h"

#include <stdbool.h>
#include <stdint.h>

/* Writes `value` as one element of `dtype`; false if the dtype does not hold it exactly. Of NaN, floats hold one. */
bool exact_value(apl_dtype dtype, double value, uint8_t out[8]);

#endif
