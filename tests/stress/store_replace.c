/*
 * A store that is replaced while it is read: every reader sees the one that it opened, whole, for as long as it lives; whoever opens
 * it gets the old one or the new one. A plain main, to be run under the thread sanitizer too.
 */
#include "reader_case.h"

#define READERS 8u

/* Versions differ in how many records they have; so does what each record is, by the first id. */
static struct case_store versions[2] = {{"db", 300, 0, 32, 4, false, ""}, {"db", 420, 60, 16, 4, false, ""}};
static atomic_bool over;
static atomic_uint epochs;

static void read_once(unsigned number)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_store *store = case_open(&versions[0]);
    apl_reader *reader;
    apl_batch *batch;
    apl_error err;
    apl_status status;
    bool second = apl_store_info(store)->records == 480;
    const struct case_store *c = &versions[second];
    uint64_t seen = 0;
    CHECK(apl_store_info(store)->records == c->first + c->records);
    o.split = "train";
    o.threads = number % 2 ? 1 : APL_NO_THREADS;
    o.seed = number;
    o.batch_size = 32;
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
        case_check(c, batch);
        seen += apl_batch_rows(batch);
        apl_batch_release(batch);
        if (number % 3 == 0)
            nap(200); /* so that it lives through some replacements */
    }
    CHECK(status == APL_END && seen == c->records);
    apl_reader_close(reader);
    apl_store_close(store);
    atomic_fetch_add(&epochs, 1);
}

static void *read_on(void *argument)
{
    unsigned number = *(unsigned *)argument;
    while (!atomic_load(&over)) {
        read_once(number);
        number += READERS;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[READERS];
    unsigned numbers[READERS], replaced = SANITIZED ? 20 : times(60, 500);
    case_begin();
    case_write(&versions[0], case_folder);
    case_write(&versions[1], case_folder);
    case_doing = "replacing a store that is read";
    for (unsigned i = 0; i < READERS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, read_on, &numbers[i]) == 0);
    }
    for (unsigned i = 0; i < replaced; i++)
        case_write(&versions[i % 2], case_folder);
    atomic_store(&over, true);
    for (unsigned i = 0; i < READERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(atomic_load(&epochs) >= READERS);
    CHECK(count_entries(versions[0].path) == 1);
    counted("%u replacements under %u readers, which read %llu epochs", replaced, READERS,
            (unsigned long long)atomic_load(&epochs));
    case_end("store_replace");
    return 0;
}
