/* A store refuses a split that another process has replaced since this store opened it. */
#include "split_fixture.h"

#include <pthread.h>

TestSuite(split_seen, .init = set_up, .fini = tear_down);

#define AGAIN "it has other records than when this store first read it: open the store again"

static void replace(apl_store *store, const char *name, double ratio, const char *parent, uint64_t seed)
{
    apl_split_options o = split_options(name, ratio, parent);
    o.replace = 1;
    o.seed = seed;
    OK(apl_split_make(store, &o, &err));
}

static apl_store *opened(void)
{
    apl_store *store;
    OK(apl_store_open(db, NULL, &store, &err));
    return store;
}

static apl_status open_reader(apl_store *store, const char *split)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *reader = NULL;
    o.split = split;
    o.batch_size = 10;
    o.threads = APL_NO_THREADS;
    apl_status status = apl_reader_open(store, &o, &reader, &err);
    apl_reader_close(reader);
    return status;
}

Test(split_seen, replaced_by_another)
{
    apl_store *store = plain_store(2000, 100), *other = opened();
    uint64_t n = 0;
    make_split(other, "val", 0.5, NULL, NULL);
    OK(open_reader(store, "train-val"));
    replace(other, "val", 0.5, NULL, 5);
    FAILS(APL_E_MISMATCH, "val.split: " AGAIN, open_reader(store, "val"));
    FAILS(APL_E_MISMATCH, AGAIN, open_reader(store, "train-val"));
    FAILS(APL_E_MISMATCH, AGAIN, apl_split_ids(store, "val", NULL, &n, &err));
    apl_split_options o = split_options("dev", 0.5, "train-val");
    FAILS(APL_E_MISMATCH, AGAIN, apl_split_make(store, &o, &err));
    OK(open_reader(store, "train"));
    OK(open_reader(other, "val")); /* who replaced it knows */
    replace(other, "val", 0.5, NULL, 0);
    OK(open_reader(store, "val")); /* the same division again */
    shell("rm '%s/val.split'", db);
    FAILS(APL_E_NOTFOUND, "no split val", open_reader(store, "val"));
    replace(other, "val", 0.4, NULL, 0);
    FAILS(APL_E_MISMATCH, AGAIN, open_reader(store, "val"));
    apl_store_close(store);
    store = opened();
    OK(open_reader(store, "val"));
    apl_store_close(store);
    apl_store_close(other);
}

Test(split_seen, replaced_by_itself)
{
    apl_store *store = plain_store(2000, 100), *other = opened();
    make_split(store, "val", 0.5, NULL, NULL);
    OK(open_reader(store, "val"));
    replace(store, "val", 0.5, NULL, 5);
    OK(open_reader(store, "train-val"));
    OK(open_reader(store, "val"));
    OK(open_reader(other, "val")); /* it has not opened the first */
    replace(store, "val", 0.5, NULL, 6);
    OK(open_reader(store, "val"));
    FAILS(APL_E_MISMATCH, AGAIN, open_reader(other, "val"));
    apl_split_options o = split_options("cv", 0, NULL);
    OK(apl_split_parts(store, &o, 3, 0, &err));
    OK(open_reader(store, "cv-1"));
    OK(open_reader(other, "cv-2"));
    o.seed = 1;
    o.replace = 1;
    OK(apl_split_parts(store, &o, 3, 0, &err));
    OK(open_reader(store, "cv-1"));
    OK(open_reader(other, "cv-1"));
    FAILS(APL_E_MISMATCH, "cv-2.split: " AGAIN, open_reader(other, "train-cv-2"));
    apl_store_close(store);
    apl_store_close(other);
}

/* What was opened came from a split that was not, and is now another. */
Test(split_seen, parents_replaced_by_another)
{
    apl_store *store = plain_store(2000, 100), *other = opened();
    make_split(other, "val", 0.5, NULL, NULL);
    make_split(other, "dev", 0.5, "train-val", NULL);
    OK(open_reader(store, "train-val-dev"));
    replace(other, "val", 0.5, NULL, 5);
    replace(other, "dev", 0.5, "train-val", 0);
    FAILS(APL_E_MISMATCH, "val.split: " AGAIN, open_reader(store, "val"));
    FAILS(APL_E_MISMATCH, AGAIN, open_reader(store, "dev"));
    apl_store_close(store);
    apl_store_close(other);
}

/* ------------------------------------------------------------------------------------------ many threads */

#define SPLITS  12
#define THREADS 8

static void *open_all(void *argument)
{
    apl_store *store = argument;
    apl_error own;
    char name[24];
    for (unsigned i = 0; i < 20 * SPLITS; i++) {
        uint64_t n;
        snprintf(name, sizeof name, i % 2 ? "train-cv-%u" : "cv-%u", i / 2 % SPLITS);
        apl_status status = apl_split_ids(store, name, NULL, &n, &own);
        cr_assert_eq(status, APL_OK, "%s", own.message);
    }
    return NULL;
}

Test(split_seen, by_many_threads)
{
    apl_store *store = plain_store(2000, 100), *other = opened();
    apl_split_options o = split_options("cv", 0, NULL);
    pthread_t threads[THREADS];
    uint64_t n;
    char name[24];
    OK(apl_split_parts(other, &o, SPLITS, 0, &err));
    for (unsigned i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, open_all, store), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    o.seed = 1;
    o.replace = 1;
    OK(apl_split_parts(other, &o, SPLITS, 0, &err));
    for (unsigned i = 0; i < SPLITS; i++) {
        snprintf(name, sizeof name, "cv-%u", i);
        FAILS(APL_E_MISMATCH, AGAIN, apl_split_ids(store, name, NULL, &n, &err));
    }
    apl_store_close(store);
    apl_store_close(other);
}
