/* The hashes of the format: XXH3 guards against accidents, SHA-256 names contents. */
#ifndef HASH_H
#define HASH_H

#include "status.h"

#include <stddef.h>
#include <stdint.h>

struct hash128 {
    uint64_t low, high;
};

uint64_t hash_xxh3_64(const void *data, size_t size);
struct hash128 hash_xxh3_128(const void *data, size_t size);

/* XXH3 of bytes that come in pieces; one stream gives both widths. */
struct hash_stream;
struct hash_stream *hash_stream_new(void); /* NULL: out of memory */
void hash_stream_free(struct hash_stream *stream);
void hash_stream_reset(struct hash_stream *stream);
void hash_stream_add(struct hash_stream *stream, const void *data, size_t size);
uint64_t hash_stream_64(struct hash_stream *stream);
struct hash128 hash_stream_128(struct hash_stream *stream);

void hash_sha256(const void *data, size_t size, uint8_t digest[32]);

/* SHA-256 of bytes that come in pieces. */
struct sha256;
struct sha256 *sha256_new(void); /* NULL: out of memory */
void sha256_free(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, size_t size);
void sha256_end(struct sha256 *sha, uint8_t digest[32]); /* and starts over */

#endif
