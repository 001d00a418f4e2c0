/* A bitset: a bit for each of some records, which many threads may set at once. */
#ifndef BITSET_H
#define BITSET_H

#include "bytes.h"
#include "status.h"

#include <stdatomic.h>

struct bitset {
    uint64_t count;           /* of bits */
    _Atomic(uint64_t) *words; /* record i is bit i % 64 of word i / 64; NULL: there is no bitset */
};

/* All bits are clear. */
apl_status bitset_init(struct bitset *bits, uint64_t count, apl_error *err);
void bitset_free(struct bitset *bits);

/* Sets bit i; false if it was set already. */
static inline bool bitset_set(struct bitset *bits, uint64_t i)
{
    uint64_t bit = (uint64_t)1 << i % 64;
    /* relaxed: a thread that sets bits is joined by the one that reads them, or hands over to it under a lock */
    return !(atomic_fetch_or_explicit(&bits->words[i / 64], bit, memory_order_relaxed) & bit);
}

static inline bool bitset_test(const struct bitset *bits, uint64_t i)
{
    return atomic_load_explicit(&bits->words[i / 64], memory_order_relaxed) >> i % 64 & 1;
}

/* How many bits are set; while nobody sets any. */
uint64_t bitset_count(const struct bitset *bits);

/* How many bits are set in both, which have equally many bits. */
uint64_t bitset_count_both(const struct bitset *a, const struct bitset *b);

/* Sets in `bits` those of `all` that are not set in `but`; of an `all` without words, every bit counts as set. */
void bitset_difference(struct bitset *bits, const struct bitset *all, const struct bitset *but);

/* A hash of the bits, and of that one. */
uint64_t bitset_hash(const struct bitset *bits, uint64_t hash);

/* Bytes of `count` bits as they are stored: bit i is bit i % 8 of byte i / 8. */
static inline size_t bitset_bytes(uint64_t count)
{
    return (size_t)(count / 8 + (count % 8 != 0));
}

void bitset_store(const struct bitset *bits, uint8_t *bytes);

/* False if a bit beyond the last one is set. */
bool bitset_load(struct bitset *bits, const uint8_t *bytes);

#endif
