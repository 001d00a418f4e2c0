/* Keyed randomness: numbers that anyone with the key can compute again, and that tell nothing about each
 * other. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random_key {
    uint64_t low, high;
};

/* What a key is for; two purposes never share a stream of numbers. The numbers never change their meaning. */
enum random_purpose {
    RANDOM_STORE_ORDER = 1 /* the order of a shuffled store */
};

/* SipHash-2-4 (Aumasson and Bernstein, 2012) of `count` words, taken as little-endian bytes. */
uint64_t siphash(struct random_key key, const uint64_t *words, size_t count);

/* A key for one purpose from a seed. */
struct random_key random_key(uint64_t seed, enum random_purpose purpose);

#endif
