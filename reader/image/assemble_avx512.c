/* assemble() for x86-64-v4. Pixels are those of AVX2: half the rows of small images are no longer than
 * that. */
#define ASSEMBLE_NAME assemble_avx512

#include "assemble_ymm.h"

#define LANES 16

typedef __m512 floats;

/* Sixteen of 32 pixels: those from 16 * i on. */
static inline floats widen(pixels p, int i)
{
    __m128i half = i ? _mm256_extracti128_si256(p, 1) : _mm256_castsi256_si128(p);
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(half));
}

/* The product must be rounded before the sum is taken: the compiler may not see that they belong together. */
static inline floats scale_and_shift(floats value, const float *scale, const float *bias)
{
    floats product = _mm512_mul_ps(value, _mm512_loadu_ps(scale));
    __asm__("" : "+v"(product));
    return _mm512_add_ps(product, _mm512_loadu_ps(bias));
}

static inline void store_f32(uint8_t *to, floats value)
{
    _mm512_storeu_ps(to, value);
}

static inline void store_f16(uint8_t *to, floats value)
{
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
}

static inline void store_bf16(uint8_t *to, floats value)
{
    __m512i bits = _mm512_castps_si512(value), one = _mm512_set1_epi32(1);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
    bits = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)));
}

#include "assemble_kernel.h"
