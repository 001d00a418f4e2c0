/* The body of xxh3_base.c and its siblings, which define XXH3_TABLE and are compiled for their instruction
 * set. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "xxh3.h"

static uint64_t hash64(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

static struct xxh3_wide hash128(const void *data, size_t size)
{
    XXH128_hash_t h = XXH3_128bits(data, size);
    return (struct xxh3_wide){h.low64, h.high64};
}

static void stream_reset(void *state)
{
    XXH3_INITSTATE((XXH3_state_t *)state);
    XXH3_64bits_reset(state);
}

static void stream_add(void *state, const void *data, size_t size)
{
    XXH3_64bits_update(state, data, size);
}

static uint64_t end64(const void *state)
{
    return XXH3_64bits_digest(state);
}

static struct xxh3_wide end128(const void *state)
{
    XXH128_hash_t h = XXH3_128bits_digest(state);
    return (struct xxh3_wide){h.low64, h.high64};
}

const struct xxh3 XXH3_TABLE = {hash64, hash128, sizeof(XXH3_state_t), stream_reset, stream_add,
                                end64,  end128};
