/* What codecs and kernels are tested with. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum sample { SAMPLE_RANDOM, SAMPLE_CONSTANT, SAMPLE_GRADIENT, SAMPLE_EXTREMES, SAMPLE_NOISY };
#define SAMPLES 5

static inline uint32_t sample_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* n bytes of a kind; what looks like rows is `width` long. */
static inline void sample_fill(uint8_t *to, size_t n, enum sample kind, size_t width, uint32_t seed)
{
    uint32_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t r = sample_random(&state) >> 8;
        switch (kind) {
        case SAMPLE_RANDOM:
            to[i] = (uint8_t)r;
            break;
        case SAMPLE_CONSTANT:
            to[i] = (uint8_t)seed;
            break;
        case SAMPLE_GRADIENT:
            to[i] = (uint8_t)(3 * (i % width) + 5 * (i / width) + seed);
            break;
        case SAMPLE_EXTREMES:
            to[i] = r & 1 ? 255 : 0;
            break;
        case SAMPLE_NOISY:
            to[i] = (uint8_t)(i % width + i / width + r % 8);
            break;
        }
    }
}

#endif
