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

/* Until the record in the middle of the epoch can be taken. */
static double resumed(struct bins *bins, uint64_t epoch, uint64_t *check)
{
    uint32_t first[1];
    bool failed;
    double begin = thread_cpu();
    bins_begin(bins, epoch);
    if (!bins_jump(bins, bins_length(bins) / 2, &failed) || bins_take(bins, first, 1, &failed) != 1)
        must_have(NULL);
    *check += first[0];
    return (thread_cpu() - begin) * 1e9 / (double)bins_length(bins);
}

static atomic_bool over;

static void *help(void *bins)
{
    struct bins_work work;
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        if (bins_claim(bins, &work))
            bins_do(bins, &work);
        else
            nanosleep(&(struct timespec){.tv_nsec = 20000},
                      NULL); /* the reader's sleep until there is work */
    return NULL;
}

/* Elapsed, with a thread that helps, or without. */
static double elapsed(const struct subset *s, bool helped, uint64_t epoch, uint64_t *check)
{
    struct bins *bins = open_bins(s, s->records, helped);
    pthread_t helper;
    atomic_store(&over, false);
    if (helped && pthread_create(&helper, NULL, help, bins) != 0)
        must_have(NULL);
    double begin = now();
    bins_begin(bins, epoch);
    take_all(bins, check);
    double took = (now() - begin) * 1e9 / (double)s->records;
    atomic_store(&over, true);
    if (helped)
        pthread_join(helper, NULL);
    bins_free(bins);
    return took;
}

static void measure_window(const struct subset *s, uint64_t window, unsigned rounds, double bar,
                           uint64_t *check)
{
    struct bins *bins = open_bins(s, window, 0);
    double ours = 1e9;
    char what[96];
    for (unsigned k = 0; k < rounds; k++)
        ours = least(ours, planned(bins, k, check));
    snprintf(what, sizeof what, "planning %.1f M records, window %.2f M", (double)s->records * 1e-6,
             (double)window * 1e-6);
    tell(what, ours, "ns", AT_MOST, bar);
    struct plan_options o = {.window = window, .reuse = 1};
    tell("  memory for each record of the window", (double)plan_bytes(&o, s) / (double)window, "B", NO_BAR,
         0);
    bins_free(bins);
}

static void measure_others(const struct subset *s, unsigned rounds, uint64_t *check)
{
    struct bins *bins = open_bins(s, s->records, 0);
    double middle = 1e9, one = 1e9, two = 1e9;
    for (unsigned k = 0; k < rounds; k++) {
        middle = least(middle, resumed(bins, k, check));
        one = least(one, elapsed(s, false, k, check));
        two = least(two, elapsed(s, true, k, check));
    }
    bins_free(bins);
    tell("  resuming in the middle, for each record of the epoch", middle, "ns", AT_MOST, 2);
    if (s->records >= 1000000)
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
    uint64_t check = 0, most = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].records > most)
            continue;
        struct subset s = make_subset(cases[i].records);
        measure_window(&s, cases[i].window, rounds, cases[i].bar, &check);
        if (cases[i].window == cases[i].records)
            measure_others(&s, rounds, &check);
        subset_close(&s);
    }
    return check == 0; /* so that nothing is left out */
}
