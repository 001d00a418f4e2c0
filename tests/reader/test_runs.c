/* Many threads on one batch: who makes which rows shows neither in them nor in errors. The names of the fixture's records are read late,
 * where a hook can see, hold up and fail whoever makes them. */
#include "reader_fixture.h"

#include "late.h"
#include "reader.h"

#include <pthread.h>
#include <time.h>

#define TRAIN    96 /* members of 54 and 42 records: blocks of 8, but for the seventh and the last */
#define PATIENCE 10 /* seconds: for what comes at once, unless it is broken */

static void set_up(void)
{
    setenv("APL_TEST_KEPT", "1", 1);
    fixture_make(TRAIN, 8, 8);
}

TestSuite(runs, .init = set_up, .fini = fixture_free, .timeout = 60);

static apl_reader_options options(unsigned threads, size_t batch_size)
{
    apl_reader_options o = fixture_options();
    o.sequential = 1;
    o.threads = threads ? threads : APL_NO_THREADS;
    o.batch_size = batch_size;
    return o;
}

/* ------------------------------------------------------------------------------------------- who comes to help */

/* Threads that read values of the first blocks at one time. */
struct gathering {
    pthread_mutex_t lock;
    pthread_cond_t all;
    uint64_t blocks; /* this many are the first */
    unsigned wanted, here;
};

static apl_status gather_threads(void *user, uint64_t number, apl_error *err)
{
    struct gathering *g = user;
    struct timespec until;
    bool in_time = true;
    if (number >= g->blocks)
        return APL_OK;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    pthread_mutex_lock(&g->lock);
    if (++g->here == g->wanted)
        pthread_cond_broadcast(&g->all);
    while (g->here < g->wanted && in_time)
        in_time = pthread_cond_timedwait(&g->all, &g->lock, &until) == 0;
    pthread_mutex_unlock(&g->lock);
    return in_time ? APL_OK : fail(err, APL_E_IO, "nobody comes to help");
}

static void expect_all(size_t batch_size)
{
    struct gathering g = {.lock = PTHREAD_MUTEX_INITIALIZER, .all = PTHREAD_COND_INITIALIZER};
    struct load_hook hook = {gather_threads, &g};
    struct sequence s = {0};
    apl_reader_options o = options(3, batch_size);
    g.blocks = batch_size / 8;
    g.wanted = 3;
    late_set_hook(&hook);
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &s);
    check_once(&s, 0, TRAIN, 1, false);
    apl_reader_close(r);
    sequence_free(&s);
}

Test(runs, threads_with_nothing_to_do_help)
{
    expect_all(TRAIN);
}

/* There are other batches to make, which come after it. */
Test(runs, all_threads_make_the_first_batch)
{
    expect_all(16);
}

/* ------------------------------------------------------------------------------------------------------ errors */

static apl_status fail_slowly(void *user, uint64_t number, apl_error *err)
{
    unsigned seed = *(unsigned *)user;
    const struct timespec moment = {.tv_nsec = 200000};
    if (number < 1 || number > 2 + seed % 3)
        return APL_OK;
    if (number == 1) /* what comes later in the batch fails sooner */
        nanosleep(&moment, NULL);
    return fail(err, APL_E_IO, "block %u", (unsigned)number);
}

Test(runs, the_error_is_that_of_the_first_row_that_fails)
{
    for (unsigned i = 0; i < 40; i++) {
        apl_reader_options o = options(i % 5, i % 2 ? TRAIN : 32);
        struct load_hook hook = {fail_slowly, &i};
        apl_batch *b;
        apl_error err;
        late_set_hook(&hook);
        apl_reader *r = fixture_reader(&o);
        cr_assert_eq(apl_reader_next(r, &b, &err), APL_E_IO);
        cr_assert_str_eq(err.message, "record 8: block 1");
        cr_assert(err.status == APL_E_IO && err.first_record == 8 && err.records == 1);
        apl_reader_close(r);
    }
}

/* ------------------------------------------------------------------------------------------------ what is stuck */

static apl_status stick(void *user, uint64_t number, apl_error *err)
{
    atomic_bool *go_on = user;
    const struct timespec moment = {.tv_nsec = 1000000};
    (void)err;
    while (number == 1 && !atomic_load(go_on))
        nanosleep(&moment, NULL);
    return APL_OK;
}

/* Whichever thread waits for it, while the others go on until nothing is left to do. */
Test(runs, a_value_that_a_batch_waits_for_is_named)
{
    for (unsigned threads = 1; threads < 4; threads++) {
        atomic_bool go_on = false;
        struct load_hook hook = {stick, &go_on};
        apl_reader_options o = options(threads, threads == 1 ? TRAIN : 9); /* one value of block 1 */
        apl_batch *b;
        apl_error err;
        o.faults.timeout_ms = 30;
        late_set_hook(&hook);
        apl_reader *r = fixture_reader(&o);
        for (unsigned i = 0, named = 0; named < 2;
             i++) { /* once the rest is made, which takes its time on a busy machine */
            cr_assert_eq(apl_reader_next(r, &b, &err), APL_E_TIMEOUT);
            named = strstr(err.message, "block 1") ? named + 1 : 0;
            cr_assert_lt(i, 200, "%s", err.message);
        }
        atomic_store(&go_on, true);
        while (apl_reader_next(r, &b, &err) == APL_E_TIMEOUT)
            ;
        check_values(b);
        apl_batch_release(b);
        apl_reader_close(r);
    }
}

/* -------------------------------------------------------------------------------------------------- who asks */

static void *take_next(void *r)
{
    apl_batch *b;
    if (apl_reader_next(r, &b, NULL) == APL_OK)
        apl_batch_release(b);
    return NULL;
}

/* No epoch begins while a thread waits for a batch of the one before. */
Test(runs, an_epoch_does_not_end_under_who_waits)
{
    atomic_bool go_on = false;
    struct load_hook hook = {stick, &go_on};
    apl_reader_options o = options(1, TRAIN);
    apl_stats stats = {0};
    apl_error err;
    pthread_t thread;
    late_set_hook(&hook);
    apl_reader *r = fixture_reader(&o);
    cr_assert_eq(pthread_create(&thread, NULL, take_next, r), 0);
    while (!stats.waiting)
        cr_assert_eq(apl_reader_stats(r, &stats, sizeof stats), APL_OK);
    cr_assert_eq(apl_reader_next_epoch(r, &err), APL_E_INVALID);
    cr_assert_str_eq(err.message, "apl_reader_next_epoch: a thread is inside apl_reader_next()");
    atomic_store(&go_on, true);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    apl_reader_close(r);
}

/* --------------------------------------------------------------------------------------- runs without a reader */

static unsigned made[40];
static size_t fails_at;

static apl_status make_rows(struct worker *w, struct job *job, const struct run_work *work, size_t from,
                            size_t to, apl_error *err)
{
    (void)job, (void)work;
    cr_assert(from < to && to <= 37, "rows %zu to %zu", from, to);
    for (size_t i = from; i < to; i++) {
        if (i == fails_at) {
            w->undecoded = (uint32_t)i;
            return fail(err, APL_E_CORRUPT, "row %zu", i);
        }
        made[i]++;
    }
    return APL_OK;
}

/* The last run is what is left; the row that fails, and its number, come out. */
Test(runs, of_rows_that_no_step_divides)
{
    static apl_reader r = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};
    static struct outlet outlet;
    static struct batch_buffer buffer;
    static struct job job = {.outlet = &outlet, .buffer = &buffer};
    struct job *jobs[1] = {&job};
    static struct worker w = {.reader = &r};
    const struct run_work work = {.make = make_rows, .step = 5};
    apl_error err;
    pthread_cond_init(&r.help.left, NULL);
    r.workers.size = 2;
    buffer.batch.rows = 37;
    outlet.queue = (struct batch_queue){.jobs = jobs, .depth = 1, .tail = 1};
    fails_at = 37;
    cr_assert_eq(runs_make(&w, &job, &work, &err), APL_OK);
    for (unsigned i = 0; i < 37; i++)
        cr_assert_eq(made[i], 1, "row %u", i);
    fails_at = 23;
    cr_assert_eq(runs_make(&w, &job, &work, &err), APL_E_CORRUPT);
    cr_assert_str_eq(err.message, "row 23");
    cr_assert_eq(w.undecoded, 23);
}
