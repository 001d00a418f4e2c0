/* Closing and cancelling a reader in every state that it can be in, very often; afterwards there are as many threads and open files as
 * before. A plain main, to be run under the thread and the address sanitizer. */
#include "reader_case.h"

#define CALLERS 3

static struct case_store stores[] = {{"fixed", 1500, 20, 32, 4, false, ""},
                                     {"varying", 700, 0, 64, 2, true, ""}};

enum state {
    AT_ONCE,
    AFTER_BATCHES,
    WITH_LENT,
    WITH_CALLERS,
    CANCELLED_CALLERS,
    AFTER_EPOCH,
    EARLY_EPOCH,
    STATES
};

static const char *const state_names[STATES] = {
    "closing right after open",          "closing after some batches",
    "closing with lent batches",         "cancelling callers, then closing",
    "closing after the end of an epoch", "closing after next_epoch in the middle of an epoch",
};

struct round {
    const struct case_store *store;
    apl_reader *reader;
    apl_batch *lent[4];
    atomic_uint inside;
};

/* Takes batches until the reader says that it is over: what callers are told when they are cancelled. */
static void *call(void *user)
{
    struct round *r = user;
    apl_batch *batch, *held = NULL;
    apl_error err;
    apl_status status;
    atomic_fetch_add(&r->inside, 1);
    while ((status = apl_reader_next(r->reader, &batch, &err)) == APL_OK) {
        case_check(r->store, batch);
        apl_batch_release(held);
        held = batch;
    }
    CHECK(status == APL_E_CANCELLED || status == APL_END);
    if (held)
        case_check(r->store, held);
    apl_batch_release(held);
    return NULL;
}

static void *close_elsewhere(void *user)
{
    double begin = seconds_now();
    apl_reader_close(user);
    CHECK(seconds_now() - begin < 1.0);
    return NULL;
}

static void close_reader(apl_reader *reader, bool elsewhere)
{
    pthread_t thread;
    if (!elsewhere) {
        close_elsewhere(reader);
        return;
    }
    CHECK(pthread_create(&thread, NULL, close_elsewhere, reader) == 0);
    pthread_join(thread, NULL);
}

static void take(struct round *r, struct dice *dice, bool keep)
{
    apl_error err;
    for (unsigned i = roll(dice, 6); i > 0; i--) {
        apl_batch *batch;
        if (apl_reader_next(r->reader, &batch, &err) != APL_OK)
            return;
        unsigned place = keep ? roll(dice, 4) : 0;
        apl_batch_release(r->lent[place]);
        r->lent[place] = batch;
    }
}

/* Callers are sent out before the reader is closed. */
static void cancel_callers(struct round *r, struct dice *dice)
{
    pthread_t threads[CALLERS];
    apl_batch *batch;
    for (unsigned i = 0; i < CALLERS; i++)
        CHECK(pthread_create(&threads[i], NULL, call, r) == 0);
    while (atomic_load(&r->inside) < CALLERS)
        nap(20);
    nap(roll(dice, 300));
    apl_reader_cancel(r->reader);
    CHECK(apl_reader_next(r->reader, &batch, NULL) == APL_E_CANCELLED);
    for (unsigned i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
}

static void *wait_inside(void *user)
{
    struct round *r = user;
    apl_batch *batch;
    CHECK(apl_reader_next(r->reader, &batch, NULL) == APL_E_CANCELLED);
    return NULL;
}

/* Callers that wait for a batch are told, and get out before the reader is gone. */
static void close_under_waiting(const struct case_store *c, unsigned threads)
{
    static const struct load_hook hook = {case_stall, NULL};
    struct round r = {.store = c};
    pthread_t callers[CALLERS];
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_store *store = case_open(c);
    apl_error err;
    case_doing = "closing under callers that wait for a case_stalled loader";
    o.threads = threads;
    atomic_store(&case_stalled, true);
    load_set_hook(&hook);
    MUST(apl_reader_open(store, &o, &r.reader, &err), &err);
    for (unsigned i = 0; i < CALLERS; i++)
        CHECK(pthread_create(&callers[i], NULL, wait_inside, &r) == 0);
    nap(30000);
    close_reader(r.reader, true);
    atomic_store(&case_stalled, false);
    for (unsigned i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    apl_store_close(store);
    load_set_hook(NULL);
}

static void one_round(unsigned number)
{
    struct dice dice = {number * 31u + 5};
    struct round r = {.store = &stores[roll(&dice, 2)]};
    enum state state = (enum state)(number % STATES);
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_store *store = case_open(r.store);
    apl_error err;
    o.split = "train";
    o.batch_size = 1 + roll(&dice, 300);
    o.window = roll(&dice, 2) ? 0 : r.store->block + roll(&dice, 300);
    o.order = roll(&dice, 2) ? APL_FREE : APL_STRICT;
    o.threads = roll(&dice, 6) ? 1 + roll(&dice, 5) : APL_NO_THREADS;
    o.seed = number;
    case_doing = state_names[state];
    case_watch(SANITIZED ? 60 : 10);
    MUST(apl_reader_open(store, &o, &r.reader, &err), &err);
    if (roll(&dice, 2)) {
        apl_store_close(store);
        store = NULL;
    }
    if (state == AFTER_BATCHES || state == WITH_LENT || state == EARLY_EPOCH)
        take(&r, &dice, state == WITH_LENT);
    if (state == EARLY_EPOCH)
        MUST(apl_reader_next_epoch(r.reader, &err), &err);
    if (state == CANCELLED_CALLERS)
        cancel_callers(&r, &dice);
    for (apl_batch *batch; state == AFTER_EPOCH && apl_reader_next(r.reader, &batch, &err) == APL_OK;)
        apl_batch_release(batch);
    close_reader(r.reader, roll(&dice, 2));
    for (unsigned i = 0; i < 4; i++) {
        if (r.lent[i])
            case_check(r.store, r.lent[i]);
        apl_batch_release(r.lent[i]);
    }
    apl_store_close(store);
}

int main(void)
{
    static const struct load_hook hook = {case_slow_load, NULL};
    case_begin();
    for (unsigned i = 0; i < 2; i++)
        case_write(&stores[i], case_folder);
    /* A first time: what is set up once is there now, such as the thread of a sanitizer. */
    close_under_waiting(&stores[0], 1);
    nap(300000);
    unsigned threads = count_entries("/proc/self/task");
    unsigned files = count_entries("/proc/self/fd");
    unsigned rounds = times(SANITIZED ? 300 : 1500, SANITIZED ? 2000 : 10000);
    for (unsigned i = 0; i < rounds; i++) {
        load_set_hook(i / STATES % 2 ? &hook : NULL);
        one_round(i);
        CHECK(count_entries("/proc/self/fd") == files);
        CHECK(threads_come_to(threads));
    }
    for (unsigned i = 0; i < 3; i++)
        close_under_waiting(&stores[i % 2], i ? i : APL_NO_THREADS);
    CHECK(threads_come_to(threads));
    CHECK(count_entries("/proc/self/fd") == files);
    counted("%u readers closed in %d states", rounds, STATES);
    case_end("reader_close");
    return 0;
}
