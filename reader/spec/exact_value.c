/* Numbers as elements of a dtype: see exact_value.h. */
#include "exact_value.h"

#include "bytes.h"
#include "halves.h"

#include <math.h>

static bool whole(double value, double least, double above, uint8_t *out, unsigned bytes)
{
    if (!(value >= least && value < above) || value != floor(value))
        return false;
    store_le(out, value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value, bytes);
    return true;
}

static float of_f16(uint16_t half)
{
    unsigned exponent = half >> 10 & 31, significand = half & 1023;
    float size = exponent == 31 ? INFINITY
                 : exponent     ? ldexpf((float)(significand + 1024), (int)exponent - 25)
                                : ldexpf((float)significand, -24);
    return half & 0x8000 ? -size : size;
}

static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Infinities are the same in all floats; NaN is a quiet one. */
static bool real(apl_dtype dtype, double value, uint8_t *out)
{
    if (dtype == APL_F64) {
        memcpy(out, &value, sizeof value);
        return true;
    }
    bool nan = isnan(value);
    float f = nan ? of_bits(0x7fc00000u) : (float)value;
    uint16_t half =
        dtype == APL_BF16 ? (uint16_t)(nan ? 0x7fc0 : bf16_of(f)) : (uint16_t)(nan ? 0x7e00 : f16_of(f));
    if (dtype == APL_F32)
        memcpy(out, &f, sizeof f);
    else
        memcpy(out, &half, sizeof half);
    float back = dtype == APL_F32 ? f : dtype == APL_BF16 ? of_bits((uint32_t)half << 16) : of_f16(half);
    return nan || (double)back == value;
}

bool exact_value(apl_dtype dtype, double value, uint8_t out[8])
{
    unsigned bytes = (unsigned)apl_dtype_size(dtype), bits = 8 * bytes;
    switch (dtype) {
    case APL_BOOL:
        return whole(value, 0, 2, out, 1);
    case APL_U8:
    case APL_U16:
    case APL_U32:
    case APL_U64:
        return whole(value, 0, ldexp(1, (int)bits), out, bytes);
    case APL_I8:
    case APL_I16:
    case APL_I32:
    case APL_I64:
        return whole(value, -ldexp(1, (int)bits - 1), ldexp(1, (int)bits - 1), out, bytes);
    case APL_F16:
    case APL_BF16:
    case APL_F32:
    case APL_F64:
        return real(dtype, value, out);
    default:
        return false;
    }
}
