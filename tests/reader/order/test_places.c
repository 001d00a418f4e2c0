/* To which bin a delivery goes: as defined, uniform, and evenly spread. */
#include "places.h"

#include "order_case.h"

#include <string.h>

/* Any stretch of numbers is hashed as each is by itself. */
Test(places, hashes_do_not_depend_on_where_they_begin)
{
    struct random_key key = random_key(3, RANDOM_PLACE);
    uint16_t all[1000], some[1000];
    const uint64_t base = ((uint64_t)1 << 34) - 300; /* the counter's high word changes on the way */
    places_hash(key, base, 1000, 37, all);
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t x = base + i;
        uint32_t counter[4] = {(uint32_t)(x / 4), (uint32_t)(x / 4 >> 32), (uint32_t)key.high,
                               (uint32_t)(key.high >> 32)},
                 word[4];
        philox(key.low, counter, word);
        cr_assert_eq(all[i], (uint64_t)word[x % 4] * 37 >> 32);
    }
    for (uint32_t from = 0; from < 200; from += 7)
        for (uint32_t n = 0; n < 300; n += 13) {
            memset(some, 255, sizeof some);
            places_hash(key, base + from, n, 37, some);
            cr_assert(memcmp(some, all + from, n * sizeof *some) == 0);
            cr_assert_eq(some[n], 65535, "one too many");
        }
}

/* Counts are of the hashes, and what is found has the bin. */
Test(places, counts_and_finds_what_is_hashed)
{
    struct random_key key = random_key(4, RANDOM_PLACE);
    uint16_t place[700];
    uint32_t found[701];
    for (uint32_t first = 0; first < 130; first += 9)
        for (uint32_t n = 0; n < 700; n += 1 + n / 2) {
            uint32_t count[29] = {0};
            places_hash(key, first, n, 29, place);
            places_count(key, first, n, 29, count);
            for (uint32_t bin = 0; bin < 29; bin++) {
                uint32_t k = 0, some = places_find(key, first, n, 29, bin, found);
                cr_assert_eq(some, count[bin]);
                for (uint32_t i = 0; i < n; i++)
                    if (place[i] == bin)
                        cr_assert_eq(found[k++], i);
                cr_assert_eq(k, some);
            }
        }
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Are these ascending, and those the same in some order? Which it leaves ascending too. */
static bool same_numbers(uint32_t *numbers, const uint32_t *ascending, uint32_t n)
{
    qsort(numbers, n, sizeof *numbers, by_size);
    return memcmp(numbers, ascending, n * sizeof *numbers) == 0;
}

Test(places, a_spread_is_even)
{
    static uint32_t delay[300], sorted[300];
    for (uint32_t n = 0; n < 300; n += 1 + n / 20)
        for (uint32_t bins = 1; bins < 200; bins += 1 + bins / 3) {
            uint32_t count[201] = {0};
            places_block(random_key(n * 1000 + bins, RANDOM_SPREAD), n, bins, false, delay);
            places_sorted(random_key(n * 1000 + bins, RANDOM_SPREAD), n, bins, false, sorted);
            cr_assert(same_numbers(delay, sorted, n));
            for (uint32_t k = 0; k < n; k++) {
                cr_assert(delay[k] >= 1 && delay[k] <= bins);
                count[delay[k]]++;
            }
            for (uint32_t from = 1; from <= bins; from++)
                for (uint32_t to = from, sum = 0; to <= bins; to++) {
                    sum += count[to];
                    uint64_t part = (uint64_t)n * (to - from + 1);
                    cr_assert((uint64_t)(sum + 1) * bins >= part && (uint64_t)sum * bins <= part + bins,
                              "%u of %u in %u of %u bins", sum, n, to - from + 1, bins);
                }
            places_block(random_key(n, RANDOM_SPREAD), n, bins, true, delay);
            places_sorted(random_key(n, RANDOM_SPREAD), n, bins, true, sorted);
            cr_assert(same_numbers(delay, sorted, n));
            for (uint32_t k = 0; k < n; k++)
                cr_assert_leq(delay[k], bins);
        }
}

/* Each delivery of a block, by itself, is uniform over the bins; at the start, by what stands in a ring that has always run. */
Test(places, each_delivery_has_its_law)
{
    enum { N = 5, BINS = 16, TRIALS = 160000 };
    static uint32_t counts[2][N][BINS + 1];
    for (uint64_t t = 0; t < TRIALS; t++) {
        uint32_t delay[N];
        places_block(random_epoch_key(9, t, RANDOM_SPREAD), N, BINS, false, delay);
        for (unsigned k = 0; k < N; k++)
            counts[0][k][delay[k]]++;
        places_block(random_epoch_key(9, t, RANDOM_END), N, BINS, true, delay);
        for (unsigned k = 0; k < N; k++)
            counts[1][k][delay[k]]++;
    }
    for (unsigned k = 0; k < N; k++) {
        double x = chi_square(&counts[0][k][1], BINS, (double)TRIALS / BINS), y = 0;
        for (unsigned d = 0; d <= BINS; d++) {
            double expected = TRIALS * (double)(d ? BINS - d + 1 : BINS) / (BINS + BINS * (BINS + 1) / 2);
            y += (counts[1][k][d] - expected) * (counts[1][k][d] - expected) / expected;
        }
        cr_expect_lt(x, 56.5, "delivery %u: %f", k, x); /* 15 degrees of freedom, one in a million */
        cr_expect_lt(y, 58.3, "delivery %u at the start: %f", k, y); /* 16 */
    }
}

Test(places, keys_differ)
{
    struct random_key key = random_key(1, RANDOM_SPREAD), a = places_key(key, 0, 1),
                      b = places_key(key, 1, 0), c = places_key(key, 0, 0);
    cr_assert(memcmp(&a, &b, sizeof a) && memcmp(&b, &c, sizeof b) && memcmp(&a, &c, sizeof a));
}
