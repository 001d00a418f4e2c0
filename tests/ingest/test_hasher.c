/* The hasher gives the digest of all it has taken, in whatever pieces, again and again. */
#include "hasher.h"

#include "bytes.h"
#include "hash.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static unsigned running_threads(void)
{
    unsigned count = 0;
    DIR *threads = opendir("/proc/self/task");
    cr_assert_not_null(threads);
    while (readdir(threads))
        count++;
    closedir(threads);
    return count;
}

/* What is left is not hashed later, nor kept: threads end, memory stays, and the next hasher knows nothing of it. */
Test(hasher, freed_with_bytes_unhashed)
{
    static const uint8_t data[300000];
    unsigned threads = running_threads();
    struct mallinfo2 before = {0}, after;
    for (unsigned i = 0; i < 512; i++) {
        struct hasher *h = hasher_new();
        cr_assert_not_null(h);
        hasher_add(h, data, i % 2 ? sizeof data : 100);
        hasher_free(h);
        if (i == 8)
            before = mallinfo2();
    }
    after = mallinfo2();
    /* A thread that has been joined may still be listed for a moment. */
    for (unsigned i = 0; i < 1000 && running_threads() > threads; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    cr_assert_eq(running_threads(), threads);
    cr_assert_lt(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + 8192);
    struct hasher *h = hasher_new();
    hasher_add(h, "abc", 3);
    expect_digest(h, (const uint8_t *)"abc", 3);
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
