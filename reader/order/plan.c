/* What follows from what is asked of an order: see plan.h. */
#include "plan.h"

#define SMALL_CHUNK  65536u
#define LARGE_CHUNK  262144u
#define MANY         ((uint64_t)1 << 26) /* deliveries: from here on larger chunks, and more bins */
#define SMALL_BIN    16384u
#define LARGE_BIN    ((uint64_t)1 << 18) /* deliveries that fit into the second-level cache */
#define LEAST_COVER  16u                 /* bins */
#define MOST_AT_ONCE 256u                /* bins: to scatter over more costs a miss each */
#define LEAST_OF_BIN 16u                 /* of a window: a bin has this part of it at most */

/* The least power of two that is not below n. */
static uint64_t power_above(uint64_t n)
{
    uint64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

static uint64_t held_to(uint64_t n, uint64_t least, uint64_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* Where the window covers the split: bins that are shuffled within a core's caches. */
static uint64_t covering_bins(uint64_t deliveries)
{
    if (deliveries <= MANY)
        return held_to(power_above((deliveries + SMALL_BIN - 1) / SMALL_BIN), LEAST_COVER, MOST_AT_ONCE);
    return power_above((deliveries + LARGE_BIN - 1) / LARGE_BIN);
}

/* Below that: so many that a block has about one delivery for every other bin, but no bin of less than a sixteenth of the window's share. */
static uint64_t window_bins(uint64_t window, uint64_t block)
{
    uint64_t spread = power_above(2 * block), part = power_above(window / LEAST_OF_BIN + 1) / 2;
    return held_to(spread < part ? spread : part, 1, PLAN_MAX_BINS);
}

struct plan_shape plan_shape(const struct plan_options *o, const struct subset *subset)
{
    unsigned each = o->sampler ? 1 : o->reuse;
    struct plan_shape s = {.lanes = o->lanes ? o->lanes : 1};
    for (uint32_t i = 0; i < subset->blocks; i++)
        s.block = subset->block[i].count > s.block ? subset->block[i].count : s.block;
    s.block *= each;
    s.deliveries = o->sampler ? sampler_records(o->sampler) : subset->records * each;
    s.window = o->window / s.lanes * each;
    s.whole = o->arriving || o->window >= subset->records || (s.lanes == 1 && s.deliveries <= s.window);
    if (o->bins)
        s.bins = o->bins;
    else
        s.bins = (uint32_t)(s.whole ? covering_bins(s.deliveries / s.lanes) : window_bins(s.window, s.block));
    return s;
}

uint64_t plan_most_of_block(const struct plan_options *o, const struct plan_shape *s)
{
    uint64_t most = o->sampler ? s->block * sampler_limit(o->sampler) : s->block;
    return most < s->deliveries ? most : s->deliveries;
}

uint32_t plan_chunk(const struct plan_shape *s)
{
    return s->deliveries <= MANY ? SMALL_CHUNK : LARGE_CHUNK;
}

uint64_t plan_chunks(const struct plan_shape *s)
{
    return 2 * s->deliveries / plan_chunk(s) +
           s->lanes; /* any two in a row of a lane have more than one may have */
}

unsigned plan_fillers(const struct plan_options *o, const struct plan_shape *s)
{
    uint64_t chunks = plan_chunks(s);
    return o->helpers < chunks ? o->helpers + 1 : (unsigned)chunks;
}

uint32_t plan_largest_chunk(const struct plan_options *o, const struct plan_shape *s)
{
    uint64_t block = plan_most_of_block(o, s),
             chunk = plan_chunk(s) < s->deliveries ? plan_chunk(s) : s->deliveries;
    return (uint32_t)(block > chunk ? block : chunk);
}

unsigned plan_shuffled(const struct plan_options *o, const struct plan_shape *s)
{
    unsigned ahead = s->lanes > 1 ? o->helpers > 0 : o->helpers + (o->helpers > 0);
    return 1 + (ahead < s->bins ? ahead : s->bins);
}

/* The most deliveries that stand at once, where the window does not cover the split. */
static uint64_t most_standing(const struct plan_options *o, const struct plan_shape *s)
{
    uint64_t standing = s->lanes * (s->window + plan_most_of_block(o, s));
    return standing < s->deliveries ? standing : s->deliveries;
}

size_t plan_bytes(const struct plan_options *o, const struct subset *subset)
{
    struct plan_shape s = plan_shape(o, subset);
    uint64_t bytes = subset->blocks * (uint64_t)16 + s.lanes * (uint64_t)128;
    if (o->sampler)
        bytes += sampler_bytes(o->sampler);
    if (o->sequential)
        return (size_t)bytes;
    if (s.whole) {
        uint64_t bin = s.deliveries / s.lanes / s.bins;
        bytes += s.deliveries * 4 +
                 (o->arriving ? s.deliveries * 2 : 0); /* what arrives is in arrays that grow by halves */
        bytes += plan_chunks(&s) * (s.bins + 2) * 4 +
                 plan_fillers(o, &s) * (uint64_t)plan_largest_chunk(o, &s) * 2;
        return (size_t)(bytes + s.lanes * plan_shuffled(o, &s) * ((bin + bin / 8 + 64) * 4 + 96));
    }
    /* Arrays that grow by halves, and are copied while they grow; and twice the places of a block. */
    uint64_t standing = most_standing(o, &s);
    return (size_t)(bytes + (standing + standing / 2) * 4 + s.lanes * (s.bins + 1) * (uint64_t)(96 + 256) +
                    plan_most_of_block(o, &s) * 8);
}
