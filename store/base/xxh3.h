/* XXH3 compiled once for each instruction set: the library's inline form is as fast as the flags it is
 * compiled with. */
#ifndef XXH3_H
#define XXH3_H

#include <stddef.h>
#include <stdint.h>

struct xxh3_wide {
    uint64_t low, high;
};

struct xxh3 {
    uint64_t (*hash64)(const void *data, size_t size);
    struct xxh3_wide (*hash128)(const void *data, size_t size);
    size_t state_bytes; /* a stream's state: that many bytes, aligned to 64 */
    void (*reset)(void *state);
    void (*add)(void *state, const void *data, size_t size);
    uint64_t (*end64)(const void *state);
    struct xxh3_wide (*end128)(const void *state);
};

extern const struct xxh3 xxh3_base, xxh3_avx2, xxh3_avx512;

#endif
