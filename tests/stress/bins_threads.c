/* Bins that threads fill, shuffle, put into and take from at once: each delivery comes once, and in strict order where it comes without
 * helpers. A plain main, to be run under the thread sanitizer. */
#include "bins.h"
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define RECORDS 150000u
#define BLOCK   100u
#define THREADS 4u
#define EPOCHS  4u

static struct subset subset;
static struct bins *bins;
static atomic_bool over;
static atomic_uint next_block;

static struct bins *open_bins(const struct plan_options *o)
{
    struct bins *b;
    CHECK(bins_new(o, &subset, &b, NULL) == APL_OK);
    return b;
}

/* ---------------------------------------------------------------------------------------------- strict */

static void *help(void *unused)
{
    struct bins_work work;
    (void)unused;
    while (!atomic_load(&over))
        if (bins_claim(bins, &work))
            bins_do(bins, &work);
        else
            sched_yield();
    return NULL;
}

/* An epoch may be left at any place. */
static void take_epoch(struct bins *b, uint64_t epoch, size_t step, uint32_t most, uint32_t *order)
{
    bool failed = false;
    bins_begin(b, epoch);
    for (size_t at = 0, n = 1; n && at < most; at += n)
        n = bins_take(b, order + at, step < most - at ? step : most - at, &failed);
    CHECK(!failed);
}

/* Gone to at once, if the bins can, while others fill and shuffle. */
static void from_the_middle(uint64_t epoch, uint32_t position, uint32_t most, const uint32_t *expected)
{
    static uint32_t rest[RECORDS];
    bool failed;
    bins_begin(bins, epoch);
    if (!bins_jump(bins, position, false, &failed))
        return;
    CHECK(bins_take(bins, rest, most - position, &failed) == most - position && !failed);
    CHECK(memcmp(rest, expected + position, (most - position) * sizeof *rest) == 0);
}

static void strict(struct plan_options o)
{
    static uint32_t expected[RECORDS], order[RECORDS];
    pthread_t threads[THREADS];
    struct bins *alone = open_bins(&o);
    o.helpers = THREADS;
    bins = open_bins(&o);
    atomic_store(&over, false);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, help, NULL) == 0);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        uint32_t most = epoch % 2 ? RECORDS : RECORDS / 3;
        take_epoch(alone, epoch, 1000, most, expected);
        take_epoch(bins, epoch, 1 + epoch * 300, most, order);
        CHECK(memcmp(expected, order, most * sizeof *order) == 0);
        from_the_middle(epoch, most / 3 * 2, most, expected);
    }
    atomic_store(&over, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    bins_free(alone);
    bins_free(bins);
}

/* ------------------------------------------------------------------------------------------ free order */

static void *put(void *unused)
{
    uint32_t numbers[BLOCK], block;
    (void)unused;
    while ((block = atomic_fetch_add(&next_block, 1)) < subset.blocks) {
        for (uint32_t i = 0; i < BLOCK; i++)
            numbers[i] = block * BLOCK + i;
        CHECK(bins_put(bins, numbers, numbers, BLOCK));
    }
    return NULL;
}

static void arriving(unsigned count)
{
    static uint8_t seen[RECORDS];
    struct plan_options o = {.seed = 3, .window = RECORDS, .bins = count, .reuse = 1, .arriving = true};
    uint32_t some[300];
    pthread_t threads[THREADS];
    bins = open_bins(&o);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        bool failed;
        bins_begin(bins, epoch);
        memset(seen, 0, sizeof seen);
        atomic_store(&next_block, 0);
        for (unsigned i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, put, NULL) == 0);
        for (uint32_t taken = 0; taken < RECORDS;) {
            size_t n = bins_take(bins, some, 1 + taken % 300, &failed);
            for (size_t k = 0; k < n; k++)
                CHECK(some[k] < RECORDS && seen[some[k]]++ == 0);
            taken += (uint32_t)n;
            if (n == 0)
                sched_yield();
        }
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        CHECK(bins_standing(bins) == 0);
    }
    bins_free(bins);
}

int main(void)
{
    subset = (struct subset){.records = RECORDS, .blocks = RECORDS / BLOCK, .stride = BLOCK};
    subset.block = calloc(subset.blocks, sizeof *subset.block);
    CHECK(subset.block != NULL);
    for (uint32_t i = 0; i < subset.blocks; i++)
        subset.block[i] = (struct subset_block){
            .number = i, .first_id = i * BLOCK, .records = BLOCK, .count = BLOCK, .before = i * BLOCK};
    strict((struct plan_options){.seed = 1, .window = RECORDS, .reuse = 1});
    strict((struct plan_options){.seed = 1, .window = RECORDS, .bins = 3, .reuse = 1});
    strict((struct plan_options){.seed = 1, .window = 5000, .reuse = 1});
    strict((struct plan_options){.seed = 1, .window = 200, .bins = 1, .reuse = 1});
    strict((struct plan_options){.seed = 1, .window = RECORDS, .lanes = 5, .reuse = 1});
    strict((struct plan_options){.seed = 1, .window = 20000, .lanes = 5, .reuse = 1});
    arriving(1);
    arriving(16);
    arriving(4096);
    free(subset.block);
    return 0;
}
