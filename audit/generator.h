/* The randomness of controls, SplitMix64: a generator that is good enough for all that is not its own fault. */
#ifndef GENERATOR_H
#define GENERATOR_H

#include <stdint.h>

struct generator {
    uint64_t state;
};

static inline uint64_t generator_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint64_t generator_draw(struct generator *g)
{
    return generator_mix(g->state += 0x9e3779b97f4a7c15u);
}

static inline uint32_t generator_below(struct generator *g, uint32_t n)
{
    return (uint32_t)((generator_draw(g) >> 32) * n >> 32);
}

static inline struct generator generator_keyed(uint64_t seed, uint64_t epoch)
{
    return (struct generator){generator_mix(seed ^ 0x5851f42d4c957f2du) +
                              generator_mix(generator_mix(epoch + 1))};
}

static inline void generator_shuffle(struct generator *g, uint32_t *items, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = generator_below(g, i), item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}

#endif
