/* PNG's filters undone, by bytes and by pixels: see png_filter.h. */
#include "png_filter.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum filter_kind { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH };

/* ------------------------------------------------------------------------------------------------ by bytes */

static int nearest_of(int left, int up, int corner)
{
    int to_left = abs(up - corner), to_up = abs(left - corner), to_corner = abs(left + up - 2 * corner);
    if (to_left <= to_up && to_left <= to_corner)
        return left;
    return to_up <= to_corner ? up : corner;
}

bool png_unfilter_scalar(unsigned kind, uint8_t *row, const uint8_t *above, size_t n, size_t step)
{
    for (size_t i = 0; kind != FILTER_NONE && i < n; i++) {
        int left = i < step ? 0 : row[i - step], corner = i < step ? 0 : above[i - step], up = above[i];
        int is = kind == FILTER_SUB       ? left
                 : kind == FILTER_UP      ? up
                 : kind == FILTER_AVERAGE ? (left + up) / 2
                                          : nearest_of(left, up, corner);
        row[i] = (uint8_t)(row[i] + is);
    }
    return kind <= FILTER_PAETH;
}

/* ----------------------------------------------------------------------------------------------- by pixels */

#ifdef __SSE2__

#define INLINE static inline __attribute__((always_inline))

/* Each pixel waits for the one to its left: what counts is how long one takes, not how many bytes it has. */
static inline __m128i pixel(const uint8_t *at)
{
    int32_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return _mm_cvtsi32_si128(bytes);
}

static inline void put_pixel(uint8_t *at, __m128i pixel, size_t step)
{
    int32_t bytes = _mm_cvtsi128_si32(pixel);
    memcpy(at, &bytes, step);
}

INLINE void undo_sub(uint8_t *row, size_t n, size_t step)
{
    __m128i left = _mm_setzero_si128();
    for (size_t i = 0; i < n; i += step) {
        left = _mm_add_epi8(left, pixel(row + i));
        put_pixel(row + i, left, step);
    }
}

static void undo_up(uint8_t *row, const uint8_t *above, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i up = _mm_loadu_si128((const __m128i *)(const void *)(above + i));
        __m128i *at = (__m128i *)(void *)(row + i);
        _mm_storeu_si128(at, _mm_add_epi8(_mm_loadu_si128(at), up));
    }
    for (; i < n; i++)
        row[i] = (uint8_t)(row[i] + above[i]);
}

INLINE void undo_average(uint8_t *row, const uint8_t *above, size_t n, size_t step)
{
    __m128i left = _mm_setzero_si128(), one = _mm_set1_epi8(1);
    for (size_t i = 0; i < n; i += step) {
        __m128i up = pixel(above + i), rounds = _mm_and_si128(_mm_xor_si128(left, up), one);
        __m128i average = _mm_sub_epi8(_mm_avg_epu8(left, up), rounds);
        left = _mm_add_epi8(average, pixel(row + i));
        put_pixel(row + i, left, step);
    }
}

static inline __m128i magnitude(__m128i v)
{
    return _mm_max_epi16(v, _mm_sub_epi16(_mm_setzero_si128(), v));
}

static inline __m128i either(__m128i mask, __m128i a, __m128i b)
{
    return _mm_or_si128(_mm_and_si128(mask, a), _mm_andnot_si128(mask, b));
}

/* In 16 bits a sample, whose upper halves stay 0. */
INLINE void undo_paeth(uint8_t *row, const uint8_t *above, size_t n, size_t step)
{
    const __m128i zero = _mm_setzero_si128();
    __m128i left = zero, corner = zero;
    for (size_t i = 0; i < n; i += step) {
        __m128i up = _mm_unpacklo_epi8(pixel(above + i), zero);
        __m128i across = _mm_sub_epi16(up, corner), down = _mm_sub_epi16(left, corner);
        __m128i to_left = magnitude(across), to_up = magnitude(down),
                to_corner = magnitude(_mm_add_epi16(across, down));
        __m128i least = _mm_min_epi16(to_corner, _mm_min_epi16(to_left, to_up));
        __m128i nearest =
            either(_mm_cmpeq_epi16(least, to_left), left, either(_mm_cmpeq_epi16(least, to_up), up, corner));
        left = _mm_add_epi8(nearest, _mm_unpacklo_epi8(pixel(row + i), zero));
        put_pixel(row + i, _mm_packus_epi16(left, left), step);
        corner = up;
    }
}

INLINE void undo(unsigned kind, uint8_t *row, const uint8_t *above, size_t n, size_t step)
{
    if (kind == FILTER_SUB)
        undo_sub(row, n, step);
    else if (kind == FILTER_AVERAGE)
        undo_average(row, above, n, step);
    else
        undo_paeth(row, above, n, step);
}

bool png_unfilter(unsigned kind, uint8_t *row, const uint8_t *above, size_t n, size_t step)
{
    if (kind == FILTER_NONE || kind > FILTER_PAETH)
        return kind == FILTER_NONE;
    if (kind == FILTER_UP)
        undo_up(row, above, n);
    else if (step == 3)
        undo(kind, row, above, n, 3);
    else if (step == 4)
        undo(kind, row, above, n, 4);
    else
        return png_unfilter_scalar(kind, row, above, n, step);
    return true;
}

#else

bool png_unfilter(unsigned kind, uint8_t *row, const uint8_t *above, size_t n, size_t step)
{
    return png_unfilter_scalar(kind, row, above, n, step);
}

#endif
