/* The audit's own hash, so that what made the splits is not what tests them. */
#ifndef DIGEST_H
#define DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct digest_part {
    const void *data;
    size_t bytes;
};

struct digest {
    uint64_t high, low;
};

/* 128 bits of the parts, one after another. */
struct digest digest_parts(const struct digest_part *parts, size_t count);

/* 64 bits of the data, another for each seed. */
uint64_t digest_seeded(const void *data, size_t bytes, uint64_t seed);

#endif
