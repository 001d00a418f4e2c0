/* Resampling for x86-64-v4: down and to bytes, 32 values at once. Across, samples are picked from 16 bytes, which fill no larger register. */
#include "resample.h"

#include <immintrin.h>

#define BLOCK 32

/* Those of a block that are there. */
static inline __mmask32 block_mask(size_t left)
{
    return left < BLOCK ? ((__mmask32)1 << left) - 1 : UINT32_MAX;
}

static void across(const struct resample_axis *axis, const uint8_t *row, int16_t *out)
{
    resample_avx2.across(axis, row, out);
}

static void down(const int16_t *const *rows, const int16_t *weights, uint32_t taps, size_t n, int16_t *out)
{
    for (size_t i = 0; i < n; i += BLOCK) {
        __m512i low = _mm512_set1_epi32(RESAMPLE_UNIT / 2), high = low;
        __mmask32 mask = block_mask(n - i);
        for (uint32_t k = 0; k < taps; k += 2) {
            int32_t pair;
            memcpy(&pair, weights + k, sizeof pair);
            __m512i both = _mm512_set1_epi32(pair);
            __m512i a = _mm512_maskz_loadu_epi16(mask, rows[k] + i);
            __m512i b = _mm512_maskz_loadu_epi16(mask, rows[k + 1] + i);
            low = _mm512_add_epi32(low, _mm512_madd_epi16(_mm512_unpacklo_epi16(a, b), both));
            high = _mm512_add_epi32(high, _mm512_madd_epi16(_mm512_unpackhi_epi16(a, b), both));
        }
        __m512i sum = _mm512_packs_epi32(_mm512_srai_epi32(low, 14), _mm512_srai_epi32(high, 14));
        _mm512_mask_storeu_epi16(out + i, mask, sum);
    }
}

static inline void put(uint8_t *out, __mmask32 mask, __m512i values)
{
    values = _mm512_srai_epi16(_mm512_adds_epi16(values, _mm512_set1_epi16(1 << (RESAMPLE_POINT - 1))),
                               RESAMPLE_POINT);
    values = _mm512_max_epi16(values, _mm512_setzero_si512());
    _mm256_mask_storeu_epi8(out, mask, _mm512_cvtusepi16_epi8(values));
}

static void bytes(const int16_t *row, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i += BLOCK) {
        __mmask32 mask = block_mask(n - i);
        put(out + i, mask, _mm512_maskz_loadu_epi16(mask, row + i));
    }
}

static inline __m512i part(__m512i value, int16_t factor)
{
    return _mm512_mulhrs_epi16(value, _mm512_set1_epi16(factor));
}

static void colours(const int16_t *const ycc[3], size_t n, uint8_t *const rgb[3])
{
    __m512i none = _mm512_set1_epi16(RESAMPLE_NO_CHROMA);
    for (size_t i = 0; i < n; i += BLOCK) {
        __mmask32 mask = block_mask(n - i);
        __m512i y = _mm512_maskz_loadu_epi16(mask, ycc[0] + i);
        __m512i cb = _mm512_sub_epi16(_mm512_maskz_loadu_epi16(mask, ycc[1] + i), none);
        __m512i cr = _mm512_sub_epi16(_mm512_maskz_loadu_epi16(mask, ycc[2] + i), none);
        __m512i red = _mm512_add_epi16(cr, part(cr, RESAMPLE_RED_CR));
        __m512i green = _mm512_add_epi16(part(cb, RESAMPLE_GREEN_CB), part(cr, RESAMPLE_GREEN_CR));
        __m512i blue = _mm512_add_epi16(cb, part(cb, RESAMPLE_BLUE_CB));
        put(rgb[0] + i, mask, _mm512_adds_epi16(y, red));
        put(rgb[1] + i, mask, _mm512_subs_epi16(y, green));
        put(rgb[2] + i, mask, _mm512_adds_epi16(y, blue));
    }
}

const struct resample resample_avx512 = {across, down, bytes, colours};
