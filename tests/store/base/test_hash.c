/* Hashes: published answers, in every variant that this machine runs, and of bytes that come in pieces. */
#include "hash.h"

#include "cpu.h"
#include "samples.h"
#include "xxh3.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST 100000u

static uint8_t pattern[LONGEST];

static void fill(void)
{
    for (size_t i = 0; i < LONGEST; i++)
        pattern[i] = (uint8_t)((i * i >> 3) + 7 * i + 3);
}

/* Of the first bytes of the pattern, as xxHash 0.8.1 itself has them. */
static const struct {
    size_t size;
    uint64_t narrow, low, high;
} known[] = {
    {0, 0x2d06800538d394c2, 0x6001c324468d497f, 0x99aa06d3014798d8},
    {1, 0x13e608bc156defed, 0x13e608bc156defed, 0x22bbb76b211a39ba},
    {3, 0xa9088dda485b481c, 0xa9088dda485b481c, 0xce31763cbf8245a5},
    {8, 0xa7ea2707885b4e72, 0x715927b885c4260c, 0x605d8a1366b6c492},
    {16, 0xadadc4208b619f5e, 0xfbb1001cc03f85e2, 0x1353e0873e5455af},
    {17, 0x5dc7aa3cfb6a8b07, 0x97893c1147f759de, 0x1a23d0e4ca45a860},
    {128, 0x6c06360650fd4abb, 0x037d872ad9eaf10a, 0xf1b013273284184f},
    {129, 0x7560cae0703e574a, 0x738fbe7b9f5becb9, 0x3e90884fa80ef3e5},
    {240, 0xca0312821140637a, 0x1054e3d778960df1, 0x9213e0653ce43f15},
    {241, 0x5460e5f2a812d8d0, 0x5460e5f2a812d8d0, 0xbce2b754f3a88cc4},
    {256, 0x176c911420b5e93b, 0x176c911420b5e93b, 0xee540834e7ff7707},
    {1023, 0x5e7799cea46a3672, 0x5e7799cea46a3672, 0xd79f6d10e3e5071c},
    {1024, 0x34da73de5d765c5d, 0x34da73de5d765c5d, 0x4f6fd279e3a3ffac},
    {1025, 0xfc620a6c1240d2f7, 0xfc620a6c1240d2f7, 0xb123be5b400f2bf3},
    {4096, 0x5c702a6a74fee353, 0x5c702a6a74fee353, 0xb8d573b9d21bb6b6},
    {100000, 0xa80276d0bec60a62, 0xa80276d0bec60a62, 0x1b2fc45ddb6d0935},
};
#define KNOWN (sizeof known / sizeof *known)

static void expect_known(const struct xxh3 *x)
{
    for (size_t i = 0; i < KNOWN; i++) {
        cr_assert_eq(x->hash64(pattern, known[i].size), known[i].narrow, "%zu bytes", known[i].size);
        struct xxh3_wide wide = x->hash128(pattern, known[i].size);
        cr_assert(wide.low == known[i].low && wide.high == known[i].high, "%zu bytes", known[i].size);
    }
}

/* A stream of the variant, in pieces of `piece` bytes, has both widths of what it was given so far. */
static void expect_stream(const struct xxh3 *x, size_t size, size_t piece)
{
    void *state = aligned_alloc(64, (x->state_bytes + 63) / 64 * 64);
    x->reset(state);
    for (size_t at = 0; at < size; at += piece)
        x->add(state, pattern + at, piece < size - at ? piece : size - at);
    struct xxh3_wide is = x->end128(state), once = x->hash128(pattern, size);
    cr_assert_eq(x->end64(state), x->hash64(pattern, size), "%zu bytes by %zu", size, piece);
    cr_assert(is.low == once.low && is.high == once.high, "%zu bytes by %zu", size, piece);
    free(state);
}

static void expect_variant(const struct xxh3 *x)
{
    static const size_t sizes[] = {0,   1,   63,  64,   65,   239,  240,  241,  255,  256, 257,
                                   511, 512, 513, 1023, 1024, 1025, 1087, 1088, 2048, 4097};
    static const size_t pieces[] = {1, 3, 7, 64, 129, 255, 256, 257, 1000, 1024};
    expect_known(x);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++)
            expect_stream(x, sizes[s], pieces[p]);
    expect_stream(x, LONGEST, 977);
}

Test(hash, every_variant, .init = fill)
{
    expect_variant(&xxh3_base);
#if defined(__x86_64__)
    if (cpu_can(CPU_AVX2))
        expect_variant(&xxh3_avx2);
    if (cpu_can(CPU_AVX512))
        expect_variant(&xxh3_avx512);
#endif
}

Test(hash, the_variant_of_this_machine, .init = fill)
{
    struct hash_stream *stream = hash_stream_new();
    cr_assert_not_null(stream);
    for (size_t i = 0; i < KNOWN; i++) {
        size_t half = known[i].size / 2;
        cr_assert_eq(hash_xxh3_64(pattern, known[i].size), known[i].narrow);
        struct hash128 wide = hash_xxh3_128(pattern, known[i].size);
        cr_assert(wide.low == known[i].low && wide.high == known[i].high);
        hash_stream_add(stream, pattern, half);
        hash_stream_add(stream, pattern + half, known[i].size - half);
        cr_assert_eq(hash_stream_64(stream), known[i].narrow);
        wide = hash_stream_128(stream);
        cr_assert(wide.low == known[i].low && wide.high == known[i].high);
        hash_stream_reset(stream);
    }
    hash_stream_free(stream);
    hash_stream_free(NULL);
}

/* Bytes that begin at any address, on the heap, where reading beyond them is noticed. */
Test(hash, any_alignment, .init = fill)
{
    for (size_t shift = 0; shift < 64; shift++)
        for (size_t i = 0; i + 1 < KNOWN; i++) {
            uint8_t *data = malloc(shift + known[i].size + 1);
            memcpy(data + shift, pattern, known[i].size);
            uint8_t *fits = realloc(data, shift + known[i].size + !shift);
            cr_assert_eq(hash_xxh3_64(fits + shift, known[i].size), known[i].narrow);
            free(fits);
        }
}

Test(hash, nothing_at_all)
{
    cr_assert_eq(hash_xxh3_64(NULL, 0), known[0].narrow);
    cr_assert_eq(hash_xxh3_128(NULL, 0).high, known[0].high);
    struct hash_stream *stream = hash_stream_new();
    hash_stream_add(stream, NULL, 0);
    cr_assert_eq(hash_stream_64(stream), known[0].narrow);
    hash_stream_free(stream);
}

/* ------------------------------------------------------------------------------------------------ SHA-256 */

static void expect_sha256(struct sha256 *sha, const char *hex)
{
    uint8_t digest[32];
    char is[65];
    sha256_end(sha, digest);
    for (int i = 0; i < 32; i++)
        snprintf(is + 2 * i, 3, "%02x", digest[i]);
    cr_assert_str_eq(is, hex);
}

Test(hash, sha256)
{
    struct sha256 *sha = sha256_new();
    cr_assert_not_null(sha);
    expect_sha256(sha, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_add(sha, "abc", 3);
    expect_sha256(sha, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_add(sha, "a", 1); /* it has started over */
    sha256_add(sha, "", 0);
    sha256_add(sha, "bc", 2);
    expect_sha256(sha, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (int i = 0; i < 1000000; i++)
        sha256_add(sha, "a", 1);
    expect_sha256(sha, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    sha256_free(sha);
    sha256_free(NULL);
}
