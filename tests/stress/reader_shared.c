/*
 * Readers of one store in many threads: they open and close at any moment, share what they decode where they can, meet blocks that fail
 * to load, and leave batches behind. Every value is that of its id, and nothing leaks (as the address sanitizer sees). A plain main, to
 * be run under the thread and the address sanitizer.
 */
#include "reader_case.h"

#define THREADS 6

static struct case_store stores[] = {{"fixed", 600, 20, 32, 4, false, ""},
                                     {"varying", 500, 0, 64, 2, true, ""}};

static atomic_uint loaded, failed, read_whole;

/* Now and then a load is slow, or fails. */
static apl_status uncertain(void *user, uint64_t number, apl_error *err)
{
    (void)user;
    unsigned n = atomic_fetch_add(&loaded, 1);
    if (n % 13 == 0)
        nap(300);
    if (n % 101 != 7)
        return APL_OK;
    snprintf(err->message, sizeof err->message, "load %u, of block %u, fails", n, (unsigned)number);
    return err->status = n % 2 ? APL_E_CORRUPT : APL_E_IO;
}

static apl_reader_options options(struct dice *dice)
{
    static const unsigned threads[] = {APL_NO_THREADS, 1, 2};
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.split = "train";
    o.seed = roll(dice, 3);
    o.batch_size = 1 + roll(dice, 150);
    o.order = roll(dice, 3) ? APL_STRICT : APL_FREE;
    o.window = roll(dice, 5) ? 0 : 200;
    o.threads = threads[roll(dice, 3)];
    o.faults.skip_corrupt = roll(dice, 2) ? 10000 : 0;
    return o;
}

/* Takes some batches, or an epoch and a bit; the last one is kept until the reader is closed. */
static void read_some(const struct case_store *c, apl_reader *reader, struct dice *dice)
{
    apl_batch *batch, *held = NULL;
    apl_error err;
    apl_status status = APL_OK;
    for (unsigned most = roll(dice, 3) ? 100000 : roll(dice, 6); most > 0; most--) {
        status = apl_reader_next(reader, &batch, &err);
        if (status != APL_OK)
            break;
        case_check(c, batch);
        apl_batch_release(held);
        held = batch;
    }
    CHECK(status == APL_OK || status == APL_END || status == APL_E_CORRUPT || status == APL_E_IO);
    atomic_fetch_add(&read_whole, status == APL_END);
    atomic_fetch_add(&failed, status == APL_E_CORRUPT || status == APL_E_IO);
    if (status == APL_END && roll(dice, 2)) {
        MUST(apl_reader_next_epoch(reader, &err), &err);
        if (apl_reader_next(reader, &batch, &err) == APL_OK) {
            apl_batch_release(held);
            case_check(c, held = batch);
        }
    }
    apl_reader_close(reader);
    if (held)
        case_check(c, held);
    apl_batch_release(held);
}

static void *read_often(void *user)
{
    struct dice dice = {(uint64_t)(uintptr_t)user * 977 + 5};
    unsigned rounds = times(SANITIZED ? 60 : 400, SANITIZED ? 600 : 4000);
    for (unsigned i = 0; i < rounds; i++) {
        const struct case_store *c = &stores[roll(&dice, 2)];
        apl_reader_options o = options(&dice);
        apl_store *store = case_open(c);
        apl_reader *reader;
        apl_error err;
        MUST(apl_reader_open(store, &o, &reader, &err), &err);
        apl_store_close(store);
        read_some(c, reader, &dice);
    }
    return NULL;
}

int main(void)
{
    static const struct load_hook hook = {uncertain, NULL};
    pthread_t threads[THREADS];
    case_begin();
    for (unsigned i = 0; i < 2; i++)
        case_write(&stores[i], case_folder);
    case_doing = "readers that share what they decode";
    load_set_hook(&hook);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, read_often, (void *)i) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    load_set_hook(NULL);
    CHECK(atomic_load(&read_whole) > 0 && atomic_load(&failed) > 0);
    counted("%u epochs read by readers that share, %u ended by an error", atomic_load(&read_whole),
            atomic_load(&failed));
    case_end("reader_shared");
    return 0;
}
