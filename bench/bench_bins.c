/*
 * The bins by a lock a bin, by a lock a record, and without locks:  bench_bins [quick | ROUNDS]
 *
 * An epoch of a million deliveries, over as many bins as the reader takes: filled, shuffled and taken, by 1 to 16 threads. Forms take turns; of each
 * figure the least of all rounds counts. Writes a table in Markdown: CPU time and elapsed time for a delivery, in ns.
 *
 *   a lock a bin      the reader's: a thread sorts a chunk by bin in a place of its own, and a bin is its runs in all chunks
 *   a lock a record   each delivery goes to the end of its bin, whose lock is held for it alone
 *   none              each reserves its place there by an atomic addition
 *
 * The last two leave in a bin what order threads came in: to give one order for one seed they would have to sort each bin too, which
 * is left out here.
 */
#include "bins.h"
#include "measure.h"
#include "parallel.h"
#include "places.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define BLOCK 128u
#define CHUNK 8192u
#define MOST  16u

static uint32_t records = 1 << 20;
static struct subset subset;
static uint32_t *taken;

struct open_bin {
    pthread_mutex_t lock;
    atomic_uint count;
    uint32_t *deliveries;
};

struct run {
    unsigned threads;
    bool locked;
    uint32_t bins;
    struct bins *own; /* the reader's; NULL: those that follow */
    struct open_bin *open;
    struct random_key place, shuffle;
    atomic_uint chunk, bin;
    atomic_bool over;
    pthread_barrier_t filled;
    _Atomic uint64_t cpu; /* ns */
};

/* ------------------------------------------------------------------------------------------ other forms */

static void put(const struct run *run, struct open_bin *bin, uint32_t delivery)
{
    if (!run->locked) {
        bin->deliveries[atomic_fetch_add_explicit(&bin->count, 1, memory_order_relaxed)] = delivery;
        return;
    }
    pthread_mutex_lock(&bin->lock);
    uint32_t n = atomic_load_explicit(&bin->count, memory_order_relaxed);
    bin->deliveries[n] = delivery;
    atomic_store_explicit(&bin->count, n + 1, memory_order_relaxed);
    pthread_mutex_unlock(&bin->lock);
}

static void fill_and_shuffle(struct run *run)
{
    uint16_t places[CHUNK];
    for (uint32_t first; (first = CHUNK * atomic_fetch_add(&run->chunk, 1)) < records;) {
        uint32_t n = records - first < CHUNK ? records - first : CHUNK;
        places_hash(run->place, first, n, run->bins, places);
        for (uint32_t i = 0; i < n; i++)
            put(run, &run->open[places[i]], first + i);
    }
    pthread_barrier_wait(&run->filled);
    for (uint32_t i; (i = atomic_fetch_add(&run->bin, 1)) < run->bins;)
        places_shuffle(places_key(run->shuffle, 0, i), run->open[i].deliveries, run->open[i].count);
}

static void take_open(const struct run *run)
{
    for (uint32_t i = 0, at = 0; i < run->bins; at += run->open[i++].count)
        memcpy(taken + at, run->open[i].deliveries, run->open[i].count * sizeof *taken);
}

static void begin_open(struct run *run, uint64_t epoch)
{
    run->place = random_epoch_key(1, epoch, RANDOM_PLACE);
    run->shuffle = random_epoch_key(1, epoch, RANDOM_SHUFFLE);
    atomic_store(&run->chunk, 0);
    atomic_store(&run->bin, 0);
    for (uint32_t i = 0; i < run->bins; i++)
        atomic_store(&run->open[i].count, 0);
}

/* --------------------------------------------------------------------------------------------- one run */

static void help(struct run *run)
{
    struct bins_work work;
    while (!atomic_load_explicit(&run->over, memory_order_relaxed))
        if (bins_claim(run->own, &work))
            bins_do(run->own, &work);
        else
            nanosleep(&(struct timespec){.tv_nsec = 20000},
                      NULL); /* the reader's sleep until there is work */
}

static void take_own(struct run *run)
{
    bool failed;
    for (size_t at = 0, n; (n = bins_take(run->own, taken + at, 512, &failed)) > 0;)
        at += n;
    atomic_store(&run->over, true);
}

static apl_status work(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct run *run = context;
    double cpu = thread_cpu();
    (void)worker;
    (void)err;
    if (run->own && task)
        help(run);
    else if (run->own)
        take_own(run);
    else
        fill_and_shuffle(run);
    if (!run->own && task == 0)
        take_open(run);
    atomic_fetch_add(&run->cpu, (uint64_t)((thread_cpu() - cpu) * 1e9));
    return APL_OK;
}

struct figures {
    double cpu, wall; /* ns a delivery */
};

static void measure(struct run *run, uint64_t epoch, struct figures *f)
{
    apl_error err;
    uint64_t sum = 0;
    if (run->own)
        bins_begin(run->own, epoch);
    else
        begin_open(run, epoch);
    atomic_store(&run->over, false);
    atomic_store(&run->cpu, 0);
    pthread_barrier_init(&run->filled, NULL, run->threads);
    double begin = now();
    must(parallel_for(run->threads, run->threads, work, run, &err), &err);
    double took = now() - begin;
    pthread_barrier_destroy(&run->filled);
    for (uint32_t i = 0; i < records; i++)
        sum += taken[i];
    if (sum != (uint64_t)records * (records - 1) / 2) {
        fprintf(
            stderr,
            "deliveries are missing, or came twice\n"); /* a benchmark of what does not work would be worth nothing */
        exit(1);
    }
    f->cpu = least(f->cpu, (double)atomic_load(&run->cpu) / records);
    f->wall = least(f->wall, took * 1e9 / records);
}

enum { LOCK_A_BIN, LOCK_A_RECORD, NONE, FORMS };
static const char *const names[FORMS] = {"a lock a bin: the reader", "a lock a record", "none"};

static void open_run(struct run *run, unsigned form, unsigned threads)
{
    struct plan_options o = {.seed = 1, .window = records, .reuse = 1, .helpers = threads - 1};
    apl_error err;
    *run = (struct run){
        .threads = threads, .locked = form == LOCK_A_RECORD, .bins = plan_shape(&o, &subset).bins};
    if (form == LOCK_A_BIN) {
        must(bins_new(&o, &subset, &run->own, &err), &err);
        return;
    }
    uint32_t room = records / run->bins + records / run->bins / 4 + 64;
    run->open = must_have(calloc(run->bins, sizeof *run->open));
    for (uint32_t i = 0; i < run->bins; i++) {
        pthread_mutex_init(&run->open[i].lock, NULL);
        run->open[i].deliveries = must_have(malloc(room * sizeof(uint32_t)));
    }
}

static void close_run(struct run *run)
{
    bins_free(run->own);
    for (uint32_t i = 0; run->open && i < run->bins; i++) {
        pthread_mutex_destroy(&run->open[i].lock);
        free(run->open[i].deliveries);
    }
    free(run->open);
}

static void compare(unsigned threads, unsigned rounds)
{
    static struct run runs[FORMS];
    struct figures f[FORMS];
    for (unsigned i = 0; i < FORMS; i++) {
        open_run(&runs[i], i, threads);
        f[i] = (struct figures){1e12, 1e12};
    }
    for (unsigned k = 0; k < rounds; k++)
        for (unsigned i = 0; i < FORMS; i++)
            measure(&runs[i], k, &f[i]);
    printf("| %u |", threads);
    for (unsigned i = 0; i < FORMS; i++) {
        printf(" %.1f | %.1f |", f[i].cpu, f[i].wall);
        close_run(&runs[i]);
    }
    printf("\n");
    fflush(stdout);
}

static void make_subset(void)
{
    subset = (struct subset){.records = records, .blocks = records / BLOCK, .stride = BLOCK};
    subset.block = must_have(calloc(subset.blocks, sizeof *subset.block));
    for (uint32_t i = 0; i < subset.blocks; i++)
        subset.block[i] = (struct subset_block){.number = i,
                                                .first_id = (uint64_t)i * BLOCK,
                                                .records = BLOCK,
                                                .count = BLOCK,
                                                .before = (uint64_t)i * BLOCK};
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    unsigned rounds = quick ? 1 : argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    if (rounds == 0 || argc > 2) {
        fprintf(stderr, "usage: bench_bins [quick | ROUNDS]\n");
        return 2;
    }
    make_subset();
    taken = must_have(malloc(records * sizeof *taken));
    printf("| threads |");
    for (unsigned i = 0; i < FORMS; i++)
        printf(" %s: CPU | elapsed |", names[i]);
    printf("\n|---:|---:|---:|---:|---:|---:|---:|\n");
    for (unsigned threads = 1; threads <= MOST; threads *= quick ? 4 : 2)
        compare(threads, rounds);
    free(taken);
    subset_close(&subset);
    return 0;
}
