/* XXH3 from libxxhash, in the variant for this machine, and SHA-256 from libcrypto. */
/*
 * libcrypto's plain SHA-256, not its EVP interface: the code is the same, and as fast, but a program that is linked
 * with libcrypto.a gets 30 kB of it instead of 4 MB of providers. OpenSSL 3 must be asked to declare it.
 */
#define OPENSSL_API_COMPAT 0x10100000L

#include "hash.h"

#include "cpu.h"
#include "xxh3.h"

#include <openssl/sha.h>
#include <stdlib.h>

static const struct xxh3 *xxh3(void)
{
#if defined(__x86_64__)
    enum cpu_variant variant = cpu_variant();
    if (variant == CPU_AVX512)
        return &xxh3_avx512;
    if (variant == CPU_AVX2)
        return &xxh3_avx2;
#endif
    return &xxh3_base;
}

uint64_t hash_xxh3_64(const void *data, size_t size)
{
    return xxh3()->hash64(data, size);
}

struct hash128 hash_xxh3_128(const void *data, size_t size)
{
    struct xxh3_wide h = xxh3()->hash128(data, size);
    return (struct hash128){h.low, h.high};
}

/* A stream is nothing but the library's state. */
struct hash_stream *hash_stream_new(void)
{
    size_t bytes = (xxh3()->state_bytes + 63) & ~(size_t)63;
    struct hash_stream *stream = aligned_alloc(64, bytes);
    if (stream)
        hash_stream_reset(stream);
    return stream;
}

void hash_stream_free(struct hash_stream *stream)
{
    free(stream);
}

void hash_stream_reset(struct hash_stream *stream)
{
    xxh3()->reset(stream);
}

void hash_stream_add(struct hash_stream *stream, const void *data, size_t size)
{
    xxh3()->add(stream, data, size);
}

uint64_t hash_stream_64(struct hash_stream *stream)
{
    return xxh3()->end64(stream);
}

struct hash128 hash_stream_128(struct hash_stream *stream)
{
    struct xxh3_wide h = xxh3()->end128(stream);
    return (struct hash128){h.low, h.high};
}

void hash_sha256(const void *data, size_t size, uint8_t digest[32])
{
    SHA256_CTX context; /* SHA256() may allocate, and not survive that there is no memory */
    SHA256_Init(&context);
    SHA256_Update(&context, data, size);
    SHA256_Final(digest, &context);
}

struct sha256 {
    SHA256_CTX context;
};

struct sha256 *sha256_new(void)
{
    struct sha256 *sha = malloc(sizeof *sha);
    if (sha)
        SHA256_Init(&sha->context);
    return sha;
}

void sha256_free(struct sha256 *sha)
{
    free(sha);
}

void sha256_add(struct sha256 *sha, const void *data, size_t size)
{
    SHA256_Update(&sha->context, data, size);
}

void sha256_end(struct sha256 *sha, uint8_t digest[32])
{
    SHA256_Final(digest, &sha->context);
    SHA256_Init(&sha->context);
}
