/* Sums over bytes: see byte_sums.h. */
#include "byte_sums.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* At most this many at a time, so that sums of squares fit in 32 bits. */
#define CHUNK 4096u

#ifdef __SSE2__
/* The sums over n bytes, a multiple of 16. */
static void add_chunk(struct byte_sums *sums, const uint8_t *data, size_t n)
{
    const __m128i zero = _mm_setzero_si128();
    __m128i sum = zero, squares = zero;
    uint64_t halves[2];
    uint32_t lanes[4];
    for (size_t i = 0; i < n; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(data + i));
        __m128i low = _mm_unpacklo_epi8(v, zero), high = _mm_unpackhi_epi8(v, zero);
        sum = _mm_add_epi64(sum, _mm_sad_epu8(v, zero));
        squares = _mm_add_epi32(squares, _mm_add_epi32(_mm_madd_epi16(low, low), _mm_madd_epi16(high, high)));
    }
    _mm_storeu_si128((__m128i *)(void *)halves, sum);
    _mm_storeu_si128((__m128i *)(void *)lanes, squares);
    sums->sum += halves[0] + halves[1];
    sums->squares += (uint64_t)lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
#else
static void add_chunk(struct byte_sums *sums, const uint8_t *data, size_t n)
{
    uint32_t sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t v = data[i];
        sum += v;
        squares += v * v;
    }
    sums->sum += sum;
    sums->squares += squares;
}
#endif

struct byte_sums byte_sums(const uint8_t *data, size_t n)
{
    struct byte_sums sums = {0, 0};
    size_t whole = n - n % 16, i = 0;
    for (; i < whole; i += CHUNK)
        add_chunk(&sums, data + i, whole - i < CHUNK ? whole - i : CHUNK);
    for (i = whole; i < n; i++) {
        sums.sum += data[i];
        sums.squares += (uint64_t)data[i] * data[i];
    }
    return sums;
}
