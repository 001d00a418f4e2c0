/* The bins, of made-up splits: each delivery once, blocks in time and within the window, the order as it is defined, whoever fills. */
#include "bins.h"

#include "order_case.h"
#include "places.h"

#include <pthread.h>
#include <stdatomic.h>

static struct bins *new_bins(const struct plan_options *o, const struct subset *s)
{
    struct bins *p = NULL;
    apl_error err = {0};
    cr_assert_eq(bins_new(o, s, &p, &err), APL_OK, "%s", err.message);
    return p;
}

static size_t next(struct bins *p, uint32_t *deliveries, size_t n)
{
    bool failed;
    size_t k = bins_take(p, deliveries, n, &failed);
    cr_assert_not(failed);
    return k;
}

static uint32_t reference_of(const struct plan_options *o, uint32_t delivery)
{
    return delivery / o->reuse;
}

/* Every delivery of the epoch once; nothing of a block before it has entered. */
static void check_epoch(struct bins *p, const struct plan_options *o, const struct subset *s, size_t step)
{
    size_t all = (size_t)s->blocks * s->stride * o->reuse, n, at = 0;
    uint8_t *seen = calloc(all, 1), *in = calloc(s->blocks, 1);
    uint32_t deliveries[64];
    while ((n = next(p, deliveries, step)) > 0) {
        uint32_t entered;
        const uint32_t *blocks = bins_entered(p, &entered);
        uint64_t stand = 0;
        memset(in, 0, s->blocks);
        for (uint32_t i = 0; i < entered; i++) {
            in[blocks[i]]++;
            stand += s->block[blocks[i]].count;
        }
        for (size_t k = 0; k < n; k++) {
            uint32_t reference = reference_of(o, deliveries[k]), block = reference / s->stride;
            cr_assert_lt(deliveries[k], all);
            cr_assert_eq(seen[deliveries[k]]++, 0);
            cr_assert_eq(in[block], 1, "a block enters once, before its records come");
            cr_assert_lt(reference % s->stride, s->block[block].count);
        }
        at += n;
        cr_assert_eq(bins_position(p), at);
        if (!o->sequential && o->lanes <= 1)
            cr_assert_leq(stand * o->reuse, o->window * o->reuse + at, "more stand than the window holds");
    }
    cr_assert_eq(at, bins_length(p));
    cr_assert_eq(at, s->records * o->reuse);
    free(seen);
    free(in);
}

Test(bins, brings_each_delivery_once)
{
    uint32_t state = 12345;
    for (unsigned i = 0; i < 400; i++) {
        struct random_stream r;
        random_stream_init(&r, random_key(i, RANDOM_SPREAD));
        uint32_t block = 1 + random_below(&r, 20), records = block + random_below(&r, 300);
        struct subset s = made_subset(records, block);
        struct plan_options o = {.seed = state + i,
                                 .window = block + random_below(&r, records - block + 1),
                                 .bins = 1 + random_below(&r, i % 10 ? 64 : PLAN_MAX_BINS),
                                 .lanes = 1,
                                 .reuse = 1 + random_below(&r, 3),
                                 .sequential = i % 7 == 0};
        struct bins *p = new_bins(&o, &s);
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            bins_begin(p, epoch * 1000);
            check_epoch(p, &o, &s, 1 + random_below(&r, 64));
        }
        bins_free(p);
        free(s.block);
    }
}

Test(bins, begins_anew_from_anywhere)
{
    struct subset s = made_subset(100, 8);
    struct plan_options o = {.seed = 1, .window = 30, .bins = 7, .lanes = 1, .reuse = 2};
    struct bins *p = new_bins(&o, &s), *q = new_bins(&o, &s);
    uint32_t a[200], b[200];
    bins_begin(p, 5);
    cr_assert_eq(next(p, a, 200), 200);
    for (size_t left = 0; left < 200; left += 13) {
        bins_begin(q, 4);
        next(q, b, left);
        bins_begin(q, 5);
        for (size_t at = 0, n; (n = next(q, b + at, 1 + left)) > 0;)
            at += n;
        cr_assert(memcmp(a, b, sizeof a) == 0, "the order hangs on what came before");
    }
    bins_free(p);
    bins_free(q);
    free(s.block);
}

Test(bins, without_shuffling_is_the_order_of_ids)
{
    struct subset s = made_subset(50, 8);
    struct plan_options o = {.window = 50, .bins = 1, .lanes = 1, .reuse = 3, .sequential = true};
    struct bins *p = new_bins(&o, &s);
    uint32_t deliveries[150];
    cr_assert_eq(next(p, deliveries, 200), 150);
    for (unsigned i = 0; i < 150; i++) {
        cr_assert_eq(subset_id(&s, deliveries[i] / 3), i / 3);
        cr_assert_eq(deliveries[i] % 3, i % 3);
    }
    bins_free(p);
    free(s.block);
}

/* A record cannot come before its block has entered: with the smallest window, blocks come one after another
 * but for what mixes at their borders. */
Test(bins, small_windows_keep_blocks_together)
{
    struct subset s = made_subset(800, 8);
    struct plan_options o = {.seed = 9, .window = 8, .bins = 3, .lanes = 1, .reuse = 1};
    struct bins *p = new_bins(&o, &s);
    uint32_t d[800];
    cr_assert_eq(next(p, d, 800), 800);
    for (unsigned i = 0; i < 800; i++)
        cr_assert_eq(d[i] / 8, d[i / 8 * 8] / 8);
    bins_free(p);
    free(s.block);
}

Test(bins, refuses_more_deliveries_than_have_numbers)
{
    struct subset_block one = {.records = 65536, .count = 65536};
    struct subset s = {.records = 1u << 31, .stride = 65536, .blocks = 1u << 15, .block = &one};
    struct plan_options o = {.window = 65536, .bins = 1, .lanes = 1, .reuse = 3};
    struct bins *p = NULL;
    apl_error err;
    cr_assert_eq(bins_new(&o, &s, &p, &err), APL_E_UNSUPPORTED);
    cr_assert_null(p);
}

/* --------------------------------------------------------------------------------- the order, as it is defined */

/* Where the window covers the split: by a hash of each number, one at a time, and a shuffle of each bin. */
static void whole_by_definition(const struct plan_options *o, const struct subset *s, uint64_t epoch,
                                uint32_t *order)
{
    struct random_key place = random_epoch_key(o->seed, epoch, RANDOM_PLACE),
                      shuffle = random_epoch_key(o->seed, epoch, RANDOM_SHUFFLE);
    uint64_t all = s->records * o->reuse, at = 0;
    for (uint32_t bin = 0; bin < o->bins; bin++) {
        struct random_stream r;
        uint64_t first = at;
        for (uint64_t x = 0; x < all; x++) {
            uint32_t counter[4] = {(uint32_t)(x / 4), 0, (uint32_t)place.high, (uint32_t)(place.high >> 32)},
                     word[4];
            philox(place.low, counter, word);
            if ((uint64_t)word[x % 4] * o->bins >> 32 == bin)
                order[at++] = (uint32_t)x;
        }
        random_stream_init(&r, places_key(shuffle, 0, bin));
        for (uint32_t i = (uint32_t)(at - first); i > 1; i--) {
            uint32_t k = random_below(&r, i), t = order[first + k];
            order[first + k] = order[first + i - 1];
            order[first + i - 1] = t;
        }
    }
}

/* The number of a delivery. */
static uint32_t delivery_place(const struct plan_options *o, const struct subset *s, uint32_t delivery)
{
    uint32_t reference = delivery / o->reuse;
    return (uint32_t)((s->block[reference / s->stride].before + reference % s->stride) * o->reuse) +
           delivery % o->reuse;
}

/* An order does not depend on where blocks begin, nor on how many there are. */
Test(bins, order_of_a_whole_split_is_as_defined)
{
    static const struct {
        uint32_t records, block;
        unsigned bins, reuse;
    } cases[] = {{1000, 7, 16, 1}, {1000, 128, 16, 1}, {999, 1000, 5, 2}, {70001, 64, 17, 1}, {65, 64, 1, 3}};
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct subset s = made_subset(cases[c].records, cases[c].block);
        struct plan_options o = {
            .seed = c, .window = s.records, .bins = cases[c].bins, .reuse = cases[c].reuse};
        struct bins *b = new_bins(&o, &s);
        size_t all = s.records * o.reuse;
        uint32_t *expected = calloc(all, sizeof *expected), *order = calloc(all, sizeof *order);
        whole_by_definition(&o, &s, 3, expected);
        bins_begin(b, 3);
        cr_assert_eq(next(b, order, all + 1), all);
        for (size_t i = 0; i < all; i++)
            cr_assert_eq(delivery_place(&o, &s, order[i]), expected[i], "case %u at %zu", c, i);
        bins_free(b);
        free(s.block);
        free(expected);
        free(order);
    }
}

/* Below that, a block is spread evenly: of any bins in a row, a block has its part, to within one. */
Test(bins, windows_hold_what_they_may_and_blocks_are_spread)
{
    struct subset s = made_subset(20000, 50);
    struct plan_options o = {.seed = 4, .window = 2000, .bins = 100, .reuse = 1};
    struct bins *b = new_bins(&o, &s);
    uint32_t *order = calloc(20000, sizeof *order), first[400], last[400];
    uint64_t pairs = 0;
    memset(first, 255, sizeof first);
    cr_assert_eq(next(b, order, 20000), 20000);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t block = order[i] / 50;
        first[block] = first[block] < i ? first[block] : i;
        last[block] = i;
        for (uint32_t k = i / 25 * 25; k < i; k++)
            pairs += order[k] / 50 == block;
    }
    for (uint32_t i = 0; i < 400; i++)
        cr_expect_leq(last[i] - first[i], 3 * o.window, "block %u lives for %u", i, last[i] - first[i]);
    cr_expect_lt(pairs, 300u, "%llu: drawn alone, 20,000 x 24 / 2 x 49 / 4,000 = 2,940",
                 (unsigned long long)pairs);
    bins_free(b);
    free(s.block);
    free(order);
}

/* What orders are, for good: the first deliveries of an epoch. */
Test(bins, orders_are_pinned)
{
    static const struct {
        struct plan_options o;
        uint32_t first[8];
    } pinned[] = {
        {{.seed = 1, .window = 5000, .reuse = 1}, {4101, 4079, 2146, 466, 4699, 4672, 4980, 3151}},
        {{.seed = 1, .window = 5000, .bins = 100, .reuse = 2},
         {9545, 9816, 3410, 7422, 8379, 1810, 4837, 898}},
        {{.seed = 1, .window = 600, .reuse = 1}, {4342, 2782, 50, 4089, 10, 2768, 545, 2375}},
        {{.seed = 1, .window = 5000, .lanes = 3, .reuse = 1}, {700, 2414, 1412, 1240, 442, 4928, 4020, 1603}},
        {{.seed = 1, .window = 1000, .lanes = 3, .reuse = 1},
         {3626, 2407, 1150, 1807, 1653, 1113, 1852, 301}},
        {{.seed = UINT64_MAX, .window = 64, .reuse = 1}, {2059, 2081, 2058, 2096, 2104, 2100, 2080, 2109}},
    };
    struct subset s = made_subset(5000, 64);
    for (unsigned i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        struct bins *b = new_bins(&pinned[i].o, &s);
        uint32_t d[8];
        bins_begin(b, 7);
        cr_assert_eq(next(b, d, 8), 8);
        for (unsigned k = 0; k < 8; k++)
            cr_expect_eq(d[k], pinned[i].first[k], "order %u: {%u, %u, %u, %u, %u, %u, %u, %u}", i, d[0],
                         d[1], d[2], d[3], d[4], d[5], d[6], d[7]);
        bins_free(b);
    }
    free(s.block);
}

/* ------------------------------------------------------------------------------------- going to a place */

/* After a jump to `p`: what is before it is what the bins say is past, and what there is of blocks that are gone. */
static void check_past(struct bins *c, const struct plan_options *o, const struct subset *s, uint32_t *order,
                       uint32_t p)
{
    size_t all = (size_t)s->blocks * s->stride * o->reuse, n;
    uint8_t *before = calloc(all, 1), *in = calloc(s->blocks, 1);
    uint32_t entered, *past = bins_past(c, &n);
    const uint32_t *blocks = bins_entered(c, &entered);
    for (uint32_t i = 0; i < p; i++)
        before[order[i]] = 1;
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(before[past[i]]++, 1, "past, and once");
        cr_assert_not(bins_is_gone(c, past[i] / o->reuse / s->stride));
    }
    for (uint32_t i = 0; i < entered; i++)
        in[blocks[i]] = 1;
    for (uint32_t i = 0; i < p; i++) {
        uint32_t block = order[i] / o->reuse / s->stride;
        cr_assert_eq(in[block], 1);
        cr_assert(before[order[i]] == 2 || bins_is_gone(c, block), "delivery %u of %u", i, p);
    }
    for (uint32_t i = p; i < bins_length(c); i++)
        cr_assert_not(bins_is_gone(c, order[i] / o->reuse / s->stride));
    free(past);
    free(before);
    free(in);
}

static void check_jumps(const struct plan_options *o, const struct subset *s, unsigned step)
{
    struct bins *b = new_bins(o, s), *c = new_bins(o, s);
    uint32_t all = (uint32_t)bins_length(b), *order = calloc(2 * all, sizeof *order), *rest = order + all;
    cr_assert_eq(next(b, order, all), all);
    for (uint32_t p = 0; p <= all; p += step + p % 5 * 7) {
        bool failed = false;
        bins_begin(c, 0);
        cr_assert(bins_jump(c, p, o->sequential || o->window < s->records, &failed) && !failed);
        cr_assert_eq(bins_position(c), p);
        if (o->sequential || o->window < s->records)
            check_past(c, o, s, order, p);
        cr_assert_eq(next(c, rest, all), all - p);
        cr_assert(memcmp(rest, order + p, (all - p) * sizeof *rest) == 0, "to %u of %u", p, all);
    }
    bins_free(b);
    bins_free(c);
    free(order);
}

Test(bins, a_jump_comes_to_the_same_place)
{
    static const struct plan_options options[] = {
        {.seed = 1, .window = 900, .bins = 16, .reuse = 2},
        {.seed = 1, .window = 900, .bins = 4, .lanes = 3, .reuse = 2},
        {.seed = 1, .window = 900, .reuse = 2, .sequential = true},
        {.seed = 1, .window = 100, .bins = 6, .reuse = 2},
        {.seed = 1, .window = 300, .bins = 40, .reuse = 1},
        {.seed = 1, .window = 90, .bins = 5, .lanes = 3, .reuse = 1},
        {.seed = 1, .window = 10, .bins = 7, .reuse = 1},
        {.seed = 1, .window = 899, .bins = 100, .lanes = 2, .reuse = 1},
    };
    struct subset s = made_subset(900, 16);
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
        check_jumps(&options[i], &s, 1 + i % 3);
    free(s.block);
    for (unsigned i = 0; i < 300; i++) { /* small ones, most of them odd */
        struct random_stream r;
        random_stream_init(&r, random_key(i, RANDOM_SPREAD));
        uint32_t block = 1 + random_below(&r, 20), records = block + random_below(&r, 150);
        struct plan_options o = {.seed = i,
                                 .window = 1 + random_below(&r, records),
                                 .bins = 1 + random_below(&r, 30),
                                 .reuse = 1 + random_below(&r, 2)};
        s = made_subset(records, block);
        o.lanes = 1 + random_below(&r, s.blocks < 4 ? s.blocks : 4);
        check_jumps(&o, &s, 1 + records / 20);
        free(s.block);
    }
}

/* ------------------------------------------------------------------------------------------- with others */

static struct bins *helped;
static atomic_bool over;

static void *help(void *unused)
{
    struct bins_work work;
    (void)unused;
    while (!atomic_load(&over))
        if (bins_claim(helped, &work))
            bins_do(helped, &work);
    return NULL;
}

Test(bins, order_is_the_same_whoever_helps)
{
    struct subset s = made_subset(200000, 128);
    static const struct plan_options options[] = {
        {.seed = 5, .window = 200000, .reuse = 1, .helpers = 3},
        {.seed = 5, .window = 9000, .reuse = 1, .helpers = 3},
        {.seed = 5, .window = 200000, .lanes = 4, .reuse = 1, .helpers = 3},
        {.seed = 5, .window = 20000, .lanes = 4, .reuse = 1, .helpers = 3},
    };
    uint32_t *alone = calloc(200000, sizeof *alone), *order = calloc(200000, sizeof *order);
    for (unsigned i = 0; i < 4; i++) {
        struct plan_options o = options[i];
        o.helpers = 0;
        struct bins *b = new_bins(&o, &s);
        pthread_t threads[3];
        helped = new_bins(&options[i], &s);
        atomic_store(&over, false);
        for (unsigned k = 0; k < 3; k++)
            pthread_create(&threads[k], NULL, help, NULL);
        for (uint64_t epoch = 0; epoch < 5; epoch++) {
            bins_begin(b, epoch);
            cr_assert_eq(next(b, alone, 200000), 200000);
            bins_begin(helped, epoch);
            for (size_t at = 0, n; (n = next(helped, order + at, 700)) > 0;)
                at += n;
            cr_expect(memcmp(alone, order, 200000 * sizeof *order) == 0, "options %u, epoch %u", i,
                      (unsigned)epoch);
        }
        atomic_store(&over, true);
        for (unsigned k = 0; k < 3; k++)
            pthread_join(threads[k], NULL);
        bins_free(b);
        bins_free(helped);
    }
    free(s.block);
    free(alone);
    free(order);
}

/* ---------------------------------------------------------------------------------------------- arriving */

static struct bins *new_arriving(const struct subset *s, unsigned bins, uint64_t seed)
{
    struct plan_options o = {.seed = seed, .window = s->records, .bins = bins, .reuse = 1, .arriving = true};
    return new_bins(&o, s);
}

static void put(struct bins *b, uint32_t first, uint32_t n)
{
    uint32_t *numbers = calloc(n + 1, sizeof *numbers);
    for (uint32_t i = 0; i < n; i++)
        numbers[i] = first + i;
    cr_assert(bins_put(b, numbers, numbers, n));
    free(numbers);
}

Test(bins, bring_what_has_arrived_once)
{
    static const unsigned counts[] = {1, 2, 64, 4096};
    struct subset s = made_subset(1000, 100);
    for (unsigned i = 0; i < 4; i++) {
        struct bins *b = new_arriving(&s, counts[i], i);
        uint8_t seen[1000] = {0};
        uint32_t deliveries[100], total = 0;
        size_t n;
        put(b, 0, 500);
        cr_assert_eq(next(b, deliveries, 10), 10);
        for (size_t k = 0; k < 10; k++)
            seen[deliveries[k]]++;
        total = 10;
        put(b, 500, 500); /* some of it by a second hash: bins have been closed */
        put(b, 1000, 0);
        cr_assert_eq(bins_standing(b), 990);
        for (size_t most = 1; (n = next(b, deliveries, most)) > 0; most = most % 100 + 1) {
            cr_assert_leq(n, most);
            total += (uint32_t)n;
            cr_assert_eq(bins_standing(b), 1000 - total);
            for (size_t k = 0; k < n; k++) {
                cr_assert_lt(deliveries[k], 1000);
                cr_assert_eq(seen[deliveries[k]]++, 0);
            }
        }
        cr_assert_eq(total, 1000);
        bins_free(b);
    }
    free(s.block);
}

Test(bins, begin_empty)
{
    struct subset s = made_subset(1000, 100);
    struct bins *b = new_arriving(&s, 8, 1);
    uint32_t deliveries[10];
    put(b, 0, 100);
    cr_assert_eq(next(b, deliveries, 3), 3);
    bins_begin(b, 1);
    cr_assert_eq(bins_standing(b), 0);
    cr_assert_eq(next(b, deliveries, 10), 0);
    put(b, 7, 1);
    cr_assert_eq(next(b, deliveries, 10), 1);
    cr_assert_eq(deliveries[0], 7);
    bins_free(b);
    free(s.block);
}

#define EACH    20000u
#define PUTTERS 3u

static struct bins *shared;
static atomic_uchar seen[PUTTERS * EACH];

static void *putter(void *argument)
{
    uint32_t first = *(uint32_t *)argument;
    for (uint32_t i = 0; i < EACH; i += 50)
        put(shared, first + i, 50);
    return NULL;
}

Test(bins, are_put_into_by_many_while_one_takes)
{
    struct subset s = made_subset(PUTTERS * EACH, 50);
    pthread_t threads[PUTTERS];
    uint32_t firsts[PUTTERS], deliveries[64], taken = 0;
    shared = new_arriving(&s, 16, 3);
    for (unsigned i = 0; i < PUTTERS; i++) {
        firsts[i] = i * EACH;
        pthread_create(&threads[i], NULL, putter, &firsts[i]);
    }
    while (taken < PUTTERS * EACH) {
        size_t n = next(shared, deliveries, 64);
        for (size_t k = 0; k < n; k++)
            atomic_fetch_add(&seen[deliveries[k]], 1);
        taken += (uint32_t)n;
    }
    for (unsigned i = 0; i < PUTTERS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < PUTTERS * EACH; i++)
        cr_assert_eq(seen[i], 1);
    bins_free(shared);
    free(s.block);
}
