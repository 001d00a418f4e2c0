/* Keyed randomness: what is published about it, and that bounds bring no bias. */
#include "random.h"

#include "order_case.h"

#include <stdbool.h>

Test(random, philox_is_philox)
{
    /* Philox4x32-10 of counters and keys that are all zeros, all ones, and digits of pi: the known answers that
     * its authors publish. */
    static const struct {
        uint32_t counter[4];
        uint64_t key;
        uint32_t out[4];
    } known[] = {
        {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
         UINT64_MAX,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         0x299f31d0a4093822,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        philox(known[i].key, known[i].counter, out);
        for (unsigned k = 0; k < 4; k++)
            cr_expect_eq(out[k], known[i].out[k], "%zu: 0x%08x", i, out[k]);
    }
}

Test(random, siphash_is_siphash)
{
    /* Of the bytes 0, 1, 2, ... under the key 0 ... 15: from the authors' table. */
    static const uint64_t known[] = {0x726fdb47dd0e0e31u, 0x93f5f5799a932462u, 0x3f2acc7f57c29bdbu,
                                     0xb8ad50c6f649af94u, 0x7127512f72f27cceu};
    struct random_key key = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    uint64_t words[4];
    for (unsigned i = 0; i < 4; i++)
        words[i] = 0x0706050403020100u + i * 0x0808080808080808u;
    for (size_t n = 0; n <= 4; n++)
        cr_expect_eq(siphash(key, words, n), known[n], "%zu words: 0x%016llx", n,
                     (unsigned long long)siphash(key, words, n));
}

/* A stream is the counters of its key one after another, in whatever order it lays them out. */
Test(random, streams_of_a_key_are_one)
{
    struct random_stream a, b;
    struct random_key key = random_epoch_key(3, 4, RANDOM_SHUFFLE);
    uint32_t block[4], drawn[RANDOM_AHEAD];
    uint32_t counter[4] = {0, 0, (uint32_t)key.high, (uint32_t)(key.high >> 32)};
    random_stream_init(&a, key);
    random_stream_init(&b, key);
    for (unsigned i = 0; i < 10000; i++)
        cr_assert_eq(random_u32(&a), random_u32(&b));
    random_stream_init(&a, key);
    for (; counter[0] < 3 * RANDOM_AHEAD / 4; counter[0]++) {
        for (unsigned i = 0; counter[0] % (RANDOM_AHEAD / 4) == 0 && i < RANDOM_AHEAD; i++)
            drawn[i] = random_u32(&a);
        philox(key.low, counter, block);
        for (unsigned k = 0; k < 4; k++) {
            unsigned found = 0;
            for (unsigned i = 0; i < RANDOM_AHEAD; i++)
                found += drawn[i] == block[k];
            cr_assert_geq(found, 1);
        }
    }
}

Test(random, keys_differ_by_seed_epoch_and_purpose)
{
    struct random_key keys[3 * 3 * 8];
    unsigned n = 0;
    for (uint64_t seed = 42; seed < 45; seed++)
        for (uint64_t epoch = 0; epoch < 3; epoch++)
            for (int purpose = 1; purpose <= 8; purpose++)
                keys[n++] = random_epoch_key(seed, epoch, (enum random_purpose)purpose);
    for (unsigned i = 0; i < n; i++) {
        cr_assert_neq(keys[i].low, keys[i].high);
        for (unsigned k = 0; k < i; k++)
            cr_assert(keys[i].low != keys[k].low && keys[i].high != keys[k].high);
    }
}

/* 4,000 per cell; a bound that is no power of two is where a careless reduction would show. */
Test(random, bounds_bring_no_bias)
{
    static const struct {
        uint32_t bound;
        double critical;
    } bounds[] = {{6, CHI_5}, {24, CHI_23}, {120, CHI_119}, {256, CHI_255}};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        uint32_t counts[256] = {0}, bound = bounds[i].bound;
        struct random_stream stream;
        random_stream_init(&stream, random_key(bound, RANDOM_SHUFFLE));
        for (uint32_t k = 0; k < 4000 * bound; k++)
            counts[random_below(&stream, bound)]++;
        double x = chi_square(counts, bound, 4000);
        cr_expect_lt(x, bounds[i].critical, "bound %u: %f", bound, x);
    }
}

/* A bound near 3/4 of 2^32: taking the high half of the product alone would bring every third number of it
 * twice as often. */
Test(random, large_bounds_bring_no_bias)
{
    uint32_t counts[3] = {0}, bound = 3u << 30;
    struct random_stream stream;
    random_stream_init(&stream, random_key(1, RANDOM_SHUFFLE));
    for (uint32_t k = 0; k < 30000; k++) {
        uint32_t x = random_below(&stream, bound);
        cr_assert_lt(x, bound);
        counts[x % 3]++;
    }
    cr_expect_lt(chi_square(counts, 3, 10000), CHI_5);
    cr_expect_eq(random_below(&stream, 1), 0);
}

/* Is `x`, drawn from the stream, taken at once, and as `k`? */
static bool drawn_as(uint32_t bound, uint32_t x, uint32_t k)
{
    struct random_stream stream;
    random_stream_init(&stream, random_key(1, RANDOM_SHUFFLE));
    for (unsigned i = 1; i < RANDOM_AHEAD; i++)
        stream.ahead[i] = UINT32_MAX; /* which every bound takes */
    stream.ahead[0] = x;
    stream.used = 0;
    uint32_t got = random_below(&stream, bound);
    return stream.used == 1 && got == k;
}

/* Without bias: of the 2^32 numbers that can be drawn, each result takes equally many, as many as there are. */
Test(random, bounds_are_exact)
{
    static const uint32_t bounds[] = {UINT32_MAX, UINT32_MAX - 1, 3u << 30,       (1u << 31) + 1,
                                      1u << 31,   (1u << 31) - 1, (1u << 30) + 7, 1000000007};
    struct random_stream stream;
    random_stream_init(&stream, random_key(11, RANDOM_SHUFFLE));
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        for (unsigned round = 0; round < 2000; round++) {
            uint32_t bound = bounds[b], taken = 0;
            uint32_t k = round == 0 ? 0 : round == 1 ? bound - 1 : random_below(&stream, bound);
            uint64_t first = ((uint64_t)k << 32) / bound, last = ((uint64_t)(k + 1ull) << 32) / bound + 2;
            for (uint64_t x = first; x <= last && x <= UINT32_MAX; x++)
                taken += drawn_as(bound, (uint32_t)x, k);
            cr_assert_eq(taken, ((uint64_t)1 << 32) / bound, "%u below %u", k, bound);
        }
}

/* Sixteen counters at once are sixteen counters one by one, whatever the machine does them with. */
Test(random, philox_lanes_are_philox)
{
    struct random_stream stream;
    random_stream_init(&stream, random_key(7, RANDOM_SHUFFLE));
    for (int round = 0; round < 100; round++) {
        uint32_t x[4][PHILOX_LANES], out[4];
        uint64_t key = (uint64_t)random_u32(&stream) << 32 | random_u32(&stream);
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < PHILOX_LANES; i++)
                x[k][i] = random_u32(&stream);
        uint32_t before[4][PHILOX_LANES];
        memcpy(before, x, sizeof x);
        philox_lanes(key, x);
        for (int i = 0; i < PHILOX_LANES; i++) {
            uint32_t counter[4] = {before[0][i], before[1][i], before[2][i], before[3][i]};
            philox(key, counter, out);
            for (int k = 0; k < 4; k++)
                cr_assert_eq(x[k][i], out[k], "counter %d, word %d", i, k);
        }
    }
}

/* So are sixteen that follow each other, also where the lower word of the counter overflows on the way. */
Test(random, philox_run_is_philox)
{
    struct random_key key = random_key(8, RANDOM_SHUFFLE);
    for (uint64_t first = 0; first < 40; first++)
        for (unsigned high = 0; high < 3; high++) {
            uint64_t counter = ((uint64_t)high << 32) + first - (high ? 20 : 0);
            uint32_t x[4][PHILOX_LANES], out[4];
            philox_run(key, counter, x);
            for (uint64_t i = 0; i < PHILOX_LANES; i++) {
                uint32_t one[4] = {(uint32_t)(counter + i), (uint32_t)((counter + i) >> 32),
                                   (uint32_t)key.high, (uint32_t)(key.high >> 32)};
                philox(key.low, one, out);
                for (int k = 0; k < 4; k++)
                    cr_assert_eq(x[k][i], out[k]);
            }
        }
}
