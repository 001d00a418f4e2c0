/* Random numbers for effects: see draws.h. */
#include "draws.h"

struct effect_draws effect_draws(uint64_t seed, uint64_t epoch, uint64_t id, uint32_t copy)
{
    uint64_t key = random_epoch_key(seed, epoch, RANDOM_EFFECTS).low;
    return (struct effect_draws){.key = key, .id = id, .copy = copy};
}

void effect_words(const struct effect_draws *d, uint32_t number, uint32_t words[4])
{
    const uint32_t counter[4] = {(uint32_t)d->id, (uint32_t)(d->id >> 32), d->copy, number};
    philox(d->key, counter, words);
}
