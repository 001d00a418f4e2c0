/*
 * Speed of the reader beside plain loops that do the same work without it:
 *
 *     bench_reader DB [ROUNDS [memory|cold|streaming|u8|f32|demand]...]
 *
 * DB is a store with u8 images. The plain loops know the order beforehand, use one thread, and use the same
 * kernels. Reader and loop take turns, and the best of each counts: absolute figures drift from machine to
 * machine, ratios in one run do not.
 */
#include "plain_loops.h"

#define SKIPPED 16 /* batches that may have been made before the clock starts */
#define DEMAND  200000.0
#define MIB     1048576.0

/* --------------------------------------------------------------------------------------------- readers */

static apl_reader_options options_of(const struct bench *b, unsigned threads, bool augment)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.fields = b->names;
    o.field_count = b->name_count;
    o.batch_size = BATCH;
    o.threads = threads;
    o.ranks.world = 1;
    o.transforms = augment ? &b->transform : NULL;
    o.transform_count = augment;
    return o;
}

static apl_reader *open_reader(struct bench *b, const apl_reader_options *o)
{
    apl_reader *reader;
    must(apl_reader_open(b->store, o, &reader, &b->err), &b->err);
    return reader;
}

/* Takes the next batch, as far as there is one in this epoch; rows, or -1. */
static long take(struct bench *b, apl_reader *reader)
{
    apl_batch *batch;
    apl_status status = apl_reader_next(reader, &batch, &b->err);
    if (status == APL_END)
        return -1;
    must(status, &b->err);
    long rows = (long)apl_batch_rows(batch);
    apl_batch_release(batch);
    return rows;
}

static void take_epoch(struct bench *b, apl_reader *reader)
{
    while (take(b, reader) >= 0)
        ;
}

/* Seconds for a record, over some epochs that follow. What was made ahead is not counted. */
static double reader_steady(struct bench *b, apl_reader *reader, int epochs)
{
    double begin = 0;
    long records = 0, rows, batches = 0;
    for (int i = 0; i < epochs; i++) {
        must(apl_reader_next_epoch(reader, &b->err), &b->err);
        while ((rows = take(b, reader)) >= 0) {
            if (batches++ < SKIPPED)
                begin = now();
            else
                records += rows;
        }
    }
    return records ? (now() - begin) / (double)records : 1e9;
}

/* Seconds from opening to the end of the first epoch; *first: to the first batch. */
static double reader_cold(struct bench *b, unsigned threads, double *first)
{
    apl_reader_options o = options_of(b, threads, false);
    double begin = now();
    apl_reader *reader = open_reader(b, &o);
    take(b, reader);
    *first = least(*first, now() - begin);
    take_epoch(b, reader);
    double took = now() - begin;
    apl_reader_close(reader);
    return took;
}

/* ------------------------------------------------------------------------------------------------ rows */

#define READERS 3
static const unsigned thread_counts[READERS] = {1, 2, APL_NO_THREADS};

static void cold_rows(struct bench *b)
{
    double plain = 1e9, two = 1e9, cold[READERS] = {1e9, 1e9, 1e9}, first[READERS] = {1e9, 1e9, 1e9};
    for (unsigned i = 0; i < b->rounds; i++) {
        plain = least(plain, plain_cold(b));
        two = least(two, plain_in_two(b, DECODE));
        for (int k = 0; k < READERS; k++)
            cold[k] = least(cold[k], reader_cold(b, thread_counts[k], &first[k]));
    }
    double records = (double)b->subset.records;
    tell("cold epoch, plain loop: records/s", records / plain, "", NO_BAR, 0);
    tell("cold epoch, one thread, of the plain loop", plain / cold[0], "", AT_LEAST, 0.85);
    tell("cold epoch, in the caller alone, of the plain loop", plain / cold[2], "", AT_LEAST, 0.85);
    tell_two("cold epoch", cold[0] / cold[1], plain / records / two);
    tell("first batch after open, two threads", first[1] * 1e3, "ms", AT_MOST, 60);
    tell("first batch after open, one thread", first[0] * 1e3, "ms", NO_BAR, 0);
}

static void warm_rows(struct bench *b, bool augment)
{
    double plain = 1e9, two = 1e9, warm[READERS] = {1e9, 1e9, 1e9}, records = (double)b->subset.records;
    const char *kind = augment ? "f32, crop, flip, normalise" : "u8";
    char what[80];
    apl_reader *readers[READERS];
    plain_decode(b);
    for (int k = 0; k < READERS; k++) {
        apl_reader_options o = options_of(b, thread_counts[k], augment);
        readers[k] = open_reader(b, &o);
        take_epoch(b, readers[k]);
    }
    for (unsigned i = 0; i < b->rounds; i++) {
        plain = least(plain, plain_batches(b, augment) / records);
        two = least(two, plain_in_two(b, augment ? ASSEMBLE : GATHER));
        for (int k = 0; k < READERS; k++)
            warm[k] = least(warm[k], reader_steady(b, readers[k], 1));
    }
    for (int k = 0; k < READERS; k++)
        apl_reader_close(readers[k]);
    slab_free(&b->slab);
    snprintf(what, sizeof what, "warm %s, plain loop: records/s", kind);
    tell(what, 1 / plain, "", NO_BAR, 0);
    snprintf(what, sizeof what, "warm %s, one thread, of the plain loop", kind);
    tell(what, plain / warm[0], "", AT_LEAST, 0.85);
    snprintf(what, sizeof what, "warm %s, in the caller alone", kind);
    tell(what, plain / warm[2], "", AT_LEAST, 0.85);
    snprintf(what, sizeof what, "warm %s", augment ? "f32" : kind);
    tell_two(what, warm[0] / warm[1], plain / two);
}

/* With what the window needs and no more: nothing is kept from epoch to epoch. */
static void streaming_row(struct bench *b)
{
    double best[2] = {1e9, 1e9}, cold = 1e9, first = 1e9, alone = 1e9, two = 1e9;
    apl_reader *readers[2];
    for (int k = 0; k < 2; k++) {
        apl_reader_options o = options_of(b, thread_counts[k], false);
        o.window = b->subset.records / 10;
        readers[k] = open_reader(b, &o);
        take_epoch(b, readers[k]);
    }
    for (unsigned i = 0; i < b->rounds; i++) {
        cold = least(cold, reader_cold(b, 1, &first) / (double)b->subset.records);
        alone = least(alone, plain_cold(b) / (double)b->subset.records);
        two = least(two, plain_in_two(b, DECODE));
        for (int k = 0; k < 2; k++)
            best[k] = least(best[k], reader_steady(b, readers[k], 1));
    }
    for (int k = 0; k < 2; k++)
        apl_reader_close(readers[k]);
    tell("streaming, window of a tenth, one thread, of the cold rate", cold / best[0], "", AT_LEAST, 0.85);
    tell_two("streaming", best[0] / best[1], alone / two);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sleep_until(double moment)
{
    struct timespec t = {.tv_sec = (time_t)moment,
                         .tv_nsec = (long)((moment - (double)(time_t)moment) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Training that takes a fixed time for a batch, on some other device. */
static void demand_rows(struct bench *b, bool augment)
{
    apl_reader_options o = options_of(b, 0, augment);
    apl_reader *reader = open_reader(b, &o);
    size_t most = (size_t)(12 * apl_reader_batches(reader)), count = 0;
    double *waits = must_have(calloc(most, sizeof *waits)), sum = 0, begin;
    long rows = take(b, reader);
    begin = now();
    for (int epoch = 0; epoch < 12; epoch++) {
        while (rows >= 0) {
            sleep_until(now() + (double)rows / DEMAND);
            double asked = now();
            if ((rows = take(b, reader)) < 0) {
                must(apl_reader_next_epoch(reader, &b->err), &b->err);
                rows = epoch < 11 ? take(b, reader) : -1;
                if (rows >= 0)
                    sum += waits[count++] = now() - asked;
                break;
            }
            sum += waits[count++] = now() - asked;
        }
        if (epoch == 0) /* the first epoch decodes; what is told is how it goes on */
            tell(augment ? "stall in the first epoch, f32" : "stall in the first epoch, u8",
                 100 * sum / (now() - begin), "%", NO_BAR, 0);
        if (epoch == 0) {
            begin = now();
            sum = 0;
            count = 0;
        }
    }
    double took = now() - begin;
    qsort(waits, count, sizeof *waits, by_size);
    tell(augment ? "stall at 200,000 records/s, f32" : "stall at 200,000 records/s, u8", 100 * sum / took,
         "%", AT_MOST, 0.5);
    tell("p99.9 of the waits, of a step", waits[(size_t)(0.999 * (double)count)] * DEMAND / BATCH, "",
         AT_MOST, 1);
    free(waits);
    apl_reader_close(reader);
}

/* The most that a reader adds to this process's memory, over its budget. */
static void memory_row(struct bench *b, const char *what, uint64_t window, unsigned threads)
{
    apl_reader_options o = options_of(b, threads, false);
    o.window = window;
    double before = anonymous_memory(), most = 0;
    apl_stats stats;
    apl_reader *reader = open_reader(b, &o);
    for (int epoch = 0; epoch < 2; epoch++) {
        for (int i = 0; take(b, reader) >= 0; i++)
            if (i % 8 == 0 && anonymous_memory() > most)
                most = anonymous_memory();
        must(apl_reader_next_epoch(reader, &b->err), &b->err);
    }
    if (apl_reader_stats(reader, &stats, sizeof stats) != APL_OK)
        abort();
    apl_reader_close(reader);
    tell(what, (most - before - (double)stats.memory_budget) / MIB, "MiB", AT_MOST, 32);
}

static bool wanted(int argc, char **argv, const char *part)
{
    for (int i = 3; i < argc; i++)
        if (strcmp(argv[i], part) == 0)
            return true;
    return argc <= 3;
}

static void run_parts(struct bench *b, int argc, char **argv)
{
    if (wanted(argc, argv, "memory")) {
        memory_row(b, "peak memory over the budget, window of a tenth", b->subset.records / 10, 2);
        memory_row(b, "peak memory over the budget, full window", 0, 2);
    }
    if (wanted(argc, argv, "cold"))
        cold_rows(b);
    if (wanted(argc, argv, "streaming"))
        streaming_row(b);
    if (wanted(argc, argv, "u8"))
        warm_rows(b, false);
    if (wanted(argc, argv, "f32"))
        warm_rows(b, true);
    if (wanted(argc, argv, "demand")) {
        demand_rows(b, false);
        demand_rows(b, true);
    }
}

int main(int argc, char **argv)
{
    struct bench b = {.rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 5};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_reader DB [ROUNDS [PART]...]\n");
        return 2;
    }
    prepare(&b, argv[1]);
    printf("%s: %llu records of %s in batches of %u, best of %u\n", argv[1],
           (unsigned long long)b.subset.records, apl_store_split(b.store, 0)->name, BATCH, b.rounds);
    run_parts(&b, argc, argv);
    for (unsigned i = 0; i < BUFFERS; i++)
        pool_give(b.buffers[i]);
    pool_close(b.pool);
    block_coder_free(&b.bc);
    subset_close(&b.subset);
    apl_store_close(b.store);
    free(b.order), free(b.sources), free(b.rows), free(b.placements);
    return 0;
}
