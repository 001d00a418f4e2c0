/*
 * Vectors of two pixels of up to four samples, each sample in 16 bits: for png_rows_pair.h; without PNG_SAMPLES
 * there are none on this machine.
 */
#ifndef PNG_SAMPLES_H
#define PNG_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__SSE2__)
#define PNG_SAMPLES
#include <emmintrin.h>

typedef __m128i samples;

static inline samples samples_of(uint32_t first, uint32_t second)
{
    __m128i bytes = _mm_unpacklo_epi32(_mm_cvtsi32_si128((int)first), _mm_cvtsi32_si128((int)second));
    return _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
}

/* The first pixel in the low half. */
static inline uint64_t samples_bytes(samples v)
{
    return (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(v, v));
}

/* All bits of the samples of a pixel, or none. */
static inline samples samples_mask(bool first, bool second)
{
    return _mm_set_epi64x(-(int64_t)second, -(int64_t)first);
}

/* The first pixels of both; the second pixel of a, and the first of b. */
static inline samples samples_firsts(samples a, samples b)
{
    return _mm_unpacklo_epi64(a, b);
}

static inline samples samples_between(samples a, samples b)
{
    return _mm_castpd_si128(_mm_shuffle_pd(_mm_castsi128_pd(a), _mm_castsi128_pd(b), 1));
}

/* Sums mod 256. */
static inline samples samples_add(samples a, samples b)
{
    return _mm_add_epi8(a, b);
}

static inline samples samples_and(samples a, samples b)
{
    return _mm_and_si128(a, b);
}

static inline samples samples_either(samples mask, samples a, samples b)
{
    return _mm_or_si128(_mm_and_si128(mask, a), _mm_andnot_si128(mask, b));
}

static inline samples samples_average(samples a, samples b)
{
    return _mm_srli_epi16(_mm_add_epi16(a, b), 1);
}

/* Of 16 bits, with sign. */
static inline samples samples_difference(samples a, samples b)
{
    return _mm_sub_epi16(a, b);
}

static inline samples samples_sum(samples a, samples b)
{
    return _mm_add_epi16(a, b);
}

static inline samples samples_magnitude(samples v)
{
    return _mm_max_epi16(v, _mm_sub_epi16(_mm_setzero_si128(), v));
}

static inline samples samples_least(samples a, samples b)
{
    return _mm_min_epi16(a, b);
}

static inline samples samples_equal(samples a, samples b)
{
    return _mm_cmpeq_epi16(a, b);
}

#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PNG_SAMPLES
#include <arm_neon.h>

typedef uint16x8_t samples;

static inline samples samples_of(uint32_t first, uint32_t second)
{
    return vmovl_u8(vcreate_u8((uint64_t)second << 32 | first));
}

static inline uint64_t samples_bytes(samples v)
{
    return vget_lane_u64(vreinterpret_u64_u8(vmovn_u16(v)), 0);
}

static inline samples samples_mask(bool first, bool second)
{
    return vcombine_u16(vcreate_u16(-(uint64_t)first), vcreate_u16(-(uint64_t)second));
}

static inline samples samples_firsts(samples a, samples b)
{
    return vcombine_u16(vget_low_u16(a), vget_low_u16(b));
}

static inline samples samples_between(samples a, samples b)
{
    return vextq_u16(a, b, 4);
}

static inline samples samples_add(samples a, samples b)
{
    return vreinterpretq_u16_u8(vaddq_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b)));
}

static inline samples samples_and(samples a, samples b)
{
    return vandq_u16(a, b);
}

static inline samples samples_either(samples mask, samples a, samples b)
{
    return vbslq_u16(mask, a, b);
}

static inline samples samples_average(samples a, samples b)
{
    return vhaddq_u16(a, b);
}

static inline samples samples_difference(samples a, samples b)
{
    return vsubq_u16(a, b);
}

static inline samples samples_sum(samples a, samples b)
{
    return vaddq_u16(a, b);
}

static inline samples samples_magnitude(samples v)
{
    return vreinterpretq_u16_s16(vabsq_s16(vreinterpretq_s16_u16(v)));
}

static inline samples samples_least(samples a, samples b)
{
    return vminq_u16(a, b);
}

static inline samples samples_equal(samples a, samples b)
{
    return vceqq_u16(a, b);
}
#endif

#endif
