/* Philox for x86-64-v3: eight counters in a register. */
#include "random_rounds.h"

void philox_lanes_avx2(uint64_t key, uint32_t (*x)[PHILOX_LANES])
{
    philox_rounds(key, x, PHILOX_LANES);
}
