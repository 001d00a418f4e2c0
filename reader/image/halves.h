/* From f32 to the 16-bit floats, rounded to nearest, ties to even, and back. Not for NaN. */
#ifndef HALVES_H
#define HALVES_H

#include <stdint.h>
#include <string.h>

static inline uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* bits / 2^shift, for a shift of 1 ... 31. */
static inline uint32_t shift_to_even(uint32_t bits, unsigned shift)
{
    uint32_t kept = bits >> shift, lost = bits & ((1u << shift) - 1), middle = 1u << (shift - 1);
    return kept + (lost > middle || (lost == middle && (kept & 1)));
}

/* Numbers too large for the exponent round to infinity by carrying into it. */
static inline uint16_t bf16_of(float value)
{
    return (uint16_t)shift_to_even(float_bits(value), 16);
}

#define F16_INFINITE        0x7c00u
#define F32_BEYOND_F16      0x47800000u /* 2^16: what is below may still round up to infinity */
#define F32_LEAST_NORMAL    0x38800000u /* 2^-14: what is below is subnormal as f16 */
#define F32_TO_F16_EXPONENT ((127u - 15u) << 23)

static inline uint16_t f16_of(float value)
{
    uint32_t bits = float_bits(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size >= F32_BEYOND_F16)
        return (uint16_t)(sign | F16_INFINITE);
    if (size >= F32_LEAST_NORMAL)
        return (uint16_t)(sign | shift_to_even(size - F32_TO_F16_EXPONENT, 13));
    /* Subnormal: the significand, its leading 1 written out, in units of 2^-24. */
    uint32_t shift = 126u - (size >> 23), significand = (size & 0x7fffffu) | 0x800000u;
    return (uint16_t)(sign | (shift > 24 ? 0 : shift_to_even(significand, shift)));
}

static inline float f32_of_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, size = half & 0x7fffu, bits = sign;
    float value = (float)size * 0x1p-24f; /* if it is subnormal */
    if (size >= F16_INFINITE)
        bits |= 0x7f800000u;
    else if (size >= 0x400u)
        bits |= (size << 13) + F32_TO_F16_EXPONENT;
    else
        bits |= float_bits(value);
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
