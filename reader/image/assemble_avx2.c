/* assemble() for x86-64-v3. */
#define ASSEMBLE_NAME assemble_avx2

#include "assemble_ymm.h"

#define LANES 8

typedef __m256 floats;

/* Eight of 32 pixels: those from 8 * i on. */
static inline floats widen(pixels p, int i)
{
    __m128i half = i < 2 ? _mm256_castsi256_si128(p) : _mm256_extracti128_si256(p, 1);
    __m128i eight = i % 2 ? _mm_unpackhi_epi64(half, half) : half;
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight));
}

/* The product must be rounded before the sum is taken: the compiler may not see that they belong together. */
static inline floats scale_and_shift(floats value, const float *scale, const float *bias)
{
    floats product = _mm256_mul_ps(value, _mm256_loadu_ps(scale));
    __asm__("" : "+x"(product));
    return _mm256_add_ps(product, _mm256_loadu_ps(bias));
}

static inline void store_f32(uint8_t *to, floats value)
{
    /* cppcheck-suppress invalidPointerCast; the store is of bytes, at any address */
    _mm256_storeu_ps((float *)to, value);
}

static inline void store_f16(uint8_t *to, floats value)
{
    _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
}

static inline void store_bf16(uint8_t *to, floats value)
{
    __m256i bits = _mm256_castps_si256(value), one = _mm256_set1_epi32(1);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), one);
    bits = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    bits = _mm256_srli_epi32(bits, 16);
    __m128i low = _mm256_castsi256_si128(bits), high = _mm256_extracti128_si256(bits, 1);
    _mm_storeu_si128((__m128i *)to, _mm_packus_epi32(low, high));
}

#include "assemble_kernel.h"
