/* XXH3: see digest.h. */
#include "digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct digest digest_parts(const struct digest_part *parts, size_t count)
{
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (size_t i = 0; i < count; i++)
        XXH3_128bits_update(&state, parts[i].data, parts[i].bytes);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    return (struct digest){hash.high64, hash.low64};
}

uint64_t digest_seeded(const void *data, size_t bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, bytes, seed);
}
