/* Batches: lent, given back at any time, in memory of the caller's, and seen by a callback. */
#include "reader_fixture.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#define TRAIN 200
#define BLOCK 8

static void set_up(void)
{
    fixture_make(TRAIN, 8, BLOCK);
}

TestSuite(reader_batches, .init = set_up, .fini = fixture_free, .timeout = 60);

/* A budget for few batches. */
static apl_reader_options small(unsigned threads)
{
    apl_reader_options o = fixture_options();
    static const char *const fields[] = {"image", "label"};
    o.fields = fields;
    o.field_count = 2;
    o.batch_size = 10;
    o.queue_depth = 2;
    o.threads = threads;
    o.window = BLOCK;
    o.memory_budget = 1;
    o.memory_budget = strtoull(strstr(fixture_refused(&o, APL_E_INVALID), "needs ") + 6, NULL, 10);
    return o;
}

static const unsigned counts[] = {APL_NO_THREADS, 1, 2, 4};

/* Takes batches without giving any back, until no more come. */
static size_t take_all(apl_reader *r, apl_batch **held, size_t most)
{
    apl_error err = {0};
    apl_status status = APL_OK;
    size_t n = 0;
    while (n < most && (status = apl_reader_next(r, &held[n], &err)) == APL_OK)
        n++;
    cr_assert_eq(status, APL_E_LENT, "%s", err.message);
    cr_assert(strstr(err.message, "released") != NULL, "%s", err.message);
    return n;
}

Test(reader_batches, held_ones_use_up_the_budget_until_they_are_released)
{
    for (unsigned i = 0; i < 4; i++) {
        apl_reader_options o = small(counts[i]);
        apl_batch *held[64];
        struct sequence s = {0};
        apl_reader *r = fixture_reader(&o);
        size_t n = take_all(r, held, 20);
        cr_assert_geq(n, 3);
        cr_assert_eq(take_all(r, held + n, 20), 0, "it stays so");
        for (size_t k = 0; k < n; k++)
            check_values(held[k]);
        for (size_t k = 0; k < n; k++) {
            sequence_add(&s, held[k]);
            apl_batch_release(held[k]);
        }
        read_epoch(r, &s); /* and on it goes */
        check_once(&s, 0, TRAIN, 1, false);
        apl_reader_close(r);
        sequence_free(&s);
    }
}

/* One at a time: each release makes room for exactly one more. */
Test(reader_batches, each_release_lets_one_more_come)
{
    for (unsigned i = 0; i < 4; i++) {
        apl_reader_options o = small(counts[i]);
        apl_batch *held[64];
        apl_reader *r = fixture_reader(&o);
        size_t n = take_all(r, held, 20);
        for (size_t k = 0; k + n < 20; k++) {
            apl_batch_release(held[k % n]);
            held[k % n] = fixture_next(r);
            check_values(held[k % n]);
        }
        for (size_t k = 0; k < n; k++)
            apl_batch_release(held[k]);
        apl_reader_close(r);
    }
}

Test(reader_batches, outlive_their_reader_and_store)
{
    for (unsigned i = 0; i < 4; i++) {
        apl_reader_options o = fixture_options();
        apl_batch *held[5];
        apl_store *store;
        apl_reader *r;
        o.threads = counts[i];
        cr_assert_eq(apl_store_open(fx.db, NULL, &store, NULL), APL_OK);
        cr_assert_eq(apl_reader_open(store, &o, &r, NULL), APL_OK);
        for (unsigned k = 0; k < 5; k++)
            held[k] = fixture_next(r);
        apl_store_close(store);
        apl_batch_release(held[4]);
        apl_reader_close(r);
        for (unsigned k = 0; k < 4; k++) {
            check_values(held[k]);
            apl_batch_release(held[k]);
        }
    }
}

Test(reader_batches, stay_as_they_are_across_epochs)
{
    apl_reader_options o = fixture_options();
    o.window = 24;
    o.threads = 2;
    apl_reader *r = fixture_reader(&o);
    apl_batch *held = fixture_next(r);
    for (unsigned epoch = 0; epoch < 3; epoch++) {
        struct sequence s = {0};
        read_batches(r, &s, epoch == 1 ? 2 : SIZE_MAX);
        fixture_next_epoch(r);
        check_values(held);
        cr_assert_eq(apl_batch_epoch(held), 0);
        sequence_free(&s);
    }
    apl_batch_release(held);
    apl_reader_close(r);
}

/* Also when the reader is at work on the batch again: no two batches may ever share memory. */
Test(reader_batches, may_be_released_twice)
{
    for (unsigned i = 0; i < 4; i++) {
        apl_reader_options o = fixture_options();
        struct sequence s = {0};
        apl_batch *b;
        o.threads = counts[i];
        o.batch_size = 3;
        apl_reader *r = fixture_reader(&o);
        while ((b = fixture_next(r))) {
            check_values(b);
            sequence_add(&s, b);
            apl_batch_release(b);
            nanosleep(&(struct timespec){0, i == 1 ? 200000 : 0}, NULL);
            apl_batch_release(b);
        }
        check_once(&s, 0, TRAIN, 1, false);
        apl_reader_close(r);
        sequence_free(&s);
    }
}

/* ------------------------------------------------------------------------------------------------- memory */

struct heap {
    atomic_size_t allocated, freed, bytes, calls;
    size_t fail_at; /* the call to refuse, counted from 1; 0: none */
};

static void *heap_allocate(void *user, size_t bytes)
{
    struct heap *h = user;
    size_t call = atomic_fetch_add(&h->calls, 1) + 1;
    if (h->fail_at && call >= h->fail_at)
        return NULL;
    atomic_fetch_add(&h->allocated, 1);
    atomic_fetch_add(&h->bytes, bytes);
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void heap_deallocate(void *user, void *memory, size_t bytes)
{
    struct heap *h = user;
    atomic_fetch_add(&h->freed, 1);
    atomic_fetch_sub(&h->bytes, bytes);
    free(memory);
}

Test(reader_batches, lie_in_memory_of_the_callers)
{
    for (unsigned i = 0; i < 4; i++) {
        struct heap heap = {0};
        apl_allocator allocator = {heap_allocate, heap_deallocate, &heap};
        apl_reader_options o = fixture_options();
        struct sequence s = {0};
        o.allocator = &allocator;
        o.threads = counts[i];
        apl_reader *r = fixture_reader(&o);
        apl_batch *held = fixture_next(r);
        for (unsigned f = 0; f < FIELDS; f++)
            cr_assert_eq((uintptr_t)apl_batch_column(held, f)->data % 64, 0);
        sequence_add(&s, held);
        read_epoch(r, &s);
        check_once(&s, 0, TRAIN, 1, false);
        apl_reader_close(r);
        check_values(held);
        cr_assert_gt(heap.allocated, heap.freed);
        apl_batch_release(held);
        cr_assert_eq(heap.allocated, heap.freed);
        cr_assert_eq(heap.bytes, 0);
        sequence_free(&s);
    }
}

/* Memory that runs out is an answer: a batch, an error, never a hang. */
Test(reader_batches, memory_may_run_out)
{
    for (size_t fail_at = 1; fail_at < 30; fail_at++)
        for (unsigned i = 0; i < 4; i += 2) {
            struct heap heap = {.fail_at = fail_at};
            apl_allocator allocator = {heap_allocate, heap_deallocate, &heap};
            apl_reader_options o = fixture_options();
            apl_batch *b;
            apl_status status;
            o.allocator = &allocator;
            o.threads = counts[i];
            apl_reader *r = fixture_reader(&o);
            while ((status = apl_reader_next(r, &b, NULL)) == APL_OK) {
                check_values(b);
                apl_batch_release(b);
            }
            cr_assert(status == APL_E_NOMEM || status == APL_END, "%d", status);
            apl_reader_close(r);
            cr_assert_eq(heap.allocated, heap.freed);
        }
}

/* ----------------------------------------------------------------------------------------------- callback */

struct watcher {
    apl_reader *_Atomic reader;
    atomic_size_t batches, rows, refused;
};

static void invert_labels(void *user, apl_batch *b)
{
    struct watcher *w = user;
    const apl_column *c = apl_batch_column(b, FIELD_LABEL);
    for (size_t i = 0; i < apl_batch_rows(b); i++)
        ((uint8_t *)c->data)[i] = (uint8_t)(255 - fixture_label(apl_batch_ids(b)[i]));
    atomic_fetch_add(&w->batches, 1);
    atomic_fetch_add(&w->rows, apl_batch_rows(b));
}

Test(reader_batches, a_callback_sees_them_first_and_may_change_them)
{
    for (unsigned i = 0; i < 8; i++) {
        struct watcher w = {.batches = 0};
        apl_reader_options o = fixture_options();
        size_t rows = 0, batches = 0;
        apl_batch *b;
        o.on_batch = invert_labels;
        o.on_batch_user = &w;
        o.threads = counts[i / 2];
        o.window = i % 2 ? 16 : 0;
        apl_reader *r = fixture_reader(&o);
        for (; (b = fixture_next(r)); batches++) {
            for (size_t k = 0; k < apl_batch_rows(b); k++)
                cr_assert_eq(((const uint8_t *)apl_batch_column(b, FIELD_LABEL)->data)[k],
                             255 - fixture_label(apl_batch_ids(b)[k]));
            rows += apl_batch_rows(b);
            cr_assert_geq(w.rows, rows);
            cr_assert_geq(w.batches, batches + 1);
            apl_batch_release(b);
        }
        cr_assert_eq(rows, TRAIN);
        apl_reader_close(r);
    }
}

struct hanging {
    sem_t within, go, out;
};

static void hang(void *user, apl_batch *batch)
{
    struct hanging *h = user;
    uint8_t *labels = (uint8_t *)apl_batch_column(batch, FIELD_LABEL)->data;
    sem_post(&h->within);
    sem_wait(&h->go);
    labels[0] = 1; /* the batch is still there */
    sem_post(&h->out);
}

Test(reader_batches, a_callback_that_hangs_is_named_and_left_to_itself)
{
    for (unsigned free = 0; free < 2; free++) {
        struct hanging h;
        sem_init(&h.within, 0, 0);
        sem_init(&h.go, 0, 0);
        sem_init(&h.out, 0, 0);
        apl_reader_options o = fixture_options();
        apl_batch *b;
        apl_error err;
        o.on_batch = hang;
        o.on_batch_user = &h;
        o.threads = 1;
        o.order = free ? APL_FREE : APL_STRICT;
        o.faults.timeout_ms = 50;
        apl_reader *r = fixture_reader(&o);
        sem_wait(&h.within);
        for (unsigned k = 0; k < 2; k++) {
            cr_assert_eq(apl_reader_next(r, &b, &err), APL_E_TIMEOUT);
            cr_assert_not_null(strstr(err.message, "on_batch() has not returned"), "%s", err.message);
        }
        apl_reader_close(r); /* would never return if it waited */
        sem_post(&h.go);
        sem_wait(&h.out);
    }
}

static void call_reader(void *user, apl_batch *batch)
{
    struct watcher *w = user;
    apl_batch *b;
    apl_error err;
    apl_reader *r = atomic_load(&w->reader);
    (void)batch;
    if (!r)
        return;
    bool refused = apl_reader_next(r, &b, &err) == APL_E_REENTRANT && err.status == APL_E_REENTRANT;
    refused = refused && apl_reader_next_epoch(r, NULL) == APL_E_REENTRANT;
    atomic_fetch_add(&w->refused, refused);
    atomic_fetch_add(&w->batches, 1);
}

Test(reader_batches, a_callback_cannot_call_its_reader)
{
    for (unsigned i = 0; i < 4; i++) {
        struct watcher w = {.batches = 0};
        struct sequence s = {0};
        apl_reader_options o = fixture_options();
        o.on_batch = call_reader;
        o.on_batch_user = &w;
        o.threads = counts[i];
        apl_reader *r = fixture_reader(&o);
        atomic_store(&w.reader, r);
        read_epoch(r, &s);
        fixture_next_epoch(r);
        read_epoch(r, &s);
        cr_assert_eq(s.count, 2 * TRAIN);
        apl_reader_close(r); /* until then, a thread may be between the two counts */
        cr_assert_gt(w.refused, 0);
        cr_assert_eq(w.refused, w.batches);
        sequence_free(&s);
    }
}

Test(reader_batches, tell_epoch_and_position)
{
    apl_reader_options o = fixture_options();
    o.first_epoch = 7;
    apl_reader *r = fixture_reader(&o);
    for (uint64_t epoch = 7; epoch < 9; epoch++) {
        apl_batch *b;
        uint64_t position = 0;
        for (; (b = fixture_next(r)); position += 16) {
            size_t n = 1;
            cr_assert_eq(apl_batch_epoch(b), epoch);
            cr_assert_eq(apl_batch_position(b), position);
            apl_batch_skipped(b, &n);
            cr_assert_eq(n, 0);
            apl_batch_release(b);
        }
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
}
