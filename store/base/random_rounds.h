/* The rounds of Philox over several counters, for the files that compile them for one instruction set each. */
#ifndef RANDOM_ROUNDS_H
#define RANDOM_ROUNDS_H

#include "random.h"

/* Word k of counter i is x[k][i], so that the compiler can take several counters at once: the rounds of one
 * wait for each other, those of several do not. */
static inline void philox_rounds(uint64_t key, uint32_t (*restrict x)[PHILOX_LANES], unsigned n)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        for (unsigned i = 0; i < n; i++) {
            uint64_t a = (uint64_t)0xd2511f53u * x[0][i], b = (uint64_t)0xcd9e8d57u * x[2][i];
            x[0][i] = (uint32_t)(b >> 32) ^ x[1][i] ^ k0;
            x[1][i] = (uint32_t)b;
            x[2][i] = (uint32_t)(a >> 32) ^ x[3][i] ^ k1;
            x[3][i] = (uint32_t)a;
        }
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
}

void philox_lanes_avx2(uint64_t key, uint32_t (*x)[PHILOX_LANES]);

/* The lower words of the counters must not overflow. */
void philox_run_avx2(struct random_key key, uint64_t counter, uint32_t (*x)[PHILOX_LANES]);

#endif
