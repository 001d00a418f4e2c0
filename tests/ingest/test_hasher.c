/* The hasher gives the digest of all it has taken, in whatever pieces, again and again. */
#include "hasher.h"

#include "bytes.h"
#include "hash.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect_digest(struct hasher *h, const uint8_t *data, size_t size)
{
    uint8_t got[32], expected[32];
    struct sha256 *sha = sha256_new();
    sha256_add(sha, data, size);
    sha256_end(sha, expected);
    sha256_free(sha);
    hasher_end(h, got);
    cr_assert(memcmp(got, expected, 32) == 0, "%zu bytes", size);
}

Test(hasher, pieces_of_any_size)
{
    static uint8_t data[3 << 20];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 24);
    struct hasher *h = hasher_new();
    cr_assert_not_null(h);
    const size_t pieces[] = {1, 977, 262143, 262144, 262145, sizeof data};
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        size_t size = pieces[p] == 1 ? 5000 : sizeof data;
        for (size_t at = 0; at < size; at += pieces[p])
            hasher_add(h, data + at, pieces[p] < size - at ? pieces[p] : size - at);
        expect_digest(h, data, size);
    }
    expect_digest(h, data, 0);
    hasher_free(h);
}

Test(hasher, freed_with_bytes_unhashed)
{
    struct hasher *h = hasher_new();
    static const uint8_t data[300000];
    hasher_add(h, data, sizeof data);
    hasher_free(h);
    hasher_free(NULL);
}

Test(hasher, none)
{
    static const uint8_t before[32] = {1, 2, 3};
    uint8_t digest[32];
    memcpy(digest, before, 32);
    hasher_add(NULL, before, 32);
    hasher_end(NULL, digest);
    cr_assert(memcmp(digest, before, 32) == 0);
}

Test(hasher, is_quick_without_a_thread)
{
    uint8_t whole[32], pieces[32];
    const char text[] = "what comes in pieces";
    struct hash128 due = hash_xxh3_128(text, sizeof text);
    struct hasher *h = hasher_new_quick();
    hasher_add(h, text, sizeof text);
    hasher_end(h, whole);
    for (size_t i = 0; i < sizeof text; i++)
        hasher_add(h, text + i, 1);
    hasher_end(h, pieces);
    hasher_free(h);
    cr_assert(memcmp(whole, pieces, 32) == 0);
    cr_assert(load_le(whole, 8) == due.low && load_le(whole + 8, 8) == due.high &&
              load_le(whole + 16, 8) == 0);
}
