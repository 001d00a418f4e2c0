/*
 * Bins with locks and without:  bench_bins [quick | ROUNDS]
 *
 * Writes tables in Markdown: for 1 to 16 threads and batches of 1 to 4,096 records, CPU time for a record, records a second, and how
 * long draws take. Each thread puts what it then draws, as the reader's do, with a window of records that stand besides; in strict order,
 * threads take batches of a plan. Forms take turns; of each figure the least of all rounds counts (of rates the highest).
 */
#include "forms.h"
#include "measure.h"
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define BLOCK    128u
#define STANDING 32768u
#define WINDOW   32768u

static const unsigned all_threads[] = {1, 2, 4, 8, 16};
static const unsigned all_batches[] = {1, 64, 512, 4096};
static uint32_t records = 1 << 18;
static struct subset subset;

enum { P50, P99, P999, MOST, WAITS };
static const double at[WAITS] = {0.5, 0.99, 0.999, 1};

struct figures {
    double cpu, rate, wait[WAITS]; /* ns for a record; millions a second; us for a draw */
};

/* ------------------------------------------------------------------------------------------------ one run */

/* Of one form, by `threads` threads; what they have in common. */
struct run {
    const struct free_form *free; /* or: */
    const struct strict_form *strict;
    void *form;
    unsigned threads, batch;
    bool timed;
    uint32_t *waits; /* ns; of each thread, those of a share of all draws */
    size_t share;
    size_t draws[MAX_THREADS];
    double cpu[MAX_THREADS], begun[MAX_THREADS], ended[MAX_THREADS];
    pthread_barrier_t ready;
    _Atomic uint32_t next;
    _Atomic uint64_t sum; /* of all that was drawn */
};

static size_t draw(struct run *run, void *scratch, uint32_t *deliveries, uint64_t *position)
{
    return run->free ? run->free->draw(run->form, scratch, deliveries, run->batch)
                     : run->strict->draw(run->form, deliveries, run->batch, position);
}

/* One draw, timed where that is asked for. Returns how many records. */
static size_t draw_once(struct run *run, unsigned me, void *scratch, uint64_t *sum)
{
    uint32_t deliveries[FORM_BATCH];
    uint64_t position;
    double begin = run->timed ? now() : 0;
    size_t n = draw(run, scratch, deliveries, &position);
    if (run->timed && run->draws[me] < run->share)
        run->waits[me * run->share + run->draws[me]++] = (uint32_t)((now() - begin) * 1e9);
    for (size_t k = 0; k < n; k++)
        *sum += deliveries[k];
    return n;
}

/* Puts a block more; false: all have been put. */
static bool put_block(struct run *run)
{
    uint32_t deliveries[BLOCK], first = atomic_fetch_add_explicit(&run->next, BLOCK, memory_order_relaxed);
    uint64_t ids[BLOCK];
    if (first >= records)
        return false;
    for (uint32_t i = 0; i < BLOCK; i++)
        ids[i] = deliveries[i] = first + i;
    if (!run->free->put(run->form, deliveries, ids, BLOCK))
        must_have(NULL);
    return true;
}

/* Blocks are put as they are drawn. */
static void put_and_draw(struct run *run, unsigned me, uint64_t *sum)
{
    void *scratch = run->free->scratch_new(run->form);
    for (size_t left = 0; put_block(run);)
        for (left += BLOCK; left >= run->batch;)
            left -= draw_once(run, me, scratch, sum);
    run->free->scratch_free(scratch);
}

static apl_status work(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct run *run = context;
    uint64_t sum = 0;
    (void)worker;
    (void)err;
    pthread_barrier_wait(&run->ready);
    double cpu = thread_cpu();
    run->begun[task] = now();
    if (run->free)
        put_and_draw(run, (unsigned)task, &sum);
    else
        while (draw_once(run, (unsigned)task, NULL, &sum) > 0)
            ;
    run->ended[task] = now();
    run->cpu[task] = thread_cpu() - cpu;
    atomic_fetch_add(&run->sum, sum);
    return APL_OK;
}

static void begin(struct run *run, uint64_t epoch)
{
    atomic_store(&run->next, 0);
    atomic_store(&run->sum, 0);
    memset(run->draws, 0, sizeof run->draws);
    if (run->strict) {
        run->strict->begin(run->form, epoch);
        return;
    }
    run->free->begin(run->form, 1, epoch);
    while (atomic_load(&run->next) < STANDING)
        put_block(run);
}

/* What is left is drawn by one thread, and everything has come once: a benchmark of what does not work would be worth nothing. */
static void finish(struct run *run)
{
    uint64_t sum = 0;
    void *scratch = run->free ? run->free->scratch_new(run->form) : NULL;
    run->timed = false;
    while (draw_once(run, 0, scratch, &sum) > 0)
        ;
    if (run->free)
        run->free->scratch_free(scratch);
    if (sum + atomic_load(&run->sum) != (uint64_t)records * (records - 1) / 2) {
        fprintf(stderr, "%s: records are missing, or came twice\n",
                run->free ? run->free->name : run->strict->name);
        exit(1);
    }
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void note_waits(struct run *run, struct figures *f)
{
    size_t n = 0;
    for (unsigned i = 0; i < run->threads; i++) {
        memmove(run->waits + n, run->waits + i * run->share, run->draws[i] * sizeof *run->waits);
        n += run->draws[i];
    }
    qsort(run->waits, n, sizeof *run->waits, by_size);
    for (unsigned i = 0; n && i < WAITS; i++)
        f->wait[i] = least(f->wait[i], run->waits[(size_t)(at[i] * (double)(n - 1))] * 1e-3);
}

static void note_rate(const struct run *run, struct figures *f)
{
    double cpu = 0, begun = run->begun[0], ended = 0;
    uint32_t done = run->free ? records - STANDING : records;
    for (unsigned i = 0; i < run->threads; i++) {
        cpu += run->cpu[i];
        begun = least(begun, run->begun[i]);
        ended = run->ended[i] > ended ? run->ended[i] : ended;
    }
    f->cpu = least(f->cpu, cpu * 1e9 / done);
    f->rate = -least(-f->rate, -1e-6 * done / (ended - begun));
}

/* Twice: the clock takes as long as a small draw. */
static void measure(struct run *run, unsigned round, struct figures *f)
{
    apl_error err;
    for (unsigned timed = 0; timed < 2; timed++) {
        begin(run, 2 * round + timed);
        run->timed = timed;
        pthread_barrier_init(&run->ready, NULL, run->threads);
        must(parallel_for(run->threads, run->threads, work, run, &err), &err);
        pthread_barrier_destroy(&run->ready);
        if (timed)
            note_waits(run, f);
        else
            note_rate(run, f);
        finish(run);
    }
}

/* ------------------------------------------------------------------------------------------------- tables */

static void open_run(struct run *run, bool strict, unsigned form, unsigned threads, unsigned batch)
{
    const struct plan_options options = {.seed = 1, .window = WINDOW, .bins = 64, .reuse = 1};
    *run = (struct run){.threads = threads, .batch = batch, .share = records / batch + 1};
    run->waits = must_have(malloc(threads * run->share * sizeof *run->waits));
    if (strict) {
        run->strict = &strict_forms[form];
        run->form = run->strict->open(&options, &subset);
    } else {
        run->free = &free_forms[form];
        run->form = run->free->open();
    }
}

static void close_run(struct run *run)
{
    if (run->strict)
        run->strict->close(run->form);
    else
        run->free->close(run->form);
    free(run->waits);
}

/* All forms in turns, into figures[form]. */
static void compare(bool strict, unsigned threads, unsigned batch, unsigned rounds, struct figures *figures)
{
    unsigned forms = strict ? STRICT_FORMS : FREE_FORMS;
    static struct run runs[FREE_FORMS];
    for (unsigned i = 0; i < forms; i++) {
        open_run(&runs[i], strict, i, threads, batch);
        figures[i] = (struct figures){1e12, 0, {1e12, 1e12, 1e12, 1e12}};
    }
    for (unsigned k = 0; k < rounds; k++)
        for (unsigned i = 0; i < forms; i++)
            measure(&runs[i], k, &figures[i]);
    for (unsigned i = 0; i < forms; i++)
        close_run(&runs[i]);
}

static const char *form_name(bool strict, unsigned i)
{
    return strict ? strict_forms[i].name : free_forms[i].name;
}

enum table { CPU, RATE, WAIT, TABLES };
static const char *const titles[TABLES] = {"CPU time, ns a record", "Millions of records a second",
                                           "A draw, us: half of them, 99 %, 99.9 % and all take at most"};

#define ROWS (sizeof all_threads / sizeof *all_threads * (sizeof all_batches / sizeof *all_batches))

struct row {
    unsigned threads, batch;
    struct figures forms[FREE_FORMS];
};

static void cell_of(enum table table, const struct figures *f)
{
    if (table == CPU)
        printf(" %.1f |", f->cpu);
    else if (table == RATE)
        printf(" %.1f |", f->rate);
    else
        printf(" %.3g / %.3g / %.3g / %.3g |", f->wait[P50], f->wait[P99], f->wait[P999], f->wait[MOST]);
}

/* The last column: the form without locks over the reader's. */
static void print(enum table table, bool strict, const struct row *rows, size_t n)
{
    unsigned forms = strict ? STRICT_FORMS : FREE_FORMS;
    printf("\n%s order. %s:\n\n| threads | batch |", strict ? "Strict" : "Free", titles[table]);
    for (unsigned i = 0; i < forms; i++)
        printf(" %s |", form_name(strict, i));
    printf("%s\n|---|---|", table == CPU ? " ratio |" : "");
    for (unsigned i = 0; i < forms + (table == CPU); i++)
        printf("---|");
    for (const struct row *r = rows; r < rows + n; r++) {
        printf("\n| %u | %u |", r->threads, r->batch);
        for (unsigned i = 0; i < forms; i++)
            cell_of(table, &r->forms[i]);
        if (table == CPU)
            printf(" %.2f |", r->forms[forms - 1].cpu / r->forms[strict ? READERS_STRICT : READERS_FREE].cpu);
    }
    printf("\n");
    fflush(stdout);
}

static void print_all(bool strict, bool quick, unsigned rounds)
{
    static struct row rows[ROWS];
    size_t n = 0;
    for (size_t t = 0; t < sizeof all_threads / sizeof *all_threads; t += quick ? 2 : 1)
        for (size_t b = 0; b < sizeof all_batches / sizeof *all_batches; b += quick ? 2 : 1) {
            rows[n].threads = all_threads[t];
            rows[n].batch = all_batches[b];
            compare(strict, all_threads[t], all_batches[b], rounds, rows[n++].forms);
        }
    for (enum table table = 0; table < TABLES; table++)
        print(table, strict, rows, n);
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
    if (quick)
        records = 2 * STANDING;
    make_subset();
    print_all(false, quick, rounds);
    print_all(true, quick, rounds);
    subset_close(&subset);
    return 0;
}
