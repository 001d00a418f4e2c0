/* Readers from the outside: each record once, with its own values, in the same order whoever reads it. */
#include "counts.h"
#include "hash.h"
#include "load.h"
#include "reader_fixture.h"
#include "workers.h"

#include <stdatomic.h>
#include <time.h>

#define TRAIN 131
#define TEST  21
#define BLOCK 8

static void set_up(void)
{
    fixture_make(TRAIN, TEST, BLOCK);
}

TestSuite(reader, .init = set_up, .fini = fixture_free, .timeout = 120);

/* ------------------------------------------------------------------------------------------- random mixes */

static uint32_t below(uint32_t *state, uint32_t bound)
{
    return (sample_random(state) >> 4) % bound;
}

static void random_threads(apl_reader_options *o, uint32_t *state)
{
    static const unsigned counts[] = {APL_NO_THREADS, 1, 2, 3, 4, 7, 8, 16, 32};
    if (below(state, 4)) {
        o->threads = counts[below(state, sizeof counts / sizeof *counts)];
        return;
    }
    o->threads = 0;
    o->loaders = 1 + below(state, 4);
    o->consumers = 1 + below(state, 4);
}

static apl_reader_options random_options(uint32_t *state)
{
    apl_reader_options o = fixture_options();
    random_threads(&o, state);
    o.batch_size = 1 + below(state, TRAIN + 1);
    o.window = below(state, 3) ? BLOCK + below(state, TRAIN - BLOCK + 1) : 0;
    o.bins = 1 + below(state, 256);
    o.reuse = 1 + below(state, 3);
    o.seed = sample_random(state);
    o.drop_last = below(state, 4) == 0;
    o.queue_depth = below(state, 6);
    o.first_epoch = below(state, 1000);
    unsigned order = below(state, 5);
    o.sequential = order == 0;
    o.order = order > 2 ? APL_FREE : APL_STRICT;
    return o;
}

static void check_epoch(apl_reader *r, const apl_reader_options *o, uint64_t epoch)
{
    struct sequence s = {0};
    size_t all = (size_t)TRAIN * o->reuse, b = o->batch_size;
    size_t batches = o->drop_last ? all / b : (all + b - 1) / b;
    cr_assert_eq(apl_reader_epoch(r), epoch);
    cr_assert_eq(apl_reader_batches(r), batches);
    read_epoch(r, &s);
    cr_assert_eq(s.batches, batches);
    cr_assert_eq(s.count, o->drop_last ? batches * b : all);
    check_once(&s, 0, TRAIN, o->reuse, o->drop_last);
    for (size_t i = 0; o->sequential && i < s.count; i++)
        cr_assert_eq(s.ids[i], i / o->reuse);
    sequence_free(&s);
}

/* A few epochs, of which some are left in the middle. */
static void check_mix(uint32_t seed)
{
    uint32_t state = seed * 2654435761u + 1;
    apl_reader_options o = random_options(&state);
    apl_reader *r = fixture_reader(&o);
    for (uint64_t epoch = o.first_epoch; epoch < o.first_epoch + 4; epoch++) {
        if (below(&state, 3) == 0) {
            struct sequence s = {0};
            read_batches(r, &s, 1 + below(&state, 5));
            check_once(&s, 0, TRAIN, o.reuse, true);
            sequence_free(&s);
        } else {
            check_epoch(r, &o, epoch);
        }
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
}

Test(reader, each_record_once_in_any_mix)
{
    for (size_t seed = 0; seed < 250; seed += sweep_step())
        check_mix((uint32_t)seed);
}

/* Some blocks come at once, some late: a function of the block, so that a failure can be repeated. */
static apl_status delay(void *user, uint64_t number, apl_error *err)
{
    static const long ns[] = {0, 0, 0, 20000, 0, 100000, 0, 400000};
    (void)user;
    (void)err;
    nanosleep(&(struct timespec){0, ns[number * 5 % 8]}, NULL);
    return APL_OK;
}

Test(reader, each_record_once_when_blocks_come_late)
{
    static const struct load_hook late = {delay, NULL};
    load_set_hook(&late);
    for (uint32_t seed = 5000; seed < 5060; seed++)
        check_mix(seed);
    load_set_hook(NULL);
}

static apl_status count_loads(void *user, uint64_t number, apl_error *err)
{
    (void)number;
    (void)err;
    atomic_fetch_add((atomic_uint *)user, 1);
    return APL_OK;
}

static apl_reader *reader_of_two(void)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.threads = 2;
    o.batch_size = 4;
    return fixture_reader(&o);
}

Test(reader, decodes_nothing_if_it_is_only_looked_at)
{
    atomic_uint loads = 0;
    const struct load_hook counting = {count_loads, &loads};
    load_set_hook(&counting);
    workers_set_patience((uint64_t)3600 * 1000000000);
    apl_reader *r = reader_of_two();
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    apl_reader_close(r);
    cr_assert_eq(loads, 0u);
    r = reader_of_two();
    apl_batch_release(fixture_next(r)); /* which does not wait for an hour */
    apl_reader_close(r);
    cr_assert_gt(loads, 0u);
    load_set_hook(NULL);
}

Test(reader, reads_ahead_before_it_is_asked)
{
    atomic_uint loads = 0;
    const struct load_hook counting = {count_loads, &loads};
    load_set_hook(&counting);
    apl_reader *r = reader_of_two();
    while (loads == 0)
        nanosleep(&(struct timespec){0, 100000}, NULL);
    apl_reader_close(r);
    load_set_hook(NULL);
}

Test(reader, each_record_once_under_the_smallest_budget)
{
    for (uint32_t seed = 1000; seed < 1100; seed++) {
        uint32_t state = seed * 2654435761u + 1;
        apl_reader_options o = random_options(&state);
        o.memory_budget = 1;
        const char *message = fixture_refused(&o, APL_E_INVALID), *needs = strstr(message, "needs ");
        cr_assert_not_null(needs, "%s", message);
        o.memory_budget = strtoull(needs + 6, NULL, 10);
        if (strstr(message, "one of "))
            o.window = strtoull(strstr(message, "one of ") + 7, NULL, 10);
        apl_reader *r = fixture_reader(&o);
        for (unsigned epoch = 0; epoch < 3; epoch++) {
            check_epoch(r, &o, o.first_epoch + epoch);
            fixture_next_epoch(r);
        }
        apl_reader_close(r);
    }
}

/* ------------------------------------------------------------------------------------------------- values */

static void check_column(const apl_batch *b, size_t row, const apl_batch *one, unsigned f)
{
    const apl_column *c = apl_batch_column(b, f), *d = apl_batch_column(one, f);
    size_t element = apl_dtype_size(c->dtype);
    cr_assert_eq(c->dtype, d->dtype);
    cr_assert_eq(c->ndim, d->ndim);
    cr_assert(memcmp(c->shape, d->shape, c->ndim * sizeof *c->shape) == 0);
    cr_assert_eq((uintptr_t)c->data % 64, 0);
    size_t from = c->offsets ? (size_t)c->offsets[row] * element : row * d->bytes;
    size_t to = c->offsets ? (size_t)c->offsets[row + 1] * element : from + d->bytes;
    cr_assert_eq(to - from, d->bytes);
    cr_assert(d->bytes == 0 || memcmp((const uint8_t *)c->data + from, d->data, d->bytes) == 0);
    for (unsigned i = 0; c->shapes && i < c->ndim; i++)
        cr_assert_eq(c->shapes[row * c->ndim + i], d->shapes[i]);
}

Test(reader, values_are_those_of_get)
{
    static const uint64_t windows[] = {0, 20};
    for (unsigned k = 0; k < 2; k++) {
        apl_reader_options o = fixture_options();
        o.window = windows[k];
        apl_reader *r = fixture_reader(&o);
        apl_batch *b, *one;
        while ((b = fixture_next(r))) {
            for (size_t i = 0; i < apl_batch_rows(b); i++) {
                cr_assert_eq(apl_store_get(fx.store, apl_batch_ids(b)[i], &one, NULL), APL_OK);
                for (unsigned f = 0; f < FIELDS; f++)
                    check_column(b, i, one, f);
                apl_batch_release(one);
            }
            cr_assert_null(apl_batch_column(b, FIELDS));
            apl_batch_release(b);
        }
        apl_reader_close(r);
    }
}

Test(reader, brings_only_the_fields_that_are_wanted)
{
    static const char *const lists[][2] = {{"label", "image"}, {"name", "name"}, {"track", "label"}};
    for (unsigned k = 0; k < 3; k++) {
        apl_reader_options o = fixture_options();
        o.fields = lists[k];
        o.field_count = 2;
        apl_reader *r = fixture_reader(&o);
        apl_batch *b = fixture_next(r);
        for (unsigned f = 0; f < FIELDS; f++) {
            const char *name = apl_store_field(fx.store, f)->name;
            bool wanted = strcmp(name, lists[k][0]) == 0 || strcmp(name, lists[k][1]) == 0;
            cr_assert_eq(apl_batch_column(b, f) != NULL, wanted, "%s", name);
        }
        check_values(b);
        apl_batch_release(b);
        apl_reader_close(r);
    }
}

Test(reader, reads_the_split_that_is_asked_for)
{
    apl_reader_options o = fixture_options();
    struct sequence s = {0};
    o.split = "test";
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &s);
    check_once(&s, TRAIN, TEST, 1, false);
    apl_reader_close(r);
    sequence_free(&s);
    o.split = NULL; /* the first */
    r = fixture_reader(&o);
    read_epoch(r, &s);
    check_once(&s, 0, TRAIN, 1, false);
    apl_reader_close(r);
    sequence_free(&s);
}

Test(reader, outlives_its_store)
{
    apl_reader_options o = fixture_options();
    apl_store *store;
    apl_reader *r;
    o.threads = 2;
    o.window = 24;
    cr_assert_eq(apl_store_open(fx.db, NULL, &store, NULL), APL_OK);
    cr_assert_eq(apl_reader_open(store, &o, &r, NULL), APL_OK);
    apl_store_close(store);
    for (unsigned epoch = 0; epoch < 2; epoch++) {
        struct sequence s = {0};
        read_epoch(r, &s);
        check_once(&s, 0, TRAIN, 1, false);
        sequence_free(&s);
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
}

/* ------------------------------------------------------------------------------------------- strict order */

static struct sequence order_of(const apl_reader_options *o, unsigned epochs)
{
    struct sequence s = {0};
    apl_reader *r = fixture_reader(o);
    for (unsigned i = 0; i < epochs; i++) {
        read_epoch(r, &s);
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
    return s;
}

Test(reader, strict_order_is_the_same_whoever_works)
{
    static const uint64_t windows[] = {0, BLOCK, 50, TRAIN};
    unsigned orders = 5, ways = times(25, 40);
    for (unsigned k = 0; k < orders; k++) {
        apl_reader_options o = fixture_options();
        o.window = windows[k % 4];
        o.seed = k;
        struct sequence expected = order_of(&o, 3);
        for (uint32_t seed = 0; seed < ways; seed++) {
            uint32_t state = seed * 2654435761u + 1;
            random_threads(&o, &state);
            o.batch_size = 1 + below(&state, TRAIN + 1);
            o.queue_depth = below(&state, 9);
            o.memory_budget = below(&state, 2) ? (uint64_t)1 << 28 : 0;
            struct sequence s = order_of(&o, 3);
            check_same(&expected, &s);
            sequence_free(&s);
            o.loaders = o.consumers = 0;
        }
        sequence_free(&expected);
    }
    counted("%u orders read by %u sets of threads each", orders, ways);
}

struct golden {
    uint64_t seed, epoch, window;
    unsigned bins, reuse;
    uint64_t digest; /* XXH3-64 of the ids of the epoch, 64 bits each, little-endian */
};

static uint64_t epoch_digest(const struct golden *g)
{
    apl_reader_options o = fixture_options();
    o.seed = g->seed;
    o.first_epoch = g->epoch;
    o.window = g->window;
    o.bins = g->bins;
    o.reuse = g->reuse;
    struct sequence s = order_of(&o, 1);
    uint64_t digest = hash_xxh3_64(s.ids, s.count * sizeof *s.ids);
    sequence_free(&s);
    return digest;
}

/* An order, once published, is never changed: runs can be repeated years later. */
Test(reader, strict_order_never_changes)
{
    static const struct golden goldens[] = {
        {0, 0, 0, 0, 0, 0x052ca7c71bf49331},    {0, 1, 0, 0, 0, 0x935e9b518d85b952},
        {1, 0, 0, 0, 0, 0x3dc9cede3c84ff10},    {42, 1, 0, 0, 0, 0xeb84cb01162007be},
        {43, 0, 0, 0, 0, 0x49f470c72dddd0da},   {7, 3, BLOCK, 0, 0, 0xce48d00b8f64f3ff},
        {7, 3, 40, 0, 0, 0x20aa21b57d69c829},   {7, 3, 40, 1, 0, 0xde1e8ef0652271bd},
        {7, 3, 40, 256, 0, 0xa8a2bcfedd99050a}, {7, 3, 0, 13, 2, 0x065d89efb4b8af79},
        {7, 3, 40, 13, 3, 0x7a05f52aae558e37},  {UINT64_MAX, INT64_MAX, 0, 5, 1, 0x50631b997e64e038},
    };
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        uint64_t digest = epoch_digest(&goldens[i]);
        cr_expect_eq(digest, goldens[i].digest, "%zu: 0x%016llx", i, (unsigned long long)digest);
    }
    counted("%zu orders as they were published", sizeof goldens / sizeof *goldens);
}

/* How many places of two orders have the same id: about one if they have nothing in common. */
static size_t agreement(const apl_reader_options *a, const apl_reader_options *b)
{
    struct sequence s = order_of(a, 1), t = order_of(b, 1);
    size_t same = 0;
    cr_assert_eq(s.count, t.count);
    for (size_t i = 0; i < s.count; i++)
        same += s.ids[i] == t.ids[i];
    sequence_free(&s);
    sequence_free(&t);
    return same;
}

Test(reader, seeds_and_epochs_have_nothing_in_common)
{
    static const uint64_t others[][2] = {{42, 2}, {43, 1}, {43, 0}, {41, 2}, {42, 0}, {42 + 256, 1}, {1, 42}};
    apl_reader_options a = fixture_options(), b;
    a.seed = 42;
    a.first_epoch = 1;
    b = a;
    cr_assert_eq(agreement(&a, &b), TRAIN);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        b.seed = others[i][0];
        b.first_epoch = others[i][1];
        cr_assert_lt(agreement(&a, &b), 11); /* Poisson of mean 1: more than 10 with probability 1e-8 */
    }
}

/* --------------------------------------------------------------------------------------------- the calls */

Test(reader, refuses_what_is_no_argument)
{
    apl_reader_options o = fixture_options();
    apl_reader *r = NULL;
    apl_error err;
    apl_batch *b;
    cr_assert_eq(apl_reader_open(NULL, &o, &r, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_open(fx.store, &o, NULL, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_next(NULL, &b, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_next_epoch(NULL, &err), APL_E_INVALID);
    apl_reader_cancel(NULL);
    apl_reader_close(NULL);
    r = fixture_reader(&o);
    cr_assert_eq(apl_reader_next(r, NULL, &err), APL_E_INVALID);
    apl_reader_close(r);
}

Test(reader, cancelled_stays_cancelled)
{
    apl_reader_options o = fixture_options();
    apl_error err;
    for (unsigned threads = 0; threads < 3; threads++) {
        apl_batch *b = NULL;
        o.threads = threads ? threads : APL_NO_THREADS;
        apl_reader *r = fixture_reader(&o);
        apl_batch_release(fixture_next(r));
        apl_reader_cancel(r);
        cr_assert_eq(apl_reader_next(r, &b, &err), APL_E_CANCELLED);
        cr_assert_eq(apl_reader_next(r, &b, NULL), APL_E_CANCELLED);
        cr_assert_null(b);
        apl_reader_close(r);
    }
}

Test(reader, defaults_are_good)
{
    apl_reader *r = NULL;
    struct sequence s = {0};
    cr_assert_eq(apl_reader_open(fx.store, NULL, &r, NULL), APL_OK);
    read_epoch(r, &s);
    check_once(&s, 0, TRAIN, 1, false);
    cr_assert_eq(s.batches, 1); /* of up to 256 */
    apl_reader_close(r);
    sequence_free(&s);
}

/* The message names the largest window that fits, and that one works. */
Test(reader, names_the_largest_window_that_fits)
{
    unsigned named = 0;
    for (uint32_t seed = 0; seed < 60; seed++) {
        uint32_t state = seed * 2654435761u + 1;
        apl_reader_options o = random_options(&state);
        o.batch_size = 1 + below(&state, 4);
        o.window = 0;
        o.memory_budget = 1;
        uint64_t least = strtoull(strstr(fixture_refused(&o, APL_E_INVALID), "needs ") + 6, NULL, 10);
        o.window = BLOCK;
        o.memory_budget = least;
        apl_reader_close(fixture_reader(&o));
        o.window = TRAIN;
        o.memory_budget = least + below(&state, 2000);
        apl_reader *r = NULL;
        apl_error err;
        if (apl_reader_open(fx.store, &o, &r, &err) == APL_OK) {
            apl_reader_close(r);
            continue;
        }
        cr_assert_eq(err.status, APL_E_INVALID);
        const char *fits = strstr(err.message, "enough for one of ");
        cr_assert_not_null(fits, "%s", err.message);
        o.window = strtoull(fits + 18, NULL, 10);
        named++;
        r = fixture_reader(&o);
        check_epoch(r, &o, o.first_epoch);
        apl_reader_close(r);
        o.window++;
        fixture_refused(&o, APL_E_INVALID);
    }
    cr_assert_gt(named, 10);
}
