/* All forms of the bins bring what is put exactly once to any number of threads; strict ones in the plan's order. A plain main, to be
 * run under the thread sanitizer. */
#include "check.h"
#include "forms.h"
#include "parallel.h"
#include "tickets.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define RECORDS 6000u
#define EPOCHS  2u

/* --------------------------------------------------------------------------------------- free order */

struct run {
    const struct free_form *form;
    void *bins;
    unsigned putters;
    atomic_uint next, taken; /* records to put, and drawn */
    atomic_uchar seen[RECORDS];
};

/* Blocks of all sizes, until none is left. */
static void put_all(struct run *run, unsigned me)
{
    uint32_t deliveries[256];
    uint64_t ids[256];
    for (uint32_t size = 1 + me * 37 % 200;; size = size % 200 + 1) {
        uint32_t first = atomic_fetch_add(&run->next, size);
        if (first >= RECORDS)
            return;
        uint32_t n = first + size < RECORDS ? size : RECORDS - first;
        for (uint32_t i = 0; i < n; i++)
            ids[i] = deliveries[i] = first + i;
        CHECK(run->form->put(run->bins, deliveries, ids, n));
    }
}

static void draw_all(struct run *run, unsigned me)
{
    void *scratch = run->form->scratch_new(run->bins);
    uint32_t deliveries[300];
    for (size_t most = 1 + me * 61 % 300; atomic_load(&run->taken) < RECORDS; most = most % 300 + 1) {
        size_t n = run->form->draw(run->bins, scratch, deliveries, most);
        CHECK(n <= most);
        for (size_t k = 0; k < n; k++) {
            CHECK(deliveries[k] < RECORDS);
            CHECK(atomic_fetch_add(&run->seen[deliveries[k]], 1) == 0);
        }
        atomic_fetch_add(&run->taken, (unsigned)n);
        if (n == 0)
            sched_yield();
    }
    run->form->scratch_free(scratch);
}

static apl_status put_or_draw(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct run *run = context;
    (void)worker;
    (void)err;
    if (task < run->putters)
        put_all(run, (unsigned)task);
    else
        draw_all(run, (unsigned)task);
    return APL_OK;
}

static void check_once(const struct free_form *form, unsigned putters, unsigned drawers)
{
    static struct run run;
    void *bins = form->open();
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        memset(&run, 0, sizeof run);
        run.form = form;
        run.bins = bins;
        run.putters = putters;
        form->begin(bins, 1, epoch);
        CHECK(parallel_for(putters + drawers, putters + drawers, put_or_draw, &run, NULL) == APL_OK);
        CHECK(atomic_load(&run.taken) == RECORDS && form->standing(bins) == 0);
        for (uint32_t i = 0; i < RECORDS; i++)
            CHECK(atomic_load(&run.seen[i]) == 1);
    }
    form->close(bins);
}

/* One thread draws from what stands: each record is as likely as any other to come at each place. */
static void check_uniform(const struct free_form *form)
{
    enum { N = 8, TIMES = 2000 };
    static const uint32_t numbers[N] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const uint64_t ids[N] = {0, 1, 2, 3, 4, 5, 6, 7};
    unsigned counts[N][N] = {{0}};
    void *bins = form->open(), *scratch = form->scratch_new(bins);
    for (unsigned t = 0; t < TIMES; t++) {
        uint32_t drawn[N];
        form->begin(bins, 7, t);
        CHECK(form->put(bins, numbers, ids, 5) && form->put(bins, numbers + 5, ids + 5, 3));
        CHECK(form->draw(bins, scratch, drawn, 3) == 3);
        CHECK(form->draw(bins, scratch, drawn + 3, N) == N - 3);
        for (unsigned i = 0; i < N; i++)
            counts[i][drawn[i]]++;
    }
    double chi = 0, expected = (double)TIMES / N;
    for (unsigned i = 0; i < N * N; i++)
        chi += (counts[i / N][i % N] - expected) * (counts[i / N][i % N] - expected) / expected;
    CHECK(chi > 15 && chi < 100); /* of 49 degrees of freedom: 1e-5 on either side */
    form->scratch_free(scratch);
    form->close(bins);
}

/* -------------------------------------------------------------------------------------- strict order */

struct taking {
    const struct strict_form *form;
    void *order;
    uint32_t expected[RECORDS];
    atomic_uint taken;
};

static apl_status take_in_order(void *context, unsigned worker, size_t task, apl_error *err)
{
    static const size_t sizes[] = {1, 7, 64, 1000};
    struct taking *t = context;
    uint32_t deliveries[1000];
    uint64_t position;
    size_t n;
    (void)worker;
    (void)err;
    while ((n = t->form->draw(t->order, deliveries, sizes[task % 4], &position)) > 0) {
        CHECK(position + n <= RECORDS);
        CHECK(memcmp(deliveries, t->expected + position, n * sizeof *deliveries) == 0);
        atomic_fetch_add(&t->taken, (unsigned)n);
    }
    return APL_OK;
}

static void check_order(const struct strict_form *form, const struct subset *subset, unsigned threads)
{
    static struct taking t;
    const struct plan_options options = {.seed = 3, .window = 3000, .bins = 64, .reuse = 1};
    struct plan *plan;
    bool failed = false;
    CHECK(plan_new(&options, subset, &plan, NULL) == APL_OK);
    t.form = form;
    t.order = form->open(&options, subset);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        plan_begin(plan, epoch);
        CHECK(plan_next(plan, t.expected, RECORDS, &failed) == RECORDS);
        form->begin(t.order, epoch);
        atomic_store(&t.taken, 0);
        CHECK(parallel_for(threads, threads, take_in_order, &t, NULL) == APL_OK);
        CHECK(atomic_load(&t.taken) == RECORDS);
    }
    form->close(t.order);
    plan_free(plan);
}

/* ---------------------------------------------------------------------------------------------- memory */

/* What has been drawn makes room for what is put: memory is that of what stands at once. */
static void check_memory(void)
{
    struct tickets *t;
    uint32_t deliveries[500] = {0}, drawn[500];
    CHECK(tickets_new(false, &t, NULL) == APL_OK);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        tickets_begin(t, random_epoch_key(1, epoch, RANDOM_DRAWS));
        for (unsigned i = 0; i < 1000; i++) {
            CHECK(tickets_put(t, deliveries, 500));
            CHECK(tickets_draw(t, drawn, 501, 600, NULL) == 0); /* fewer are left */
            CHECK(tickets_draw(t, drawn, 0, 600, NULL) == 500);
        }
    }
    CHECK(tickets_bytes(t) < 4 * 1024 * 9);
    tickets_free(t);
}

static struct subset make_subset(void)
{
    static struct subset_block blocks[RECORDS / 100];
    struct subset s = {.records = RECORDS, .blocks = RECORDS / 100, .stride = 100, .block = blocks};
    for (uint32_t i = 0; i < s.blocks; i++)
        blocks[i] = (struct subset_block){
            .number = i, .first_id = i * 100, .records = 100, .count = 100, .before = i * 100};
    return s;
}

int main(void)
{
    static const unsigned threads[][2] = {{1, 1}, {2, 3}, {1, 16}, {16, 1}, {16, 16}};
    struct subset subset = make_subset();
    for (unsigned f = 0; f < FREE_FORMS; f++) {
        check_uniform(&free_forms[f]);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
            check_once(&free_forms[f], threads[i][0], threads[i][1]);
    }
    for (unsigned f = 0; f < STRICT_FORMS; f++)
        for (unsigned n = 1; n <= 16; n *= 4)
            check_order(&strict_forms[f], &subset, n);
    check_memory();
    return 0;
}
