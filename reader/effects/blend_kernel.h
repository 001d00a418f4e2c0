/* The kernels, for the instruction set of the file that includes this: loops that the compiler makes vectors of, but for f16, which
 * wants the instructions that convert it. */
#include "blend.h"
#include "halves.h"

#if defined(__F16C__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

static void mix_f32(float *restrict row, const float *restrict before, size_t n, float own, float other)
{
    for (size_t i = 0; i < n; i++)
        row[i] = before[i] * other + row[i] * own;
}

static inline float f32_of_bf16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* As bf16_of(), without branches. */
static inline uint16_t bf16_rounded(float value)
{
    uint32_t bits = float_bits(value);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void mix_bf16(uint16_t *restrict row, const uint16_t *restrict before, size_t n, float own,
                     float other)
{
    for (size_t i = 0; i < n; i++)
        row[i] = bf16_rounded(f32_of_bf16(before[i]) * other + f32_of_bf16(row[i]) * own);
}

/* As many at a time as the instructions that convert them take. */
#if defined(__F16C__)
#define F16_LANES 8
static inline void mix_f16_lanes(uint16_t *row, const uint16_t *before, float own, float other)
{
    __m256 a = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)before));
    __m256 b = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)row));
    __m256 sum =
        _mm256_add_ps(_mm256_mul_ps(a, _mm256_set1_ps(other)), _mm256_mul_ps(b, _mm256_set1_ps(own)));
    _mm_storeu_si128((__m128i *)row, _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(__aarch64__)
#define F16_LANES 4
static inline void mix_f16_lanes(uint16_t *row, const uint16_t *before, float own, float other)
{
    float32x4_t a = vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(before)));
    float32x4_t b = vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(row)));
    float32x4_t sum = vaddq_f32(vmulq_n_f32(a, other), vmulq_n_f32(b, own));
    vst1_u16(row, vreinterpret_u16_f16(vcvt_f16_f32(sum)));
}
#else
#define F16_LANES 1
static inline void mix_f16_lanes(uint16_t *row, const uint16_t *before, float own, float other)
{
    *row = f16_of(f32_of_f16(*before) * other + f32_of_f16(*row) * own);
}
#endif

static void mix_f16(uint16_t *restrict row, const uint16_t *restrict before, size_t n, float own, float other)
{
    size_t i = 0;
    for (; i + F16_LANES <= n; i += F16_LANES)
        mix_f16_lanes(row + i, before + i, own, other);
    for (; i < n; i++)
        row[i] = f16_of(f32_of_f16(before[i]) * other + f32_of_f16(row[i]) * own);
}

const struct blend BLEND_NAME = {mix_f32, mix_f16, mix_bf16};
