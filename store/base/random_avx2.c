/* Philox for x86-64-v3: eight counters in a register. */
#include "random_rounds.h"

#include <immintrin.h>

/* Eight products, low and high halves apart. */
static inline void multiply(__m256i x, __m256i by, __m256i *low, __m256i *high)
{
    __m256i even = _mm256_mul_epu32(x, by), odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), by);
    *low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

static inline void round_of(__m256i x[4], __m256i k0, __m256i k1)
{
    __m256i a_low, a_high, b_low, b_high;
    multiply(x[0], _mm256_set1_epi32((int)0xd2511f53u), &a_low, &a_high);
    multiply(x[2], _mm256_set1_epi32((int)0xcd9e8d57u), &b_low, &b_high);
    x[0] = _mm256_xor_si256(_mm256_xor_si256(b_high, x[1]), k0);
    x[1] = b_low;
    x[2] = _mm256_xor_si256(_mm256_xor_si256(a_high, x[3]), k1);
    x[3] = a_low;
}

_Static_assert(PHILOX_LANES == 16, "two registers a word");

/* The rounds over two registers a word, and the results into x. */
static inline void finish(uint64_t key, __m256i low[4], __m256i high[4], uint32_t (*x)[PHILOX_LANES])
{
    __m256i k0 = _mm256_set1_epi32((int)(uint32_t)key), k1 = _mm256_set1_epi32((int)(uint32_t)(key >> 32));
    for (int round = 0; round < 10; round++) { /* two at a time: one's products take their time */
        round_of(low, k0, k1);
        round_of(high, k0, k1);
        k0 = _mm256_add_epi32(k0, _mm256_set1_epi32((int)0x9e3779b9u));
        k1 = _mm256_add_epi32(k1, _mm256_set1_epi32((int)0xbb67ae85u));
    }
    for (int k = 0; k < 4; k++) {
        _mm256_storeu_si256((__m256i *)x[k], low[k]);
        _mm256_storeu_si256((__m256i *)(x[k] + 8), high[k]);
    }
}

void philox_lanes_avx2(uint64_t key, uint32_t (*x)[PHILOX_LANES])
{
    __m256i low[4], high[4];
    for (int k = 0; k < 4; k++) {
        low[k] = _mm256_loadu_si256((const __m256i *)x[k]);
        high[k] = _mm256_loadu_si256((const __m256i *)(x[k] + 8));
    }
    finish(key, low, high, x);
}

/* Counters that are made here need not come from memory, to which they would just have been written. */
void philox_run_avx2(struct random_key key, uint64_t counter, uint32_t (*x)[PHILOX_LANES])
{
    __m256i first = _mm256_add_epi32(_mm256_set1_epi32((int)(uint32_t)counter),
                                     _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i low[4] = {first, _mm256_set1_epi32((int)(uint32_t)(counter >> 32)),
                      _mm256_set1_epi32((int)(uint32_t)key.high),
                      _mm256_set1_epi32((int)(uint32_t)(key.high >> 32))};
    __m256i high[4] = {_mm256_add_epi32(first, _mm256_set1_epi32(8)), low[1], low[2], low[3]};
    finish(key.low, low, high, x);
}
