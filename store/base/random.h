/* Keyed randomness: numbers that anyone with the key can compute again, and that reveal nothing about each
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
    RANDOM_STORE_ORDER = 1, /* the order of a shuffled store */
    RANDOM_BLOCKS = 2,      /* the order in which blocks enter in an epoch */
    RANDOM_AUGMENT = 5,     /* crop, flip and square of a record */
    RANDOM_FLIP_SIDE = 6,   /* alternating flip: which epochs a record is flipped in */
    RANDOM_RECEIPT = 7,     /* hashes of records in a receipt */
    RANDOM_SPLIT = 8,       /* which side of a split a record falls on */
    RANDOM_SAMPLE = 9,      /* how often a record comes in a sampled epoch */
    RANDOM_CROP = 10,       /* which box of an image of any size is taken */
    RANDOM_EFFECTS = 11,    /* how the pixels of a record's crop are changed */
    RANDOM_BLEND = 12,      /* how the images of a batch are mixed with each other */
    RANDOM_BUCKETS = 13,    /* in which order batches of like lengths come */
    RANDOM_PLACE = 14,      /* which bin a delivery goes to, where the window covers the split */
    RANDOM_SHUFFLE = 15,    /* the order of a bin */
    RANDOM_SPREAD = 16,     /* which bins the deliveries of a block go to, below that */
    RANDOM_END = 17,        /* the same, of what still stands when the last block has entered */
    RANDOM_LATE = 18        /* in free order: which bin instead of one that has been closed */
};

/* SipHash-2-4 (Aumasson and Bernstein, 2012) of `count` words, taken as little-endian bytes. */
uint64_t siphash(struct random_key key, const uint64_t *words, size_t count);

/* A key for one purpose from a seed, and from a seed and an epoch. */
struct random_key random_key(uint64_t seed, enum random_purpose purpose);
struct random_key random_epoch_key(uint64_t seed, uint64_t epoch, enum random_purpose purpose);

/* Philox4x32-10 (Salmon et al., 2011): four numbers for each counter. */
void philox(uint64_t key, const uint32_t counter[4], uint32_t out[4]);

/* The same for 16 counters at once, in place: word k of counter i is x[k][i]. */
#define PHILOX_LANES 16
void philox_lanes(uint64_t key, uint32_t (*x)[PHILOX_LANES]);

/* The same for the counters `counter` ... counter + 15, whose upper words are those of key.high, with key.low. */
void philox_run(struct random_key key, uint64_t counter, uint32_t (*x)[PHILOX_LANES]);

/* Uniform numbers one after another, from a Philox counter. */
#define RANDOM_AHEAD (4 * PHILOX_LANES)
struct random_stream {
    struct random_key key;
    uint64_t counter;
    unsigned used;
    uint32_t ahead[RANDOM_AHEAD];
};

void random_stream_init(struct random_stream *stream, struct random_key key);
void random_stream_refill(struct random_stream *stream);

static inline uint32_t random_u32(struct random_stream *stream)
{
    if (stream->used == RANDOM_AHEAD)
        random_stream_refill(stream);
    return stream->ahead[stream->used++];
}

/* Uniform on 0 ... bound-1 without bias (Lemire, 2019); bound must not be 0. */
static inline uint32_t random_below(struct random_stream *stream, uint32_t bound)
{
    uint64_t m = (uint64_t)random_u32(stream) * bound;
    if ((uint32_t)m < bound) {
        uint32_t least = -bound % bound;
        while ((uint32_t)m < least)
            m = (uint64_t)random_u32(stream) * bound;
    }
    return (uint32_t)(m >> 32);
}

#endif
