/* The vector operations of filter_kernel.h on the 32-byte registers of x86-64. */
#include <immintrin.h>
#include <stdint.h>

#define VEC_BYTES 32

typedef __m256i vec;
typedef __m256i sum;

static inline vec vec_load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline void vec_store(uint8_t *p, vec v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

static inline vec vec_fill(uint8_t byte)
{
    return _mm256_set1_epi8((char)byte);
}

static inline vec vec_abs(vec v)
{
    return _mm256_abs_epi8(v);
}

static inline vec vec_add(vec a, vec b)
{
    return _mm256_add_epi8(a, b);
}

static inline vec vec_sub(vec a, vec b)
{
    return _mm256_sub_epi8(a, b);
}

static inline vec vec_min(vec a, vec b)
{
    return _mm256_min_epu8(a, b);
}

static inline vec vec_max(vec a, vec b)
{
    return _mm256_max_epu8(a, b);
}

static inline vec vec_zip_low(vec a, vec b)
{
    return _mm256_unpacklo_epi8(a, b);
}

static inline vec vec_zip_high(vec a, vec b)
{
    return _mm256_unpackhi_epi8(a, b);
}

static inline vec vec_gather(const uint8_t *from)
{
    return _mm256_loadu2_m128i((const __m128i *)(from + 16 * WAYS), (const __m128i *)from);
}

static inline void vec_scatter(uint8_t *to, vec v)
{
    _mm256_storeu2_m128i((__m128i *)(to + 16 * WAYS), (__m128i *)to, v);
}

static inline sum sum_zero(void)
{
    return _mm256_setzero_si256();
}

static inline sum sum_add(sum s, vec v)
{
    return _mm256_add_epi64(s, _mm256_sad_epu8(v, _mm256_setzero_si256()));
}

static inline uint64_t sum_total(sum s)
{
    return (uint64_t)_mm256_extract_epi64(s, 0) + (uint64_t)_mm256_extract_epi64(s, 1) +
           (uint64_t)_mm256_extract_epi64(s, 2) + (uint64_t)_mm256_extract_epi64(s, 3);
}
