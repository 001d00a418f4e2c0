/*
 * Loaders that hang: waits end when they should and name the block, other batches come where they may, the order does not change, and a
 * reader can be cancelled and closed meanwhile. A plain main, to be run under the thread sanitizer and the address sanitizer, which
 * sees that what a hanging thread held is freed when it comes back.
 */
#include "reader_case.h"

static struct case_store fixed = {"fixed", 1024, 64, 64, 4, false, ""};

/* One block at a time can be made to hang. */
struct gate {
    atomic_ullong number; /* of the block in the store; UINT64_MAX: none */
    atomic_bool open;
    atomic_uint waiting;
};

static struct gate gate;

static apl_status pass_gate(void *user, uint64_t number, apl_error *err)
{
    (void)user;
    (void)err;
    if (number != atomic_load(&gate.number))
        return APL_OK;
    atomic_fetch_add(&gate.waiting, 1);
    while (!atomic_load(&gate.open))
        nap(200);
    atomic_fetch_sub(&gate.waiting, 1);
    return APL_OK;
}

static const struct load_hook hook = {pass_gate, NULL};

static void shut(uint64_t number)
{
    atomic_store(&gate.open, false);
    atomic_store(&gate.number, number);
    load_set_hook(&hook);
}

static apl_reader *open_reader(const apl_reader_options *o)
{
    apl_store *store = case_open(&fixed);
    apl_reader *reader;
    apl_error err;
    MUST(apl_reader_open(store, o, &reader, &err), &err);
    apl_store_close(store);
    return reader;
}

static apl_reader_options options(unsigned threads)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.split = "train";
    o.batch_size = 50;
    o.threads = threads;
    o.seed = 7;
    return o;
}

/* The ids of an epoch's batches, one after another, as far as they come; the status that ended it. */
static apl_status read_ids(apl_reader *reader, uint64_t *ids, size_t *n, apl_error *err)
{
    apl_status status;
    apl_batch *batch;
    while ((status = apl_reader_next(reader, &batch, err)) == APL_OK) {
        case_check(&fixed, batch);
        memcpy(ids + *n, apl_batch_ids(batch), apl_batch_rows(batch) * sizeof *ids);
        *n += apl_batch_rows(batch);
        apl_batch_release(batch);
    }
    return status;
}

static void strict_order(uint64_t window, unsigned threads)
{
    uint64_t expected[1024], ids[1024];
    size_t n = 0, before;
    apl_error err;
    apl_reader_options o = options(threads);
    case_doing = "strict order with a block that hangs";
    o.window = window;
    load_set_hook(NULL);
    apl_reader *reader = open_reader(&o);
    CHECK(read_ids(reader, expected, &n, &err) == APL_END && n == 1024);
    apl_reader_close(reader);

    shut(5); /* block 4 of the split, which comes after one block */
    o.faults.timeout_ms = 60;
    reader = open_reader(&o);
    n = 0;
    CHECK(read_ids(reader, ids, &n, &err) == APL_E_TIMEOUT);
    CHECK(strstr(err.message, "second: block 4 (records 320 to 383)"));
    CHECK(err.first_record == 320 && err.records == 64);
    before = n;
    double begin = seconds_now();
    CHECK(read_ids(reader, ids, &n, &err) == APL_E_TIMEOUT && n == before);
    CHECK(seconds_now() - begin > 0.055 && seconds_now() - begin < 5);
    atomic_store(&gate.open, true);
    apl_status status;
    while ((status = read_ids(reader, ids, &n, &err)) == APL_E_TIMEOUT)
        ;
    CHECK(status == APL_END && n == 1024 && memcmp(ids, expected, sizeof ids) == 0);
    apl_reader_close(reader);
}

/* All but the block's records come, but for those that do not fill a batch. */
static void free_order(uint64_t window)
{
    uint64_t ids[1024];
    size_t n = 0;
    apl_error err;
    apl_reader_options o = options(2);
    case_doing = "free order with a block that hangs";
    o.order = APL_FREE;
    o.window = window;
    o.faults.timeout_ms = 150;
    shut(9);
    apl_reader *reader = open_reader(&o);
    CHECK(read_ids(reader, ids, &n, &err) == APL_E_TIMEOUT);
    CHECK(n == (1024 - 64) / 50 * 50);
    CHECK(strstr(err.message, "second: block 8 (records 576 to 639)"));
    for (size_t i = 0; i < n; i++)
        CHECK(ids[i] < 576 || ids[i] > 639);
    atomic_store(&gate.open, true);
    while (read_ids(reader, ids, &n, &err) == APL_E_TIMEOUT)
        ;
    CHECK(n == 1024);
    apl_reader_close(reader);
}

/* next_epoch is as patient as next, and can be tried again. */
static void next_epoch(void)
{
    uint64_t ids[1024];
    size_t n = 0;
    apl_error err;
    apl_reader_options o = options(2);
    case_doing = "next_epoch while a block hangs";
    o.faults.timeout_ms = 50;
    shut(3);
    apl_reader *reader = open_reader(&o);
    CHECK(read_ids(reader, ids, &n, &err) == APL_E_TIMEOUT);
    CHECK(apl_reader_next_epoch(reader, &err) == APL_E_TIMEOUT && strstr(err.message, "second: block 2"));
    CHECK(apl_reader_epoch(reader) == 0);
    atomic_store(&gate.open, true);
    apl_status status;
    while ((status = apl_reader_next_epoch(reader, &err)) == APL_E_TIMEOUT)
        ;
    CHECK(status == APL_OK && apl_reader_epoch(reader) == 1);
    n = 0;
    while ((status = read_ids(reader, ids, &n, &err)) == APL_E_TIMEOUT)
        ;
    CHECK(status == APL_END && n == 1024);
    apl_reader_close(reader);
}

static void *wait_for_cancel(void *user)
{
    apl_batch *batch;
    apl_status status;
    while ((status = apl_reader_next(user, &batch, NULL)) == APL_OK)
        apl_batch_release(batch);
    CHECK(status == APL_E_CANCELLED);
    return NULL;
}

/* What the hanging thread holds is freed when it comes back. */
static void leave(uint64_t window, apl_order order, unsigned threads, bool cancel)
{
    pthread_t caller;
    apl_reader_options o = options(threads);
    apl_batch *batch = NULL;
    unsigned before = count_entries("/proc/self/task");
    case_doing = cancel ? "cancelling while a block hangs" : "closing while a block hangs";
    o.window = window;
    o.order = order;
    shut(11);
    apl_reader *reader = open_reader(&o);
    if (order == APL_FREE)
        MUST(apl_reader_next(reader, &batch, NULL), &(apl_error){0});
    CHECK(pthread_create(&caller, NULL, wait_for_cancel, reader) == 0);
    while (atomic_load(&gate.waiting) == 0)
        nap(100);
    nap(2000);
    double begin = seconds_now();
    if (cancel) {
        apl_reader_cancel(reader);
        if (threads != APL_NO_THREADS)
            pthread_join(caller, NULL);
        CHECK(seconds_now() - begin < 0.5);
    }
    begin = seconds_now();
    apl_reader_close(reader);
    CHECK(seconds_now() - begin < 1.0);
    if (batch)
        case_check(&fixed, batch);
    atomic_store(&gate.open, true);
    if (!cancel || threads == APL_NO_THREADS)
        pthread_join(caller, NULL);
    CHECK(threads_come_to(before));
    apl_batch_release(batch);
}

/* A slow loader, and nothing else: all comes. */
static void slow(apl_order order)
{
    uint64_t ids[1024];
    size_t n = 0;
    apl_error err;
    apl_reader_options o = options(3);
    case_doing = "a loader that is slow";
    o.order = order;
    o.window = 200;
    shut(2);
    apl_reader *reader = open_reader(&o);
    for (int i = 0; i < 20 && atomic_load(&gate.waiting) == 0; i++)
        nap(1000);
    nap(20000);
    atomic_store(&gate.open, true);
    CHECK(read_ids(reader, ids, &n, &err) == APL_END && n == 1024);
    apl_reader_close(reader);
}

/* A load that fails or hangs, wherever that is: it is told within the time that was given, and all can be closed. */
static apl_status fail_or_pass(void *user, uint64_t number, apl_error *err)
{
    if (number != *(const uint64_t *)user)
        return APL_OK;
    *err = (apl_error){.status = APL_E_IO};
    snprintf(err->message, sizeof err->message, "block %llu is not to be had", (unsigned long long)number);
    return APL_E_IO;
}

static unsigned late; /* how often something took longer than a second, as it may on a busy machine */

static void at_a_random_point(unsigned number)
{
    struct dice d = {number * 977u + 3};
    uint64_t ids[1024], bad = 1 + roll(&d, 16);
    const struct load_hook failing = {fail_or_pass, &bad};
    bool hangs = roll(&d, 2);
    size_t n = 0;
    apl_error err;
    apl_reader_options o = options(1 + roll(&d, 4));
    case_doing = hangs ? "a random block hangs" : "a random block fails";
    case_watch(60);
    o.seed = number;
    o.order = roll(&d, 2) ? APL_FREE : APL_STRICT;
    o.window = roll(&d, 2) ? 0 : 128 + roll(&d, 400);
    o.faults.timeout_ms = hangs ? 5 + roll(&d, 30) : 0;
    shut(bad);
    if (!hangs)
        load_set_hook(&failing);
    double begin = seconds_now();
    apl_reader *reader = open_reader(&o);
    apl_status status;
    do /* on a busy machine a timeout may come before the block does */
        status = read_ids(reader, ids, &n, &err);
    while (status == APL_E_TIMEOUT && atomic_load(&gate.waiting) == 0);
    CHECK(status == (hangs ? APL_E_TIMEOUT : APL_E_IO));
    double told = seconds_now();
    apl_reader_close(reader);
    late += (!hangs && told - begin > 1) || seconds_now() - told > 1;
    CHECK(told - begin < 15 && seconds_now() - told < 15);
    atomic_store(&gate.open, true);
}

int main(void)
{
    case_begin();
    case_watch(120);
    case_write(&fixed, case_folder);
    for (unsigned threads = 1; threads < 4; threads++) {
        strict_order(0, threads);
        strict_order(200, threads);
    }
    free_order(0);
    free_order(300);
    next_epoch();
    slow(APL_STRICT);
    slow(APL_FREE);
    for (unsigned i = 0; i < 2; i++) {
        leave(0, APL_STRICT, 1, i);
        leave(200, APL_STRICT, 2, i);
        leave(200, APL_FREE, 3, i);
        leave(0, APL_STRICT, APL_NO_THREADS, i);
    }
    unsigned points = times(SANITIZED ? 20 : 100, SANITIZED ? 200 : 1000);
    for (unsigned i = 0; i < points; i++)
        at_a_random_point(i);
    load_set_hook(NULL);
    CHECK(late <= points / 50);
    counted("%u loads that hang or fail at random points", points);
    case_end("reader_stall");
    return 0;
}
