/* Of several ranks served by one reader, one that lags keeps the others waiting no longer than they were told to wait. */
#include "group_case.h"

#include <pthread.h>
#include <time.h>

TestSuite(reader_group_lag, .init = group_set_up, .fini = fixture_free, .timeout = 60);

static void check_named(const struct group *g, unsigned i, const char *what)
{
    apl_status status;
    apl_error err = {0};
    for (unsigned k = 0; k < 100; k++) {
        apl_batch *b = next_for(g, i, &status, &err);
        if (!b)
            break;
        apl_batch_release(b);
    }
    cr_assert_eq(status, APL_E_TIMEOUT, "%s", err.message);
    cr_assert(strstr(err.message, what), "%s", err.message);
}

static struct group open_lagging(unsigned threads, apl_reader_options o)
{
    o.batch_size = 2;
    o.threads = threads;
    o.faults.timeout_ms = 30;
    o.queue_depth = 2;
    return open_group(&o, 2, 2);
}

static const unsigned counts[] = {APL_NO_THREADS, 2};

Test(reader_group_lag, a_rank_that_takes_nothing_is_named)
{
    for (unsigned i = 0; i < 2; i++) {
        apl_status status;
        struct group g = open_lagging(counts[i], fixture_options());
        char what[64];
        snprintf(what, sizeof what, "rank %u has not taken the %u batches", g.list[1], i ? 4 : 3);
        check_named(&g, 0, what);
        check_named(&g, 0, what);
        for (unsigned k = 0; k < (i ? 4u : 3u); k++) /* of which it has taken as many: it catches up */
            cr_assert(same_next(&g, 1));
        apl_batch *b = next_for(&g, 0, &status, NULL);
        cr_assert_not_null(b);
        apl_batch_release(b);
        close_group(&g);
    }
}

Test(reader_group_lag, a_rank_that_releases_nothing_is_named)
{
    for (unsigned i = 0; i < 2; i++) {
        apl_error err;
        apl_status status = APL_OK;
        apl_batch *held[TRAIN], *b;
        unsigned n = 0;
        apl_reader_options o = fixture_options();
        struct group g = open_lagging(counts[i], o);
        for (; status == APL_OK && n < TRAIN; n += status == APL_OK) {
            if ((b = next_for(&g, 0, &status, &err)))
                apl_batch_release(b);
            held[n] = next_for(&g, 1, &status, &err);
        }
        if (n < TRAIN / 4) { /* else the epoch was over first */
            cr_assert_eq(status, APL_E_LENT, "%s", err.message);
            check_named(&g, 0, "has not released");
        }
        while (n > 0)
            apl_batch_release(held[--n]);
        close_group(&g);
    }
}

Test(reader_group_lag, a_rank_that_stays_in_an_epoch_is_named)
{
    for (unsigned i = 0; i < 2; i++) {
        apl_reader_options o = fixture_options();
        struct group g = open_lagging(counts[i], o);
        char what[64];
        for (unsigned step = 0; same_step(&g, step); step++)
            continue;
        snprintf(what, sizeof what, "rank %u has not taken", g.list[1]);
        same_begin(&g, 0);
        check_named(&g, 0, what);
        for (apl_batch *b = NULL; apl_reader_next_of(g.one, g.list[0], &b, NULL) == APL_OK; b = NULL)
            apl_batch_release(b);
        close_group(&g);
    }
}

/* The rest of an epoch, which a busy machine may be slow to make; false: it does not come for lack of what is named. */
static bool take_rest(const struct group *g, unsigned i, const char *what)
{
    apl_status status = APL_E_TIMEOUT;
    apl_error err = {0};
    for (unsigned tries = 0; status == APL_OK || status == APL_E_TIMEOUT; tries++) {
        apl_batch *b = next_for(g, i, &status, &err);
        if (b)
            apl_batch_release(b);
        if (status == APL_E_TIMEOUT && strstr(err.message, what))
            return false;
        cr_assert_lt(tries, 200, "%s", err.message);
    }
    cr_assert_eq(status, APL_END, "%s", err.message);
    return true;
}

/* Epochs of one batch: no queue becomes full of them. */
Test(reader_group_lag, a_rank_that_does_not_begin_an_epoch_is_named)
{
    for (unsigned i = 0; i < 2; i++) {
        char what[64];
        apl_reader_options o = fixture_options();
        o.batch_size = TRAIN;
        o.threads = counts[i];
        o.faults.timeout_ms = 30;
        o.queue_depth = 8;
        struct group g = open_group(&o, 2, 2);
        unsigned epochs = 1;
        snprintf(what, sizeof what, "rank %u has not begun epoch ", g.list[1]);
        cr_assert(take_rest(&g, 0, what) && take_rest(&g, 1, what));
        for (bool more = true; more; epochs++) {
            cr_assert_eq(apl_reader_next_epoch_of(g.one, g.list[0], NULL), APL_OK);
            more = take_rest(&g, 0, what);
            cr_assert_lt(epochs, 8);
        }
        close_group(&g);
    }
}

struct taker {
    pthread_t thread;
    apl_reader *reader;
    unsigned rank;
    uint64_t rows, naps;
};

static void *take_epochs(void *user)
{
    struct taker *t = user;
    for (unsigned epoch = 0; epoch < 4; epoch++) {
        apl_batch *b;
        while (apl_reader_next_of(t->reader, t->rank, &b, NULL) == APL_OK) {
            t->rows += apl_batch_rows(b);
            if (t->naps)
                nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
            apl_batch_release(b);
        }
        if (apl_reader_next_epoch_of(t->reader, t->rank, NULL) != APL_OK)
            return NULL;
    }
    return t;
}

Test(reader_group_lag, a_thread_for_each_rank)
{
    for (unsigned i = 0; i < 6; i++) {
        apl_reader_options o = group_way(i);
        struct taker takers[MOST];
        uint64_t rows = 0;
        o.drop_last = 0;
        o.reuse = 1;
        struct group g = open_group(&o, MOST, MOST);
        for (unsigned k = 0; k < MOST; k++) {
            takers[k] = (struct taker){.reader = g.one, .rank = k, .naps = k == i % MOST};
            cr_assert_eq(pthread_create(&takers[k].thread, NULL, take_epochs, &takers[k]), 0);
        }
        for (unsigned k = 0; k < MOST; k++) {
            void *whole;
            pthread_join(takers[k].thread, &whole);
            cr_assert_not_null(whole);
            rows += takers[k].rows;
        }
        cr_assert_eq(rows, 4 * TRAIN);
        close_group(&g);
    }
}
