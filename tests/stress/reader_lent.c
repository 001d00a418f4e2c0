/*
 * Batches that other threads release in the very moment in which a reader without threads finds that all are lent: it must come back
 * with a batch or with APL_E_LENT, and not go to sleep where nobody would wake it. A plain main, to be run under the thread sanitizer.
 */
#include "reader_case.h"

static struct case_store fixed = {"fixed", 1024, 64, 64, 4, false, ""};

static _Atomic(apl_batch *) lent;
static atomic_bool over;

static void *release_lent(void *unused)
{
    while (!atomic_load(&over)) {
        apl_batch *batch = atomic_exchange(&lent, NULL);
        if (batch)
            apl_batch_release(batch);
    }
    return unused;
}

/* The least budget that a reader can be opened with: all of its batches are soon lent. */
static apl_reader *open_tight(apl_reader_options *o)
{
    apl_store *store = case_open(&fixed);
    apl_reader *reader = NULL;
    apl_error err;
    uint64_t low = 1, high = UINT64_C(1) << 26;
    while (high - low > 256) {
        o->memory_budget = low + (high - low) / 2;
        if (apl_reader_open(store, o, &reader, &err) == APL_OK) {
            apl_reader_close(reader);
            high = o->memory_budget;
        } else {
            low = o->memory_budget;
        }
    }
    o->memory_budget = high;
    MUST(apl_reader_open(store, o, &reader, &err), &err);
    apl_store_close(store);
    return reader;
}

/* Takes a batch, or hands the other thread one to release first if all are lent. */
static unsigned take(apl_reader *reader, apl_batch **held, unsigned *n, unsigned most)
{
    apl_error err;
    apl_status status = apl_reader_next(reader, &held[*n], &err);
    if (status == APL_END) {
        MUST(apl_reader_next_epoch(reader, &err), &err);
    } else if (status == APL_E_LENT) {
        while (*n > 0 && !atomic_load(&over)) {
            apl_batch *none = NULL;
            if (atomic_compare_exchange_strong(&lent, &none, held[*n - 1])) {
                --*n;
                return 1;
            }
        }
    } else {
        MUST(status, &err); /* also APL_E_TIMEOUT, which is what sleep for ever comes to here */
        if (++*n == most)
            apl_batch_release(held[--*n]);
    }
    return 0;
}

int main(void)
{
    enum { MOST = 64 };
    apl_batch *held[MOST];
    pthread_t thread;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    unsigned n = 0, rounds = times(SANITIZED ? 10000 : 40000, 2000000), met = 0;
    o.split = "train";
    o.batch_size = 1;
    o.threads = APL_NO_THREADS;
    o.queue_depth = 1;
    o.faults.timeout_ms = 10000;
    case_begin();
    case_watch(times(300, 3600));
    case_write(&fixed, case_folder);
    apl_reader *reader = open_tight(&o);
    case_doing = "releasing while a reader without threads looks for a batch";
    CHECK(pthread_create(&thread, NULL, release_lent, NULL) == 0);
    for (unsigned i = 0; i < rounds; i++)
        met += take(reader, held, &n, MOST);
    atomic_store(&over, true);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(met > rounds / 100);
    apl_batch *last = atomic_exchange(&lent, NULL);
    if (last)
        apl_batch_release(last);
    while (n > 0)
        apl_batch_release(held[--n]);
    apl_reader_close(reader);
    counted("%u batches, released by another thread", rounds);
    case_end("reader_lent");
    return 0;
}
