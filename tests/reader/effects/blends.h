/* What mixing images comes to, as one number: the same for every variant on every machine. In plain C, so that it runs where there is
 * no test framework. */
#ifndef BLENDS_H
#define BLENDS_H

#include "beta.h"
#include "blend.h"
#include "samples.h"

#include <stdio.h>
#include <string.h>

#define BLENDS_DIGEST 0x8c9a9a2fbca3c056u
#define BLENDS_VALUES 1031u /* not a multiple of any vector */

static inline uint64_t blends_add(uint64_t digest, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        digest = (digest ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return digest;
}

/* Halves of any kind but NaN and infinity. */
static inline uint16_t blends_half(uint32_t *state, uint16_t most)
{
    uint32_t random = sample_random(state);
    return (uint16_t)((random >> 8) % most | (random & 1) << 15);
}

static inline uint64_t blends_of_kernels(const struct blend *k)
{
    static float a[BLENDS_VALUES], b[BLENDS_VALUES];
    static uint16_t c[BLENDS_VALUES], d[BLENDS_VALUES];
    uint64_t digest = 0xcbf29ce484222325u;
    uint32_t state = 7;
    for (int round = 0; round < 40; round++) {
        float own = (float)round / 39, other = 1 - own;
        for (size_t i = 0; i < BLENDS_VALUES; i++) {
            a[i] = (float)(int32_t)sample_random(&state) / 65536;
            b[i] = (float)(int32_t)sample_random(&state) / 1024;
            c[i] = blends_half(&state, 0x7c00);
            d[i] = blends_half(&state, 0x7c00);
        }
        k->f32(a, b, BLENDS_VALUES, own, other);
        k->f16(c, d, BLENDS_VALUES, own, other);
        digest = blends_add(blends_add(digest, a, sizeof a), c, sizeof c);
        for (size_t i = 0; i < BLENDS_VALUES; i++) {
            c[i] = blends_half(&state, 0x7f00);
            d[i] = blends_half(&state, 0x7f00);
        }
        k->bf16(c, d, BLENDS_VALUES, own, other);
        digest = blends_add(digest, c, sizeof c);
    }
    return digest;
}

static inline uint64_t blends_digest(const struct blend *k)
{
    static const double alphas[] = {0.001, 0.2, 1, 1.5, 30, 1000};
    uint64_t digest = blends_of_kernels(k);
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++)
        for (uint32_t n = 0; n < 200; n++) {
            const uint32_t counter[3] = {n, 3, 1};
            double x = beta_draw(alphas[i], 99, counter);
            digest = blends_add(digest, &x, sizeof x);
        }
    return digest;
}

#endif
