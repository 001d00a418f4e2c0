/*
 * What planning costs:  bench_plan [ROUNDS [DELIVERIES]]
 *
 * CPU time, ns a record, of bins that are filled, shuffled and taken, for splits of up to DELIVERIES (10 million) and windows; what is
 * elapsed with a second thread that helps; and what resuming in the middle costs.
 */
#include "bins.h"
#include "measure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define BLOCK 128u
#define BATCH 512u

static struct subset make_subset(uint64_t records)
{
    struct subset s = {
        .records = records, .blocks = (uint32_t)((records + BLOCK - 1) / BLOCK), .stride = BLOCK};
    s.block = must_have(calloc(s.blocks, sizeof *s.block));
    for (uint32_t i = 0; i < s.blocks; i++) {
        uint64_t first = (uint64_t)i * BLOCK, left = records - first;
        uint32_t count = left < BLOCK ? (uint32_t)left : BLOCK;
        s.block[i] = (struct subset_block){
            .number = i, .first_id = first, .records = count, .count = count, .before = first};
    }
    return s;
}

static struct bins *open_bins(const struct subset *s, uint64_t window, unsigned helpers)
{
    struct plan_options options = {.seed = 1, .window = window, .reuse = 1, .helpers = helpers};
    struct bins *bins;
    apl_error err;
    must(bins_new(&options, s, &bins, &err), &err);
    return bins;
}

static void take_all(struct bins *bins, uint64_t *check)
{
    static uint32_t deliveries[BATCH];
    bool failed;
    for (size_t n; (n = bins_take(bins, deliveries, BATCH, &failed)) > 0;)
        *check += deliveries[n - 1];
}

static double planned(struct bins *bins, uint64_t epoch, uint64_t *check)
{
    double begin = thread_cpu();
    bins_begin(bins, epoch);
    take_all(bins, check);
    return (thread_cpu() - begin) * 1e9 / (double)bins_length(bins);
}

/* Until the record at `position` can be taken. */
static double resumed(struct bins *bins, uint64_t epoch, uint64_t position, uint64_t *check)
{
    uint32_t first[1];
    bool failed;
    size_t past;
    double begin = thread_cpu();
    bins_begin(bins, epoch);
    if (!bins_jump(bins, position, true, &failed) && !bins_jump(bins, position, false, &failed))
        must_have(NULL);
    free(bins_past(bins, &past));
    if (bins_take(bins, first, 1, &failed) != 1)
        must_have(NULL);
    *check += first[0];
    return (thread_cpu() - begin) * 1e9 / (double)bins_length(bins);
}

static enum helper { AWAY, HELPS, OVER } _Atomic helper;

/* Between two looks for work a moment without the bins' lock; the reader's threads sleep. */
static void pause_helper(bool away)
{
    if (away)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    for (volatile unsigned i = 0; !away && i < 1000; i++)
        ;
}

static void *help(void *bins)
{
    struct bins_work work;
    while (atomic_load(&helper) != OVER)
        if (atomic_load(&helper) == HELPS && bins_claim(bins, &work))
            bins_do(bins, &work);
        else
            pause_helper(atomic_load(&helper) == AWAY);
    return NULL;
}

/* Elapsed, with a thread that helps, or without. */
static double elapsed(struct bins *bins, enum helper with, uint64_t epoch, uint64_t *check)
{
    atomic_store(&helper, with);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* until it knows */
    double begin = now();
    bins_begin(bins, epoch);
    take_all(bins, check);
    return (now() - begin) * 1e9 / (double)bins_length(bins);
}

static void measure_window(const struct subset *s, uint64_t window, unsigned rounds, double bar,
                           uint64_t *check)
{
    struct bins *bins = open_bins(s, window, 0);
    double ours = 1e9, middle = 1e9, first;
    char what[96];
    first = resumed(bins, 0, 0, check); /* of an epoch, as soon as bins are made */
    for (unsigned k = 0; k < rounds; k++) {
        ours = least(ours, planned(bins, k, check));
        middle = least(middle, resumed(bins, k, s->records / 2, check));
    }
    snprintf(what, sizeof what, "planning %.1f M records, window %.2f M", (double)s->records * 1e-6,
             (double)window * 1e-6);
    tell(what, ours, "ns", AT_MOST, bar);
    struct plan_options o = {.window = window, .reuse = 1};
    tell("  memory for each record of the window", (double)plan_bytes(&o, s) / (double)window, "B", NO_BAR,
         0);
    tell("  resuming in the middle, for each record of the epoch", middle, "ns", AT_MOST, 2);
    tell("  until the first, for each record", first, "ns", NO_BAR, 0);
    bins_free(bins);
}

static void measure_help(const struct subset *s, unsigned rounds, uint64_t *check)
{
    struct bins *bins = open_bins(s, s->records, 1);
    double one = 1e9, two = 1e9;
    pthread_t thread;
    atomic_store(&helper, AWAY);
    if (pthread_create(&thread, NULL, help, bins) != 0)
        must_have(NULL);
    for (unsigned k = 0; k <= rounds; k++) {
        one = least(one, elapsed(bins, AWAY, k, check));
        two = least(two, elapsed(bins, HELPS, k, check));
    }
    atomic_store(&helper, OVER);
    pthread_join(thread, NULL);
    bins_free(bins);
    tell("  elapsed, one thread over two", one / two, "x", AT_LEAST, 1.7);
}

int main(int argc, char **argv)
{
    static const struct {
        uint64_t records, window;
        double bar;
    } cases[] = {{50000, 50000, 7},       {1300000, 1300000, 7},     {1300000, 13000, 10},
                 {1300000, 65000, 10},    {1300000, 130000, 10},     {1300000, 325000, 13},
                 {10000000, 10000000, 7}, {100000000, 100000000, 9}, {1000000000, 1000000000, 14}};
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
    uint64_t check = 0;
    for (double begin = now(); now() - begin < 0.5;) /* until the core's clock is up */
        check++;
    uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].records > most)
            continue;
        struct subset s = make_subset(cases[i].records);
        measure_window(&s, cases[i].window, rounds, cases[i].bar, &check);
        if (cases[i].window == cases[i].records && s.records >= 1000000)
            measure_help(&s, rounds, &check);
        subset_close(&s);
    }
    return check == 0; /* so that nothing is left out */
}
