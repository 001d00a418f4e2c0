/* Eight pixels at a time, of which each takes two neighbours of two rows by one load each: see affine_take.h. */
#include "affine_take.h"

#include <immintrin.h>

#define LANES 8

/* Two neighbours, the lowest bytes of each lane, weighted. */
static inline __m256i across(__m256i pixels, __m256i left, __m256i right)
{
    const __m256i byte = _mm256_set1_epi32(255);
    __m256i first = _mm256_and_si256(pixels, byte);
    __m256i second = _mm256_and_si256(_mm256_srli_epi32(pixels, 8), byte);
    return _mm256_add_epi32(_mm256_mullo_epi32(first, left), _mm256_mullo_epi32(second, right));
}

/* The first byte of each lane. */
static inline void store_bytes(uint8_t *out, __m256i lanes)
{
    __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    _mm_storel_epi64((__m128i *)(void *)out, _mm_packus_epi16(words, words));
}

static inline __m256i load_lanes(const uint32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

void affine_blend_avx2(const struct affine_run *run, const uint8_t *plane, uint32_t width, uint8_t *out)
{
    const __m256i unit = _mm256_set1_epi32(1 << AFFINE_WEIGHT);
    const __m256i half = _mm256_set1_epi32(1 << (2 * AFFINE_WEIGHT - 1));
    struct affine_run rest;
    uint32_t i = 0;
    for (; i + LANES <= run->count; i += LANES) {
        __m256i at = load_lanes(run->at + i), right = load_lanes(run->right + i);
        __m256i low = load_lanes(run->low + i), left = _mm256_sub_epi32(unit, right);
        __m256i top = _mm256_i32gather_epi32((const int *)(const void *)plane, at, 1);
        __m256i bottom = _mm256_i32gather_epi32((const int *)(const void *)(plane + width), at, 1);
        __m256i above = _mm256_mullo_epi32(across(top, left, right), _mm256_sub_epi32(unit, low));
        __m256i below = _mm256_mullo_epi32(across(bottom, left, right), low);
        __m256i sum = _mm256_add_epi32(_mm256_add_epi32(above, below), half);
        store_bytes(out + i, _mm256_srli_epi32(sum, 2 * AFFINE_WEIGHT));
    }
    rest.count = run->count - i;
    for (uint32_t k = 0; k < rest.count; k++) {
        rest.at[k] = run->at[i + k];
        rest.right[k] = run->right[i + k];
        rest.low[k] = run->low[i + k];
    }
    affine_blend_scalar(&rest, plane, width, out + i);
}
