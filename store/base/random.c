/* SipHash-2-4, and keys made with it. */
#include "random.h"

#include "cpu.h"
#include "random_rounds.h"

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

uint64_t siphash(struct random_key key, const uint64_t *words, size_t count)
{
    uint64_t v[4] = {key.low ^ 0x736f6d6570736575u, key.high ^ 0x646f72616e646f6du,
                     key.low ^ 0x6c7967656e657261u, key.high ^ 0x7465646279746573u};
    for (size_t i = 0; i < count; i++)
        sip_word(v, words[i]);
    sip_word(v, (uint64_t)(count * 8) << 56); /* the last word holds the length, and here no bytes */
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static const struct random_key root = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};

struct random_key random_key(uint64_t seed, enum random_purpose purpose)
{
    uint64_t low[3] = {seed, purpose, 0}, high[3] = {seed, purpose, 1};
    return (struct random_key){siphash(root, low, 3), siphash(root, high, 3)};
}

struct random_key random_epoch_key(uint64_t seed, uint64_t epoch, enum random_purpose purpose)
{
    struct random_key key = random_key(seed, purpose);
    uint64_t low[2] = {epoch, 0}, high[2] = {epoch, 1};
    return (struct random_key){siphash(key, low, 2), siphash(key, high, 2)};
}

/* ---------------------------------------------------------------------------------------------- Philox */

void philox(uint64_t key, const uint32_t counter[4], uint32_t out[4])
{
    uint32_t x[4][PHILOX_LANES];
    for (int k = 0; k < 4; k++)
        x[k][0] = counter[k];
    philox_rounds(key, x, 1);
    for (int k = 0; k < 4; k++)
        out[k] = x[k][0];
}

void philox_lanes(uint64_t key, uint32_t (*x)[PHILOX_LANES])
{
#if defined(__x86_64__)
    if (cpu_variant() == CPU_AVX2 || cpu_variant() == CPU_AVX512) {
        philox_lanes_avx2(key, x);
        return;
    }
#endif
    philox_rounds(key, x, PHILOX_LANES);
}

void philox_run(struct random_key key, uint64_t counter, uint32_t (*x)[PHILOX_LANES])
{
#if defined(__x86_64__)
    if (counter % ((uint64_t)1 << 32) <= UINT32_MAX - PHILOX_LANES &&
        (cpu_variant() == CPU_AVX2 || cpu_variant() == CPU_AVX512)) {
        philox_run_avx2(key, counter, x);
        return;
    }
#endif
    for (unsigned i = 0; i < PHILOX_LANES; i++) {
        x[0][i] = (uint32_t)(counter + i);
        x[1][i] = (uint32_t)((counter + i) >> 32);
        x[2][i] = (uint32_t)key.high;
        x[3][i] = (uint32_t)(key.high >> 32);
    }
    philox_lanes(key.low, x);
}

void random_stream_init(struct random_stream *stream, struct random_key key)
{
    stream->key = key;
    stream->counter = 0;
    stream->used = RANDOM_AHEAD;
}

void random_stream_refill(struct random_stream *stream)
{
    philox_run(stream->key, stream->counter, (uint32_t(*)[PHILOX_LANES])stream->ahead);
    stream->counter += PHILOX_LANES;
    stream->used = 0;
}
