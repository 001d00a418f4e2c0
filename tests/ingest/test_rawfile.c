/* Reading a descriptor: bytes, count, hash, failure, and stopping while nothing comes. */
#include "rawfile.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool never(void *user)
{
    (void)user;
    return false;
}

static bool third_time(void *user)
{
    return ++*(int *)user >= 3;
}

Test(rawfile, reads_counts_and_hashes)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], "abc", 3), 3);
    close(ends[1]);
    struct hasher *sha = hasher_new();
    struct rawfile file = {.fd = ends[0], .name = "x", .sha = sha, .waits = true, .stopped = never};
    uint8_t data[10], digest[32];
    size_t got = 0;
    cr_assert_eq(rawfile_read(&file, data, 2, &got, NULL), APL_OK);
    cr_assert(got == 2 && memcmp(data, "ab", 2) == 0);
    cr_assert_eq(rawfile_read(&file, data, sizeof data, &got, NULL), APL_OK);
    cr_assert(got == 1 && data[0] == 'c');
    cr_assert_eq(rawfile_read(&file, data, sizeof data, &got, NULL), APL_OK);
    cr_assert_eq(got, 0);
    cr_assert_eq(file.taken, 3);
    hasher_end(sha, digest);
    cr_assert(memcmp(digest, "\xba\x78\x16\xbf\x8f\x01\xcf\xea", 8) == 0);
    hasher_free(sha);
    close(ends[0]);
}

Test(rawfile, stops_while_it_waits, .timeout = 10)
{
    int ends[2], calls = 0;
    cr_assert_eq(pipe(ends), 0);
    struct rawfile file = {.fd = ends[0], .name = "x", .waits = true, .stopped = third_time, .user = &calls};
    uint8_t data[10];
    size_t got;
    apl_error err;
    cr_assert_eq(rawfile_read(&file, data, sizeof data, &got, &err), APL_E_CANCELLED);
    close(ends[0]);
    close(ends[1]);
}

Test(rawfile, tells_what_failed)
{
    int fd = open("/", O_RDONLY);
    struct rawfile file = {.fd = fd, .name = "here", .stopped = never};
    uint8_t data[10];
    size_t got;
    apl_error err;
    cr_assert_eq(rawfile_read(&file, data, sizeof data, &got, &err), APL_E_IO);
    cr_assert_str_eq(err.message, "here: byte 0: cannot be read: Is a directory");
    close(fd);
}

/* A descriptor that does not block has nothing yet, and is not hashed. */
Test(rawfile, tries_again_and_need_not_hash, .timeout = 10)
{
    int ends[2], calls = 0;
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    struct rawfile file = {.fd = ends[0], .name = "x", .stopped = third_time, .user = &calls};
    uint8_t data[10];
    size_t got;
    apl_error err;
    cr_assert_eq(rawfile_read(&file, data, sizeof data, &got, &err), APL_E_CANCELLED);
    cr_assert_eq(calls, 3, "it has tried again");
    cr_assert_eq(file.taken, 0);
    calls = -9;
    cr_assert_eq(write(ends[1], "abc", 3), 3);
    cr_assert_eq(rawfile_read(&file, data, sizeof data, &got, &err), APL_OK);
    cr_assert(got == 3 && memcmp(data, "abc", 3) == 0);
    cr_assert_eq(file.taken, 3);
    cr_assert_null(file.sha);
    close(ends[0]);
    close(ends[1]);
}
