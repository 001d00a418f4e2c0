/* The operations of png_filter_kernel.h on one vector of four pixels, of AVX2. */
#ifndef PNG_ROWS_YMM_H
#define PNG_ROWS_YMM_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

typedef __m256i rows;

static inline rows rows_from(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return _mm256_cvtepu8_epi16(_mm_setr_epi32((int)a, (int)b, (int)c, (int)d));
}

static inline void rows_bytes(rows v, uint64_t *upper, uint64_t *lower)
{
    rows packed = _mm256_packus_epi16(v, v);
    *upper = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(packed));
    *lower = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(packed, 1));
}

static inline rows rows_mask(bool a, bool b, bool c, bool d)
{
    return _mm256_setr_epi64x(-(int64_t)a, -(int64_t)b, -(int64_t)c, -(int64_t)d);
}

static inline rows rows_follow(uint32_t above, rows v)
{
    rows down = _mm256_permute4x64_epi64(v, _MM_SHUFFLE(2, 1, 0, 0));
    rows first = _mm256_castsi128_si256(_mm_cvtepu8_epi16(_mm_cvtsi32_si128((int)above)));
    return _mm256_blend_epi32(down, first, 3);
}

static inline rows rows_add(rows a, rows b)
{
    return _mm256_add_epi8(a, b);
}

static inline rows rows_and(rows a, rows b)
{
    return _mm256_and_si256(a, b);
}

static inline rows rows_either(rows mask, rows a, rows b)
{
    return _mm256_blendv_epi8(b, a, mask);
}

static inline rows rows_average(rows a, rows b)
{
    return _mm256_srli_epi16(_mm256_add_epi16(a, b), 1);
}

static inline rows rows_difference(rows a, rows b)
{
    return _mm256_sub_epi16(a, b);
}

static inline rows rows_sum(rows a, rows b)
{
    return _mm256_add_epi16(a, b);
}

static inline rows rows_magnitude(rows v)
{
    return _mm256_abs_epi16(v);
}

static inline rows rows_least(rows a, rows b)
{
    return _mm256_min_epi16(a, b);
}

static inline rows rows_equal(rows a, rows b)
{
    return _mm256_cmpeq_epi16(a, b);
}

#endif
