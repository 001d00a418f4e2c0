/* Decoding for x86-64-v4: the inverse DCT of four blocks at once, each in a quarter of a register. */
#define IDCT_BLOCKS 4
#include "segments_body.h"

#include <immintrin.h>

typedef __m512i lanes;

typedef struct {
    __m512i low, high; /* columns 0 ... 3 and 4 ... 7 */
} wide;

static inline lanes lanes_load(const int16_t *values)
{
    return _mm512_load_si512(values);
}

static inline void lanes_clear(int16_t *values)
{
    _mm512_store_si512(values, _mm512_setzero_si512());
}

static inline lanes lanes_quant(const struct group *g, unsigned row)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(g->quant + 8 * row)));
}

static inline lanes lanes_times(lanes a, lanes b)
{
    return _mm512_mullo_epi16(a, b);
}

static inline lanes lanes_plus(lanes a, lanes b)
{
    return _mm512_add_epi16(a, b);
}

static inline lanes lanes_minus(lanes a, lanes b)
{
    return _mm512_sub_epi16(a, b);
}

static inline bool lanes_beyond(lanes a)
{
    lanes kept = _mm512_srai_epi16(_mm512_slli_epi16(a, IDCT_PASS1), IDCT_PASS1);
    return _mm512_cmpneq_epi16_mask(a, kept) != 0;
}

static inline wide wide_two(lanes a, int fa, lanes b, int fb)
{
    __m512i factors = _mm512_set1_epi32((int)((uint32_t)fb << 16 | (uint16_t)fa));
    return (wide){_mm512_madd_epi16(_mm512_unpacklo_epi16(a, b), factors),
                  _mm512_madd_epi16(_mm512_unpackhi_epi16(a, b), factors)};
}

static inline wide wide_raised(lanes a, int bits)
{
    __m512i zero = _mm512_setzero_si512();
    return (wide){_mm512_srai_epi32(_mm512_unpacklo_epi16(zero, a), 16 - bits),
                  _mm512_srai_epi32(_mm512_unpackhi_epi16(zero, a), 16 - bits)};
}

static inline wide wide_plus(wide a, wide b)
{
    return (wide){_mm512_add_epi32(a.low, b.low), _mm512_add_epi32(a.high, b.high)};
}

static inline wide wide_minus(wide a, wide b)
{
    return (wide){_mm512_sub_epi32(a.low, b.low), _mm512_sub_epi32(a.high, b.high)};
}

static inline lanes wide_rounded(wide w, unsigned bits)
{
    __m512i half = _mm512_set1_epi32(1 << (bits - 1));
    return _mm512_packs_epi32(_mm512_srai_epi32(_mm512_add_epi32(w.low, half), (int)bits),
                              _mm512_srai_epi32(_mm512_add_epi32(w.high, half), (int)bits));
}

static inline void lanes_transpose(lanes row[8])
{
    __m512i a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm512_unpacklo_epi16(row[i], row[i + 4]);
        a[2 * i + 1] = _mm512_unpackhi_epi16(row[i], row[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        b[2 * i] = _mm512_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm512_unpackhi_epi16(a[i], a[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        row[2 * i] = _mm512_unpacklo_epi16(b[i], b[i + 4]);
        row[2 * i + 1] = _mm512_unpackhi_epi16(b[i], b[i + 4]);
    }
}

/* Two rows of each block. */
static inline void put_rows(const struct group *g, unsigned row, __m512i samples)
{
    const __m128i quarter[4] = {_mm512_castsi512_si128(samples), _mm512_extracti32x4_epi32(samples, 1),
                                _mm512_extracti32x4_epi32(samples, 2), _mm512_extracti32x4_epi32(samples, 3)};
    for (int i = 0; i < 4; i++) {
        uint8_t *out = g->out[i] + row * g->stride;
        _mm_storel_epi64((__m128i *)out, quarter[i]);
        _mm_storeh_pd((double *)(out + g->stride), _mm_castsi128_pd(quarter[i]));
    }
}

/* Eight columns to bytes, and to rows: by interleaving those of every second column, and so on. */
static inline void lanes_put8(const lanes column[8], const struct group *g)
{
    __m512i a[4], b[4], middle = _mm512_set1_epi8(-128);
    for (int i = 0; i < 4; i++)
        a[i] = _mm512_xor_si512(_mm512_packs_epi16(column[i], column[i + 4]), middle);
    b[0] = _mm512_unpacklo_epi8(a[0], a[2]);
    b[1] = _mm512_unpacklo_epi8(a[1], a[3]);
    b[2] = _mm512_unpackhi_epi8(a[0], a[2]);
    b[3] = _mm512_unpackhi_epi8(a[1], a[3]);
    a[0] = _mm512_unpacklo_epi8(b[0], b[1]);
    a[1] = _mm512_unpackhi_epi8(b[0], b[1]);
    a[2] = _mm512_unpacklo_epi8(b[2], b[3]);
    a[3] = _mm512_unpackhi_epi8(b[2], b[3]);
    for (unsigned i = 0; i < 2; i++) {
        put_rows(g, 4 * i, _mm512_unpacklo_epi32(a[i], a[i + 2]));
        put_rows(g, 4 * i + 2, _mm512_unpackhi_epi32(a[i], a[i + 2]));
    }
}

static inline void lanes_put4(const lanes column[4], const struct group *g)
{
    __m512i middle = _mm512_set1_epi8(-128);
    __m512i even = _mm512_xor_si512(_mm512_packs_epi16(column[0], column[2]), middle);
    __m512i odd = _mm512_xor_si512(_mm512_packs_epi16(column[1], column[3]), middle);
    __m512i rows = _mm512_unpacklo_epi16(_mm512_unpacklo_epi8(even, odd), _mm512_unpackhi_epi8(even, odd));
    _Alignas(64) uint8_t samples[4][4][4];
    _mm512_store_si512(samples, rows);
    for (int i = 0; i < 4; i++)
        for (unsigned y = 0; y < 4; y++)
            memcpy(g->out[i] + y * g->stride, samples[i][y], 4);
}

#include "idct_lanes.h"

size_t segments_avx512(const struct segments *s, const struct segment_run *runs, size_t n)
{
    return decode_runs(s, runs, n);
}
