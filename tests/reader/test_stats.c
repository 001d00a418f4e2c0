/* Figures of a reader, by themselves: how waits are counted. */
#include "stats.h"

#include <criterion/criterion.h>

TestSuite(stats);

/* The bucket in which a wait of that many nanoseconds is counted. */
static unsigned bucket_of(uint64_t ns)
{
    struct reader_counters c = {0};
    stats_count_wait(&c, ns);
    cr_assert(c.wait_ns == ns && c.longest_wait_ns == ns);
    for (unsigned i = 0; i < WAIT_BUCKETS; i++)
        if (c.waits[i])
            return i;
    cr_assert(0, "it is not counted");
    return WAIT_BUCKETS;
}

/* Powers of two, and one and a half times as much: the longest wait that counts in each. */
Test(stats, buckets_of_waits)
{
    cr_assert_eq(bucket_of(0), 0);
    cr_assert_eq(bucket_of(1), 0);
    for (unsigned i = 2; i < 80; i++) {
        uint64_t power = (uint64_t)1 << i / 2, longest = i % 2 ? power + power / 2 : power;
        cr_assert_eq(bucket_of(longest), i, "%u", i);
        cr_assert_eq(bucket_of(longest + 1), i + 1, "%u", i);
    }
    cr_assert_eq(bucket_of(UINT64_MAX), WAIT_BUCKETS - 1);
}

Test(stats, the_longest_wait)
{
    struct reader_counters c = {0};
    stats_count_wait(&c, 7);
    stats_count_wait(&c, 100);
    stats_count_wait(&c, 20);
    cr_assert(c.wait_ns == 127 && c.longest_wait_ns == 100);
}
