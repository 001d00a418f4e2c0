/* SipHash-2-4, and keys made with it. */
#include "random.h"

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

struct random_key random_key(uint64_t seed, enum random_purpose purpose)
{
    static const struct random_key root = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    uint64_t low[3] = {seed, purpose, 0}, high[3] = {seed, purpose, 1};
    return (struct random_key){siphash(root, low, 3), siphash(root, high, 3)};
}
