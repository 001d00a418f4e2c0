/* Which blocks there are to deliver from: see entering.h. */
#include "entering.h"

#include "places.h"

void entering_order(uint64_t seed, uint64_t epoch, bool sequential, uint32_t blocks, uint32_t *order)
{
    for (uint32_t i = 0; i < blocks; i++)
        order[i] = i;
    if (!sequential)
        places_shuffle(random_epoch_key(seed, epoch, RANDOM_BLOCKS), order, blocks);
}
