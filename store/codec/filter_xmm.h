/* The vector operations of plane_kernel.h on the 16-byte registers of x86-64. */
#include <immintrin.h>
#include <stdint.h>

typedef __m128i vec;

static inline vec vec_load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

static inline void vec_store(uint8_t *p, vec v)
{
    _mm_storeu_si128((__m128i *)p, v);
}

static inline vec vec_fill(uint8_t byte)
{
    return _mm_set1_epi8((char)byte);
}

static inline vec vec_add(vec a, vec b)
{
    return _mm_add_epi8(a, b);
}

static inline vec vec_sub(vec a, vec b)
{
    return _mm_sub_epi8(a, b);
}

static inline vec vec_min(vec a, vec b)
{
    return _mm_min_epu8(a, b);
}

static inline vec vec_max(vec a, vec b)
{
    return _mm_max_epu8(a, b);
}

static inline vec vec_zip_low(vec a, vec b)
{
    return _mm_unpacklo_epi8(a, b);
}

static inline vec vec_zip_high(vec a, vec b)
{
    return _mm_unpackhi_epi8(a, b);
}

/* Shifts take constants only, which the body's unrolled steps are. */
#define vec_end(v, i)       _mm_slli_si128(v, 15 - (i))
#define vec_follow(last, v) _mm_alignr_epi8(v, last, 15)
