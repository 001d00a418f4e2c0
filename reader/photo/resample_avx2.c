/* Resampling for x86-64-v3. */
#include "resample.h"

#include <immintrin.h>

#define BLOCK RESAMPLE_BLOCK

/* Two samples of each of 8 results, as numbers of 16 bits. */
static inline __m256i pick_samples(const uint8_t *row, const struct resample_step *step)
{
    __m128i low = _mm_loadu_si128((const __m128i *)(row + step->from[0]));
    __m256i both = _mm256_castsi128_si256(low);
    both = _mm256_inserti128_si256(both, _mm_loadu_si128((const __m128i *)(row + step->from[1])), 1);
    return _mm256_shuffle_epi8(both, _mm256_loadu_si256((const __m256i *)step->index));
}

/* Any scale: 16 samples at a time, where there are as many. */
static int32_t weighted(const uint8_t *from, const int16_t *weights, uint32_t taps)
{
    int32_t sum = 0;
    for (uint32_t k = 0; k < taps; k++)
        sum += from[k] * weights[k];
    return sum;
}

static void across_far(const struct resample_axis *axis, const uint8_t *row, int16_t *out)
{
    for (uint32_t i = 0; i < axis->count; i++) {
        int32_t sum = weighted(row + axis->first[i], axis->weights + (size_t)i * axis->taps, axis->taps);
        out[i] =
            (int16_t)((sum + (RESAMPLE_UNIT >> (RESAMPLE_POINT + 1))) / (RESAMPLE_UNIT >> RESAMPLE_POINT));
    }
}

static void across(const struct resample_axis *axis, const uint8_t *row, int16_t *out)
{
    const struct resample_step *step = axis->steps;
    if (!step) {
        across_far(axis, row, out);
        return;
    }
    for (uint32_t i = 0; i < axis->count; i += RESAMPLE_LANES) {
        __m256i sum = _mm256_set1_epi32(RESAMPLE_UNIT >> (RESAMPLE_POINT + 1));
        for (uint32_t k = 0; k < axis->taps; k += 2, step++) {
            __m256i weights = _mm256_loadu_si256((const __m256i *)step->weights);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pick_samples(row, step), weights));
        }
        sum = _mm256_srai_epi32(sum, 14 - RESAMPLE_POINT);
        __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(sum, sum), 0x08);
        _mm_storeu_si128((__m128i *)(out + i), _mm256_castsi256_si128(packed));
    }
}

static void down(const int16_t *const *rows, const int16_t *weights, uint32_t taps, size_t n, int16_t *out)
{
    for (size_t i = 0; i < n; i += BLOCK) {
        __m256i low = _mm256_set1_epi32(RESAMPLE_UNIT / 2), high = low;
        for (uint32_t k = 0; k < taps; k += 2) {
            int32_t pair;
            memcpy(&pair, weights + k, sizeof pair);
            __m256i both = _mm256_set1_epi32(pair);
            __m256i a = _mm256_loadu_si256((const __m256i *)(rows[k] + i));
            __m256i b = _mm256_loadu_si256((const __m256i *)(rows[k + 1] + i));
            low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), both));
            high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), both));
        }
        __m256i sum = _mm256_packs_epi32(_mm256_srai_epi32(low, 14), _mm256_srai_epi32(high, 14));
        _mm256_storeu_si256((__m256i *)(out + i), sum);
    }
}

/* 16 values to bytes; of the last ones of a row, only those that are there. */
static inline void put(uint8_t *out, size_t left, __m256i values)
{
    values = _mm256_srai_epi16(_mm256_adds_epi16(values, _mm256_set1_epi16(1 << (RESAMPLE_POINT - 1))),
                               RESAMPLE_POINT);
    values = _mm256_permute4x64_epi64(_mm256_packus_epi16(values, values), 0x08);
    uint8_t all[BLOCK];
    _mm_storeu_si128((__m128i *)(left < BLOCK ? all : out), _mm256_castsi256_si128(values));
    if (left < BLOCK)
        memcpy(out, all, left);
}

static void bytes(const int16_t *row, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i += BLOCK)
        put(out + i, n - i, _mm256_loadu_si256((const __m256i *)(row + i)));
}

static inline __m256i part(__m256i value, int16_t factor)
{
    return _mm256_mulhrs_epi16(value, _mm256_set1_epi16(factor));
}

static void colours(const int16_t *const ycc[3], size_t n, uint8_t *const rgb[3])
{
    __m256i none = _mm256_set1_epi16(RESAMPLE_NO_CHROMA);
    for (size_t i = 0; i < n; i += BLOCK) {
        __m256i y = _mm256_loadu_si256((const __m256i *)(ycc[0] + i));
        __m256i cb = _mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)(ycc[1] + i)), none);
        __m256i cr = _mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)(ycc[2] + i)), none);
        __m256i red = _mm256_add_epi16(cr, part(cr, RESAMPLE_RED_CR));
        __m256i green = _mm256_add_epi16(part(cb, RESAMPLE_GREEN_CB), part(cr, RESAMPLE_GREEN_CR));
        __m256i blue = _mm256_add_epi16(cb, part(cb, RESAMPLE_BLUE_CB));
        put(rgb[0] + i, n - i, _mm256_adds_epi16(y, red));
        put(rgb[1] + i, n - i, _mm256_subs_epi16(y, green));
        put(rgb[2] + i, n - i, _mm256_adds_epi16(y, blue));
    }
}

const struct resample resample_avx2 = {across, down, bytes, colours};
