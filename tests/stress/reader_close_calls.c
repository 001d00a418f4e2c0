/*
 * Closing a reader while other threads are inside each of its calls, or about to be. Every call is answered: as if the reader were
 * open, or with APL_E_CANCELLED; close takes less than a second, and of two that come together one closes. No other reader is
 * opened before all have been told, so that a call that begins late meets no stranger at the same address. A plain main, to be run
 * under the thread and the address sanitizer.
 */
#include "reader_case.h"

static struct case_store fixed = {"fixed", 1500, 20, 32, 4, false, ""};

struct round {
    apl_reader *reader;
    atomic_uint answered; /* calls that found the reader open */
};

/* Does the status say that the reader is closed? Anything else must be one of two. */
static bool is_over(struct round *r, apl_status status, apl_status other)
{
    CHECK(status == APL_OK || status == other || status == APL_E_CANCELLED);
    atomic_fetch_add(&r->answered, status != APL_E_CANCELLED);
    return status == APL_E_CANCELLED;
}

static void *call_next(void *user)
{
    struct round *r = user;
    apl_status status;
    do {
        apl_batch *batch = NULL;
        status = apl_reader_next(r->reader, &batch, NULL);
        if (status == APL_OK)
            case_check(&fixed, batch);
        apl_batch_release(status == APL_OK ? batch : NULL);
    } while (!is_over(r, status, APL_END));
    return NULL;
}

static void *call_next_epoch(void *user)
{
    struct round *r = user;
    while (!is_over(r, apl_reader_next_epoch(r->reader, NULL), APL_E_INVALID))
        nap(50);
    return NULL;
}

static void *call_state(void *user)
{
    struct round *r = user;
    uint8_t state[512];
    size_t size;
    apl_receipt receipt;
    do
        size = sizeof state;
    while (!is_over(r, apl_reader_state(r->reader, state, &size, NULL), APL_OK));
    CHECK(apl_reader_receipt(r->reader, &receipt, sizeof receipt, NULL) == APL_E_CANCELLED);
    return NULL;
}

static void *call_stats(void *user)
{
    struct round *r = user;
    apl_stats stats;
    while (!is_over(r, apl_reader_stats(r->reader, &stats, sizeof stats), APL_OK))
        CHECK(apl_reader_epoch(r->reader) < UINT32_MAX);
    CHECK(apl_reader_epoch(r->reader) == 0 && apl_reader_batches(r->reader) == 0);
    return NULL;
}

static void *call_source(void *user)
{
    struct round *r = user;
    size_t source;
    uint64_t own;
    apl_error err;
    apl_status status;
    do
        status = apl_reader_source(r->reader, 30, &source, &own, &err);
    while (!is_over(r, status, APL_OK));
    CHECK(strstr(err.message, "closed"));
    return NULL;
}

/* Has no answer of its own. */
static void *call_cancel(void *user)
{
    struct round *r = user;
    apl_receipt receipt;
    for (unsigned i = 0; !is_over(r, apl_reader_receipt(r->reader, &receipt, sizeof receipt, NULL), APL_OK);
         i++)
        if (i > 1000)
            apl_reader_cancel(r->reader);
    apl_reader_cancel(r->reader);
    return NULL;
}

static void *close_too(void *user)
{
    struct round *r = user;
    double begin = seconds_now();
    apl_reader_close(r->reader);
    CHECK(seconds_now() - begin < 1.0);
    return NULL;
}

#define CALLS 8
static void *(*const calls[CALLS])(void *) = {call_next,  call_next,   call_next_epoch, call_state,
                                              call_stats, call_source, call_cancel,     close_too};

static apl_reader_options options(struct dice *dice)
{
    static const unsigned threads[] = {APL_NO_THREADS, 1, 2, 4};
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.split = "train";
    o.batch_size = 1 + roll(dice, 200);
    o.window = roll(dice, 2) ? 0 : 32 + roll(dice, 300);
    o.order = roll(dice, 2) ? APL_FREE : APL_STRICT;
    o.threads = threads[roll(dice, 4)];
    return o;
}

/* Returns how many calls found the reader open. */
static unsigned one_round(apl_store *store, unsigned number)
{
    struct dice dice = {number * 77u + 3};
    struct round r = {0};
    pthread_t threads[CALLS];
    apl_reader_options o = options(&dice);
    apl_error err;
    unsigned begun = roll(&dice, 3) ? CALLS - 1 : CALLS;
    case_watch(SANITIZED ? 60 : 20);
    MUST(apl_reader_open(store, &o, &r.reader, &err), &err);
    for (unsigned i = 0; i < begun; i++) {
        CHECK(pthread_create(&threads[i], NULL, calls[i], &r) == 0);
        nap(i + 2 == CALLS ? roll(&dice, 3000) : 0);
    }
    close_too(&r);
    for (unsigned i = 0; i < begun; i++)
        pthread_join(threads[i], NULL);
    return atomic_load(&r.answered);
}

/* More at once than a chunk of the table of readers holds, closed in another order. */
static void many_readers(apl_store *store)
{
    apl_reader *readers[150];
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_error err;
    case_doing = "150 readers at once";
    o.split = "train";
    o.threads = APL_NO_THREADS;
    for (unsigned i = 0; i < 150; i++)
        MUST(apl_reader_open(store, &o, &readers[i], &err), &err);
    for (unsigned i = 0; i < 150; i++) {
        apl_batch *batch;
        MUST(apl_reader_next(readers[i], &batch, &err), &err);
        case_check(&fixed, batch);
        apl_batch_release(batch);
    }
    for (unsigned i = 0; i < 150; i++)
        apl_reader_close(readers[i * 7 % 150]);
}

int main(void)
{
    static const struct load_hook hook = {case_slow_load, NULL};
    case_begin();
    case_write(&fixed, case_folder);
    apl_store *store = case_open(&fixed);
    many_readers(store);
    many_readers(store); /* in the memory of the first */
    case_doing = "closing under all calls";
    unsigned answered = 0, rounds = times(SANITIZED ? 100 : 700, SANITIZED ? 3000 : 20000);
    for (unsigned i = 0; i < rounds; i++) {
        load_set_hook(i % 2 ? &hook : NULL);
        answered += one_round(store, i);
    }
    load_set_hook(NULL);
    apl_store_close(store);
    CHECK(answered > rounds);
    counted("%u readers closed under %u threads", rounds, CALLS);
    case_end("reader_close_calls");
    return 0;
}
