/* Several ranks served by one reader: each gets what a reader of its own would give it, byte for byte; and a rank that lags keeps the
 * others waiting no longer than they were told to wait. */
#include "reader_fixture.h"
#include "same_batch.h"

#include <pthread.h>

#define TRAIN  203 /* members of 113 and 90 records: blocks of 8, but for the last of each */
#define BLOCK  8
#define MOST   4
#define EPOCHS 2

static void set_up(void)
{
    fixture_make(TRAIN, 8, BLOCK);
}

TestSuite(reader_group, .init = set_up, .fini = fixture_free, .timeout = 60);

/* ------------------------------------------------------------------------------------- one and separate ones */

struct group {
    unsigned world, count;
    unsigned list[MOST];
    apl_reader *one, *own[MOST]; /* serves all ranks of the list; serve one each */
};

static struct group open_group(const apl_reader_options *options, unsigned world, unsigned count)
{
    struct group g = {.world = world, .count = count};
    apl_reader_options o = *options;
    o.ranks.world = world;
    for (unsigned i = 0; i < count; i++) {
        g.list[i] = (i + 1) % world;
        o.ranks.rank = g.list[i];
        g.own[i] = fixture_reader(&o);
    }
    o.ranks.rank = 0;
    o.ranks.list = g.list;
    o.ranks.count = count;
    g.one = fixture_reader(&o);
    return g;
}

static void close_group(struct group *g)
{
    for (unsigned i = 0; i < g->count; i++)
        apl_reader_close(g->own[i]);
    apl_reader_close(g->one);
}

static apl_batch *next_for(const struct group *g, unsigned i, apl_status *status, apl_error *err)
{
    apl_batch *b = NULL;
    *status = apl_reader_next_of(g->one, g->list[i], &b, err);
    return b;
}

static void check_same_state(const struct group *g, unsigned i)
{
    uint8_t a[APL_STATE_BYTES], b[APL_STATE_BYTES];
    size_t a_size = sizeof a, b_size = sizeof b;
    apl_receipt x, y;
    cr_assert_eq(apl_reader_state(g->own[i], a, &a_size, NULL), APL_OK);
    cr_assert_eq(apl_reader_state_of(g->one, g->list[i], b, &b_size, NULL), APL_OK);
    cr_assert_eq(a_size, b_size);
    check_same_bytes(a, b, a_size, "states");
    cr_assert_eq(apl_reader_receipt(g->own[i], &x, sizeof x, NULL), APL_OK);
    cr_assert_eq(apl_reader_receipt_of(g->one, g->list[i], &y, sizeof y, NULL), APL_OK);
    check_same_bytes(&x, &y, sizeof x, "receipts");
    cr_assert_eq(apl_reader_epoch(g->own[i]), apl_reader_epoch_of(g->one, g->list[i]));
}

/* The next batch of a rank, or the same answer. False: the epoch is over for it. */
static bool same_next(const struct group *g, unsigned i)
{
    apl_error errors[2] = {{0}, {0}};
    apl_batch *own = NULL;
    apl_status status, expected = apl_reader_next(g->own[i], &own, &errors[0]);
    apl_batch *b = next_for(g, i, &status, &errors[1]);
    cr_assert_eq(status, expected, "%s: %s", apl_status_text(status), errors[1].message);
    if (status == APL_OK)
        check_same_batch(own, b);
    else if (status != APL_END)
        cr_assert_str_eq(errors[0].message, errors[1].message);
    apl_batch_release(own);
    apl_batch_release(b);
    check_same_state(g, i);
    return status == APL_OK;
}

/* A step of all ranks, the last first every other time. */
static bool same_step(const struct group *g, unsigned step)
{
    bool more = false;
    for (unsigned i = 0; i < g->count; i++)
        more |= same_next(g, step & 1 ? g->count - 1 - i : i);
    return more;
}

static void same_begin(const struct group *g, unsigned i)
{
    apl_error err;
    fixture_next_epoch(g->own[i]);
    cr_assert_eq(apl_reader_next_epoch_of(g->one, g->list[i], &err), APL_OK, "%s", err.message);
    check_same_state(g, i);
}

static void check_epochs(const apl_reader_options *o, unsigned world, unsigned count)
{
    struct group g = open_group(o, world, count);
    cr_assert_eq(apl_reader_batches(g.one), apl_reader_batches(g.own[0]));
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        for (unsigned step = 0; same_step(&g, step); step++)
            continue;
        for (unsigned i = 0; i < count; i++)
            same_begin(&g, i);
    }
    close_group(&g);
}

/* Orders, windows, lanes, threads and sizes in turns. */
static apl_reader_options way(unsigned i)
{
    apl_reader_options o = fixture_options();
    o.seed = i;
    o.threads = (unsigned[]){APL_NO_THREADS, 1, 3}[i % 3];
    o.batch_size = (size_t[]){5, 16, 1, 33}[i % 4];
    o.window = (uint64_t[]){0, 40, 90}[i / 2 % 3];
    o.reuse = i % 5 == 3 ? 2 : 1;
    o.drop_last = i % 7 == 2;
    o.sequential = i % 11 == 10;
    o.queue_depth = i % 6 == 5 ? 1 : 0;
    return o;
}

Test(reader_group, gives_each_rank_what_its_own_reader_would)
{
    for (unsigned i = 0; i < 24; i++) {
        apl_reader_options o = way(i);
        unsigned world = 1 + i % MOST;
        check_epochs(&o, world, 1 + i / 3 % world);
    }
}

Test(reader_group, deals_lanes_likewise)
{
    for (unsigned i = 0; i < 12; i++) {
        apl_reader_options o = way(i);
        unsigned world = 2 + i % 3;
        o.sequential = 0;
        o.ranks.lanes = world * (1 + i % 2);
        check_epochs(&o, world, 1 + i % world);
    }
}

Test(reader_group, samples_and_mixes_likewise)
{
    double weights[TRAIN];
    apl_source other = APL_SOURCE_INIT;
    for (unsigned i = 0; i < TRAIN; i++)
        weights[i] = i % 5;
    for (unsigned i = 0; i < 6; i++) {
        apl_reader_options o = way(i);
        apl_sampling sampling = APL_SAMPLING_INIT;
        o.reuse = 1;
        sampling.weights = weights;
        sampling.weight_count = TRAIN;
        sampling.replacement = i & 1;
        sampling.records = 150;
        other.store = fx.store;
        other.split = "test";
        if (i % 3 == 2)
            o.mix = (apl_mix){.sources = &other, .count = 1};
        else
            o.sampling = &sampling;
        check_epochs(&o, 3, 3);
    }
}

Test(reader_group, augments_and_mixes_images_likewise)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_blend blend = APL_BLEND_INIT;
    t.dtype = APL_F32;
    t.pad = 2;
    t.flip = 1;
    t.cutout = 3;
    blend.mixup_alpha = 0.5;
    blend.cutmix_alpha = 0.5;
    for (unsigned i = 0; i < 6; i++) {
        apl_reader_options o = way(i);
        o.transforms = &t;
        o.transform_count = 1;
        o.blend = i & 1 ? &blend : NULL;
        check_epochs(&o, 3, 2);
    }
}

/* ------------------------------------------------------------------------------------------------- resuming */

Test(reader_group, resumes_at_every_batch)
{
    uint8_t state[APL_STATE_BYTES];
    for (unsigned i = 0; i < 4; i++)
        for (unsigned steps = 0;; steps++) {
            apl_reader_options o = way(i);
            size_t size = sizeof state;
            struct group g = open_group(&o, 3, 3);
            bool more = true;
            for (unsigned step = 0; step < steps && more; step++)
                more = same_step(&g, step);
            cr_assert_eq(apl_reader_state_of(g.one, 1, state, &size, NULL), APL_OK);
            close_group(&g);
            o.state = state;
            o.state_size = size;
            check_epochs(&o, 3, 2);
            check_epochs(&o, 1, 1);
            if (!more || steps > 12)
                break;
        }
}

/* ---------------------------------------------------------------------------------------------------- epochs */

Test(reader_group, ranks_leave_epochs_when_they_like)
{
    for (unsigned i = 0; i < 40; i++) {
        apl_reader_options o = way(i);
        o.batch_size = 5;
        o.drop_last = i & 1;
        o.faults.timeout_ms = 20000;
        struct group g = open_group(&o, 3, 3);
        for (unsigned epoch = 0; epoch < 6; epoch++) {
            unsigned first = (i + epoch) % 3, steps = (i + 3 * epoch) % 7;
            for (unsigned step = 0; step < steps; step++)
                same_step(&g, step);
            same_begin(&g, first);
            if (epoch & 1) /* the others go on, as far as what waits for them goes */
                same_next(&g, (first + 1) % 3);
            same_begin(&g, (first + 1) % 3);
            same_begin(&g, (first + 2) % 3);
        }
        for (unsigned step = 0; same_step(&g, step); step++)
            continue;
        close_group(&g);
    }
}

/* One rank is two epochs ahead of another, which has left batches behind. */
Test(reader_group, a_rank_may_skip_epochs_ahead_of_the_others)
{
    for (unsigned i = 0; i < 12; i++) {
        apl_reader_options o = way(i);
        o.batch_size = 7;
        struct group g = open_group(&o, 2, 2);
        same_step(&g, 0);
        same_begin(&g, 0);
        same_begin(&g, 0);
        same_begin(&g, 0);
        for (unsigned epoch = 0; epoch < 3; epoch++) {
            for (unsigned k = 0; k < 1 + epoch; k++)
                same_next(&g, 1);
            same_begin(&g, 1);
        }
        for (unsigned step = 0; same_step(&g, step); step++)
            continue;
        close_group(&g);
    }
}

/* --------------------------------------------------------------------------------------------- what it costs */

static apl_stats stats_of(apl_reader *r)
{
    apl_stats s;
    cr_assert_eq(apl_reader_stats(r, &s, sizeof s), APL_OK);
    return s;
}

Test(reader_group, decodes_each_block_once)
{
    for (unsigned i = 0; i < 3; i++) {
        apl_reader_options o = fixture_options();
        o.window = 24; /* nothing is shared between readers */
        o.batch_size = 2;
        o.queue_depth = 1;
        o.threads = i ? i : APL_NO_THREADS;
        struct group g = open_group(&o, 4, 4);
        uint64_t separate = 0, blocks = (113 + BLOCK - 1) / BLOCK + (90 + BLOCK - 1) / BLOCK;
        for (unsigned step = 0; same_step(&g, step); step++)
            continue;
        apl_stats s = stats_of(g.one);
        for (unsigned k = 0; k < 4; k++)
            separate += stats_of(g.own[k]).blocks;
        cr_assert_geq(s.blocks, blocks);
        cr_assert_lt(s.blocks, 3 * blocks / 2, "but for what the next epoch begins with: %llu of %llu",
                     (unsigned long long)s.blocks, (unsigned long long)blocks);
        cr_assert_geq(separate, 3 * s.blocks);
        cr_assert_leq(s.memory, s.memory_budget);
        close_group(&g);
    }
}

/* ------------------------------------------------------------------------------------------------- lagging */

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

Test(reader_group, a_rank_that_takes_nothing_is_named)
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

Test(reader_group, a_rank_that_releases_nothing_is_named)
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

Test(reader_group, a_rank_that_stays_in_an_epoch_is_named)
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

Test(reader_group, a_thread_for_each_rank)
{
    for (unsigned i = 0; i < 6; i++) {
        apl_reader_options o = way(i);
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

/* --------------------------------------------------------------------------------------------- what is refused */

Test(reader_group, refuses_what_cannot_be)
{
    unsigned twice[] = {1, 1}, high[] = {0, 2}, two[] = {0, 1};
    apl_reader_options o = fixture_options();
    o.ranks.world = 2;
    o.ranks.count = 2;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "ranks.list is NULL"));
    o.ranks.list = twice;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "rank 1 twice"));
    o.ranks.list = high;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "rank 2 of 2"));
    o.ranks.list = two;
    o.ranks.rank = 1;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "ranks.rank is 1"));
    o.ranks.rank = 0;
    o.order = APL_FREE;
    cr_assert(strstr(fixture_refused(&o, APL_E_UNSUPPORTED), "free order is for one rank"));
    o.order = APL_STRICT;
    o.ranks.count = 5000;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "at most"));
    o.ranks.count = 0;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "ranks.count is 0"));
}

Test(reader_group, a_group_of_one_may_be_in_free_order)
{
    for (unsigned i = 0; i < 4; i++) {
        apl_reader_options o = fixture_way(i | 2);
        unsigned none = 0;
        apl_reader *plain = fixture_reader(&o);
        o.ranks.list = &none;
        o.ranks.count = 1;
        o.ranks.world = 1;
        apl_reader *r = fixture_reader(&o);
        for (apl_batch *b, *c; (b = fixture_next(plain)); apl_batch_release(b), apl_batch_release(c)) {
            cr_assert_eq(apl_reader_next_of(r, 0, &c, NULL), APL_OK);
            if (o.threads == APL_NO_THREADS)
                check_same_batch(b, c);
        }
        cr_assert_null(fixture_next(r));
        apl_reader_close(plain);
        apl_reader_close(r);
    }
}

Test(reader_group, calls_without_a_rank_ask_for_one)
{
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_receipt receipt;
    apl_error err;
    apl_batch *b;
    apl_reader_options o = fixture_options();
    struct group g = open_group(&o, 3, 2);
    cr_assert_eq(apl_reader_next(g.one, &b, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "serves 2 ranks"));
    cr_assert_eq(apl_reader_next_epoch(g.one, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_state(g.one, state, &size, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_receipt(g.one, &receipt, sizeof receipt, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_epoch(g.one), 0);
    cr_assert_eq(apl_reader_next_of(g.one, 0, &b, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "rank 0 of 3 is not served by this reader"));
    cr_assert_eq(apl_reader_next_of(g.one, 3, &b, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_next_of(g.one, 1, NULL, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_next_of(NULL, 1, &b, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_next_of(g.own[0], g.list[0], &b, &err), APL_OK, "its own rank");
    apl_batch_release(b);
    close_group(&g);
}
