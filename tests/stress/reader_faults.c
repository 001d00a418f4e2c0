/*
 * What goes wrong around a reader: blocks that are corrupt, callbacks that call their reader, batches released twice, stores replaced or
 * closed underneath. Each has its answer; nothing hangs, and nothing leaks (as the address sanitizer sees). A plain main, to be run under
 * the sanitizers too.
 */
#include "reader_case.h"

#define RECORDS 800u
#define CALLERS 4

static struct case_store fixed = {"fixed", RECORDS, 0, 32, 4, false, ""};

/* ----------------------------------------------------------------------------------------------- corrupt blocks */

static apl_status corrupt(void *user, uint64_t number, apl_error *err)
{
    const uint64_t *bad = user;
    if (number % *bad != 3)
        return APL_OK;
    snprintf(err->message, sizeof err->message, "made corrupt by the test");
    return err->status = APL_E_CORRUPT;
}

struct crowd {
    apl_reader *reader;
    atomic_uint corrupt, rows;
};

static void *call(void *user)
{
    struct crowd *c = user;
    apl_batch *batch;
    apl_error err;
    apl_status status;
    while ((status = apl_reader_next(c->reader, &batch, &err)) == APL_OK) {
        case_check(&fixed, batch);
        atomic_fetch_add(&c->rows, (unsigned)apl_batch_rows(batch));
        apl_batch_release(batch);
    }
    CHECK(status == APL_E_CORRUPT || status == APL_END);
    if (status == APL_E_CORRUPT) {
        CHECK(strstr(err.message, "made corrupt") &&
              apl_reader_next(c->reader, &batch, &err) == APL_E_CORRUPT);
        atomic_fetch_add(&c->corrupt, 1);
    }
    return NULL;
}

/* Every caller that waits is told, again and again; or the rows are left out, and the rest comes. */
static void corrupt_blocks(uint64_t window, apl_order order, uint64_t skip, unsigned threads)
{
    uint64_t every = 10;
    const struct load_hook hook = {corrupt, &every};
    struct crowd c = {0};
    pthread_t callers[CALLERS];
    apl_reader_options o = case_options();
    apl_store *store = case_open(&fixed);
    apl_error err;
    case_doing = "corrupt blocks under many callers";
    o.window = window;
    o.order = order;
    o.faults.skip_corrupt = skip;
    o.threads = threads;
    load_set_hook(&hook);
    MUST(apl_reader_open(store, &o, &c.reader, &err), &err);
    apl_store_close(store);
    for (int epoch = 0; epoch < 3; epoch++) {
        atomic_store(&c.rows, 0);
        atomic_store(&c.corrupt, 0);
        for (unsigned i = 0; i < CALLERS; i++)
            CHECK(pthread_create(&callers[i], NULL, call, &c) == 0);
        for (unsigned i = 0; i < CALLERS; i++)
            pthread_join(callers[i], NULL);
        CHECK(skip ? atomic_load(&c.corrupt) == 0 && atomic_load(&c.rows) == RECORDS - 3 * 32
                   : atomic_load(&c.corrupt) == CALLERS);
        MUST(apl_reader_next_epoch(c.reader, &err), &err);
    }
    apl_reader_close(c.reader);
    load_set_hook(NULL);
}

/* ---------------------------------------------------------------------------------------------------- callbacks */

struct back {
    _Atomic(apl_reader *) reader;
    atomic_uint refused;
};

static void call_back(void *user, apl_batch *batch)
{
    struct back *b = user;
    apl_reader *reader = atomic_load(&b->reader);
    apl_batch *other;
    apl_error err;
    (void)batch;
    if (!reader)
        return;
    CHECK(apl_reader_next(reader, &other, &err) == APL_E_REENTRANT && err.status == APL_E_REENTRANT);
    CHECK(apl_reader_next_epoch(reader, &err) == APL_E_REENTRANT);
    atomic_fetch_add(&b->refused, 1);
}

static void *allocate_and_call(void *user, size_t bytes)
{
    struct back *b = user;
    apl_reader *reader = atomic_load(&b->reader);
    apl_batch *other;
    apl_stats stats;
    if (reader) {
        CHECK(apl_reader_next(reader, &other, NULL) == APL_E_REENTRANT);
        CHECK(apl_reader_stats(reader, &stats, sizeof stats) == APL_OK); /* harmless, and so allowed */
    }
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void free_only(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

static void callbacks(unsigned threads)
{
    struct back b = {NULL, 0};
    const apl_allocator allocator = {allocate_and_call, free_only, &b};
    apl_reader_options o = case_options();
    apl_store *store = case_open(&fixed);
    apl_reader *reader;
    apl_batch *lent[6];
    apl_error err;
    uint64_t n;
    case_doing = "callbacks that call their reader";
    o.threads = threads;
    o.on_batch = call_back;
    o.on_batch_user = &b;
    o.allocator = &allocator;
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    apl_store_close(store);
    atomic_store(&b.reader, reader);
    for (int i = 0; i < 6; i++) /* so that more are allocated */
        MUST(apl_reader_next(reader, &lent[i], &err), &err);
    for (int i = 0; i < 6; i++)
        apl_batch_release(lent[i]);
    CHECK(case_epoch(&fixed, reader, &n, &err) == APL_END && n == RECORDS - 6 * 64);
    CHECK(atomic_load(&b.refused) > 0);
    apl_reader_close(reader);
}

/* ------------------------------------------------------------------------------------------------------ misuse */

/* A second release does nothing, whether the batch is idle by then, on its way again, or is released by several at once. */
static void *release(void *user)
{
    apl_batch_release(user);
    return NULL;
}

static void double_release(unsigned threads)
{
    uint64_t n = 0, rows = 0;
    apl_reader_options o = case_options();
    apl_store *store = case_open(&fixed);
    apl_reader *reader;
    apl_batch *batch;
    apl_error err;
    apl_status status;
    case_doing = "releasing twice";
    o.threads = threads;
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
        pthread_t other;
        case_check(&fixed, batch);
        rows += apl_batch_rows(batch);
        CHECK(pthread_create(&other, NULL, release, batch) == 0);
        apl_batch_release(batch);
        pthread_join(other, NULL);
        nap(n++ % 3 * 100); /* the reader may have begun to fill it again, and has not handed it out */
        apl_batch_release(batch);
    }
    CHECK(status == APL_END && rows == RECORDS);
    apl_reader_close(reader);
    apl_store_close(store);
}

static void *wait_inside(void *user)
{
    struct crowd *c = user;
    apl_batch *batch;
    atomic_fetch_add(&c->rows, 1);
    CHECK(apl_reader_next(c->reader, &batch, NULL) == APL_E_CANCELLED);
    return NULL;
}

/* While a thread is inside next, next_epoch is refused, and nothing comes of it. */
static void two_threads(void)
{
    static const struct load_hook hook = {case_stall, NULL};
    struct crowd c = {0};
    pthread_t caller;
    apl_reader_options o = case_options();
    apl_store *store = case_open(&fixed);
    apl_error err;
    case_doing = "next_epoch while another thread is inside next";
    atomic_store(&case_stalled, true);
    load_set_hook(&hook);
    MUST(apl_reader_open(store, &o, &c.reader, &err), &err);
    CHECK(pthread_create(&caller, NULL, wait_inside, &c) == 0);
    while (atomic_load(&c.rows) == 0)
        nap(100);
    nap(20000);
    CHECK(apl_reader_next_epoch(c.reader, &err) == APL_E_INVALID && apl_reader_epoch(c.reader) == 0);
    apl_reader_cancel(c.reader);
    pthread_join(caller, NULL);
    atomic_store(&case_stalled, false);
    apl_reader_close(c.reader);
    apl_store_close(store);
    load_set_hook(NULL);
}

/* The reader goes on with the store that it was opened on. */
static void replaced(void)
{
    struct case_store other = {"fixed", 300, 0, 32, 4, false, ""};
    apl_reader_options o = case_options();
    apl_store *store = case_open(&fixed);
    apl_reader *reader;
    apl_error err;
    uint64_t n;
    case_doing = "a store that is replaced under its reader";
    o.window = 100;
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    case_write(&other, case_folder);
    apl_store_close(store);
    for (int epoch = 0; epoch < 2; epoch++) {
        CHECK(case_epoch(&fixed, reader, &n, &err) == APL_END && n == RECORDS);
        MUST(apl_reader_next_epoch(reader, &err), &err);
    }
    apl_reader_close(reader);
    store = case_open(&other);
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    apl_store_close(store);
    CHECK(case_epoch(&other, reader, &n, &err) == APL_END && n == 300);
    apl_reader_close(reader);
}

int main(void)
{
    static const unsigned some[] = {APL_NO_THREADS, 1, 3};
    case_begin();
    case_write(&fixed, case_folder);
    for (unsigned i = 0; i < 3; i++) {
        callbacks(some[i]);
        double_release(some[i]);
        corrupt_blocks(0, APL_STRICT, 0, some[i]);
        corrupt_blocks(200, APL_FREE, 0, some[i]);
        corrupt_blocks(0, APL_FREE, 1000, some[i]);
        corrupt_blocks(200, APL_STRICT, 1000, some[i]);
    }
    two_threads();
    replaced();
    case_end("reader_faults");
    return 0;
}
