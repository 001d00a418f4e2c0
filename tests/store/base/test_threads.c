/* What a number of threads means is the same in every call: APL_NO_THREADS starts none. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "store_fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

TestSuite(threads, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

/* Stands in for the system's. */
static atomic_uint started;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    atomic_fetch_add(&started, 1);
    return real(thread, attr, run, argument);
}

/* How many threads have been started since this was asked last. */
static unsigned threads_started(void)
{
    return atomic_exchange(&started, 0);
}

static void make(const char *name, unsigned threads)
{
    static const struct fx_member members[] = {{"a", "train", 0, 20000}};
    const struct fx_recipe recipe = {fx_fields, COUNT(fx_fields), members, COUNT(members)};
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    options.threads = threads;
    options.block_records = 128;
    fx_make(fx_path(name), &recipe, &options);
}

static void get(apl_store *s, unsigned threads)
{
    apl_get_options options = APL_GET_OPTIONS_INIT;
    static uint64_t ids[2000];
    apl_batch *batch;
    for (size_t i = 0; i < COUNT(ids); i++)
        ids[i] = i;
    options.threads = threads;
    OK(apl_store_get_batch(s, ids, COUNT(ids), &options, &batch, &fx_err));
    apl_batch_release(batch);
}

static void verify(apl_store *s, unsigned threads)
{
    apl_verify_options options = APL_VERIFY_OPTIONS_INIT;
    options.threads = threads;
    OK(apl_store_verify(s, &options, &fx_err));
}

static void split(apl_store *s, unsigned threads)
{
    apl_split_options options = APL_SPLIT_OPTIONS_INIT;
    options.name = "val";
    options.ratio = 0.5;
    options.replace = 1;
    options.threads = threads;
    OK(apl_split_make(s, &options, &fx_err));
}

static void split_verify(apl_store *s, unsigned threads)
{
    OK(apl_split_verify(s, "val", threads, &fx_err));
}

static void read_all(apl_store *s, unsigned threads)
{
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    apl_reader *reader;
    apl_batch *batch;
    options.threads = threads;
    OK(apl_reader_open(s, &options, &reader, &fx_err));
    while (apl_reader_next(reader, &batch, &fx_err) == APL_OK)
        apl_batch_release(batch);
    apl_reader_close(reader);
}

static void (*const calls[])(apl_store *s, unsigned threads) = {get, verify, split, split_verify, read_all};

Test(threads, none_is_none_and_more_are_more)
{
    make("db", APL_NO_THREADS);
    cr_assert_eq(threads_started(), 0, "the writer");
    make("other", 2);
    cr_assert_eq(threads_started(), 2 + 1 + 1, "two that encode, one that writes, one more that reads back");
    apl_store *s = fx_open(fx_path("db"));
    for (size_t i = 0; i < COUNT(calls); i++) {
        calls[i](s, APL_NO_THREADS);
        cr_assert_eq(threads_started(), 0, "call %zu", i);
        calls[i](s, 2);
        cr_assert_geq(threads_started(), 1, "call %zu", i);
    }
    apl_store_close(s);
}

Test(threads, by_default_one_per_core)
{
    make("db", 0);
    cr_assert_geq(threads_started(), apl_cores() + 1);
    apl_store *s = fx_open(fx_path("db"));
    for (size_t i = 0; i + 1 < COUNT(calls); i++) {
        calls[i](s, 0);
        unsigned n = threads_started();
        cr_assert(apl_cores() == 1 ? n == 0 : n > 0 && n < apl_cores(), "call %zu: %u", i, n);
    }
    apl_store_close(s);
}

/* A writer that works alone makes the same bytes. */
Test(threads, the_same_store)
{
    make("alone", APL_NO_THREADS);
    make("many", 4);
    cr_assert(fx_same(fx_path("alone/data.mdb"), fx_path("many/data.mdb")));
}
