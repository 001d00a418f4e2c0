/* To which bin a delivery goes: see places.h. */
#include "places.h"

#define GROUP (4 * PHILOX_LANES) /* numbers whose hashes come at once */

/* The bins of a whole group, which begins at a multiple of GROUP. */
static void hash_group(struct random_key key, uint64_t first, uint32_t bins, uint16_t place[GROUP])
{
    uint32_t x[4][PHILOX_LANES];
    for (unsigned i = 0; i < PHILOX_LANES; i++) {
        uint64_t counter = first / 4 + i;
        x[0][i] = (uint32_t)counter;
        x[1][i] = (uint32_t)(counter >> 32);
        x[2][i] = (uint32_t)key.high;
        x[3][i] = (uint32_t)(key.high >> 32);
    }
    philox_lanes(key.low, x);
    for (unsigned k = 0; k < 4; k++)
        for (unsigned i = 0; i < PHILOX_LANES; i++)
            place[4 * i + k] = (uint16_t)((uint64_t)x[k][i] * bins >> 32);
}

void places_hash(struct random_key key, uint64_t first, uint32_t n, uint32_t bins, uint16_t *place)
{
    uint16_t group[GROUP];
    uint32_t done = 0;
    while (done < n) {
        uint32_t before = (uint32_t)((first + done) % GROUP), take = GROUP - before;
        take = take < n - done ? take : n - done;
        hash_group(key, first + done - before, bins, take == GROUP ? place + done : group);
        for (uint32_t i = 0; take < GROUP && i < take; i++)
            place[done + i] = group[before + i];
        done += take;
    }
}

struct random_key places_key(struct random_key key, uint64_t lane, uint64_t number)
{
    uint64_t low[3] = {lane, number, 0}, high[3] = {lane, number, 1};
    return (struct random_key){siphash(key, low, 3), siphash(key, high, 3)};
}

static void shuffle(struct random_stream *stream, uint32_t *numbers, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = random_below(stream, i), t = numbers[k];
        numbers[k] = numbers[i - 1];
        numbers[i - 1] = t;
    }
}

void places_shuffle(struct random_key key, uint32_t *numbers, uint32_t n)
{
    struct random_stream stream;
    random_stream_init(&stream, key);
    shuffle(&stream, numbers, n);
}

/* A random order of 0 ... n-1, and the v of the spread, as a fraction of 2^32. */
static uint32_t order_of_block(struct random_key key, uint32_t n, uint32_t *order)
{
    struct random_stream stream;
    random_stream_init(&stream, key);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    shuffle(&stream, order, n);
    return random_u32(&stream);
}

void places_spread(struct random_key key, uint32_t n, uint32_t bins, uint32_t *delay)
{
    uint64_t v = order_of_block(key, n, delay);
    if (n == 0)
        return;
    uint64_t step = ((uint64_t)bins << 32) / n, from = v * bins / n; /* in 2^-32 of a bin */
    for (uint32_t k = 0; k < n; k++)
        delay[k] = 1 + (uint32_t)((from + step * delay[k]) >> 32);
}

void places_start(struct random_key key, uint32_t n, uint32_t bins, uint32_t *delay, uint32_t *scratch)
{
    uint64_t v = order_of_block(key, n, delay), w = bins, all = w + w * (w + 1) / 2;
    if (n == 0)
        return;
    uint64_t step = ((uint64_t)1 << 32) / n, from = v / n; /* in 2^-32 of all that stands */
    uint64_t below = w;                                    /* what stands in bins up to d; times w */
    for (uint32_t s = 0, d = 0; s < n; s++) {
        for (uint64_t at = (from + step * s) * all >> 32; at >= below; below += w - d + 1)
            d++;
        scratch[s] = d;
    }
    for (uint32_t k = 0; k < n; k++)
        delay[k] = scratch[delay[k]];
}
