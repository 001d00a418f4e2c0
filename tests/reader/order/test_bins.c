/* The bins of free order: what is put comes out once, however many put and draw at once. */
#include "bins.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct bins *new_bins(unsigned count, uint64_t seed)
{
    struct bins *b = NULL;
    cr_assert_eq(bins_new(count, &b, NULL), APL_OK);
    bins_begin(b, random_key(seed, RANDOM_BINS), random_key(seed, RANDOM_DRAWS));
    return b;
}

static void put(struct bins *b, uint32_t first, uint32_t n)
{
    uint32_t *deliveries = calloc(n + 1, sizeof *deliveries);
    uint64_t *ids = calloc(n + 1, sizeof *ids);
    for (uint32_t i = 0; i < n; i++)
        ids[i] = deliveries[i] = first + i;
    cr_assert(bins_put(b, deliveries, ids, n));
    free(deliveries);
    free(ids);
}

Test(bins, bring_what_was_put_once)
{
    static const unsigned counts[] = {1, 2, 64, 4096};
    for (unsigned i = 0; i < 4; i++) {
        struct bins *b = new_bins(counts[i], i);
        struct bins_scratch *s = bins_scratch_new(b, 100);
        uint8_t seen[1000] = {0};
        uint32_t deliveries[100], total = 0;
        size_t n;
        put(b, 0, 500);
        put(b, 500, 500);
        put(b, 1000, 0);
        cr_assert_eq(bins_standing(b), 1000);
        for (size_t most = 1; (n = bins_draw(b, s, deliveries, most)) > 0; most = most % 100 + 1) {
            cr_assert_leq(n, most);
            total += (uint32_t)n;
            cr_assert_eq(bins_standing(b), 1000 - total);
            for (size_t k = 0; k < n; k++) {
                cr_assert_lt(deliveries[k], 1000);
                cr_assert_eq(seen[deliveries[k]]++, 0);
            }
        }
        cr_assert_eq(total, 1000);
        bins_scratch_free(s);
        bins_free(b);
    }
}

Test(bins, begin_empty)
{
    struct bins *b = new_bins(8, 1);
    struct bins_scratch *s = bins_scratch_new(b, 10);
    uint32_t deliveries[10];
    put(b, 0, 100);
    bins_begin(b, random_key(1, RANDOM_BINS), random_key(1, RANDOM_DRAWS));
    cr_assert_eq(bins_standing(b), 0);
    cr_assert_eq(bins_draw(b, s, deliveries, 10), 0);
    put(b, 7, 1);
    cr_assert_eq(bins_draw(b, s, deliveries, 10), 1);
    cr_assert_eq(deliveries[0], 7);
    bins_scratch_free(s);
    bins_free(b);
    bins_free(NULL);
    bins_scratch_free(NULL);
}

/* The same keys and calls bring the same draws. */
Test(bins, are_a_function_of_their_keys)
{
    uint32_t drawn[3][200];
    for (unsigned i = 0; i < 3; i++) {
        struct bins *b = new_bins(16, i / 2);
        struct bins_scratch *s = bins_scratch_new(b, 200);
        put(b, 0, 200);
        cr_assert_eq(bins_draw(b, s, drawn[i], 200), 200);
        bins_scratch_free(s);
        bins_free(b);
    }
    cr_assert(memcmp(drawn[0], drawn[1], sizeof drawn[0]) == 0);
    cr_assert(memcmp(drawn[0], drawn[2], sizeof drawn[0]) != 0);
}

#define EACH    20000u
#define PUTTERS 2u
#define DRAWERS 3u

static struct bins *shared;
static atomic_uchar seen[PUTTERS * EACH];
static atomic_uint taken;

static void *putter(void *argument)
{
    uint32_t first = *(uint32_t *)argument;
    for (uint32_t i = 0; i < EACH; i += 50)
        put(shared, first + i, 50);
    return NULL;
}

static void *drawer(void *argument)
{
    struct bins_scratch *s = bins_scratch_new(shared, 64);
    uint32_t deliveries[64];
    (void)argument;
    while (atomic_load(&taken) < PUTTERS * EACH) {
        size_t n = bins_draw(shared, s, deliveries, 64);
        for (size_t k = 0; k < n; k++)
            atomic_fetch_add(&seen[deliveries[k]], 1);
        atomic_fetch_add(&taken, (unsigned)n);
    }
    bins_scratch_free(s);
    return NULL;
}

Test(bins, bring_each_once_to_many_threads, .timeout = 60)
{
    pthread_t threads[PUTTERS + DRAWERS];
    uint32_t firsts[PUTTERS] = {0, EACH};
    shared = new_bins(32, 5);
    for (unsigned i = 0; i < PUTTERS; i++)
        pthread_create(&threads[i], NULL, putter, &firsts[i]);
    for (unsigned i = PUTTERS; i < PUTTERS + DRAWERS; i++)
        pthread_create(&threads[i], NULL, drawer, NULL);
    for (unsigned i = 0; i < PUTTERS + DRAWERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < PUTTERS * EACH; i++)
        cr_assert_eq(seen[i], 1);
    cr_assert_eq(bins_standing(shared), 0);
    bins_free(shared);
}
