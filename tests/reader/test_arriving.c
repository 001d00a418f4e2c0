/* Free order, where some blocks are slow: what comes without them, and what waits. */
#include "reader_fixture.h"

#include "load.h"

#include <pthread.h>

#define TRAIN 320u
#define BLOCK 16u
#define BATCH 8u

/* Blocks from `first` on, as many as are closed, are not loaded until they are opened. */
struct gates {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    uint64_t first;
    unsigned closed;
};
static struct gates gates = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

static apl_status wait_at_gates(void *user, uint64_t number, apl_error *err)
{
    (void)user;
    (void)err;
    pthread_mutex_lock(&gates.lock);
    while (number >= gates.first && number < gates.first + gates.closed)
        pthread_cond_wait(&gates.opened, &gates.lock);
    pthread_mutex_unlock(&gates.lock);
    return APL_OK;
}

static void leave_closed(unsigned closed)
{
    pthread_mutex_lock(&gates.lock);
    gates.closed = closed;
    pthread_cond_broadcast(&gates.opened);
    pthread_mutex_unlock(&gates.lock);
}

static void set_up(void)
{
    static const struct load_hook hook = {wait_at_gates, NULL};
    fixture_make(TRAIN, 0, BLOCK);
    gates.first = 3;
    load_set_hook(&hook);
}

static void tear_down(void)
{
    load_set_hook(NULL);
    fixture_free();
}

TestSuite(arriving, .init = set_up, .fini = tear_down, .timeout = 60);

static apl_reader *open_free(unsigned late, uint64_t window)
{
    apl_reader_options o = fixture_options();
    o.order = APL_FREE;
    o.late = late;
    o.window = window;
    o.threads = 3;
    o.batch_size = BATCH;
    o.faults.timeout_ms = 30;
    return fixture_reader(&o);
}

/* Takes what comes, and counts it by record; until `most` have come. */
static void take(apl_reader *r, unsigned most, uint8_t *seen)
{
    apl_batch *b;
    apl_error err;
    for (unsigned had = 0; had < most;) {
        apl_status status = apl_reader_next(r, &b, &err);
        if (status == APL_E_TIMEOUT)
            continue;
        cr_assert_eq(status, APL_OK, "%s", err.message);
        for (size_t i = 0; i < apl_batch_rows(b); i++, had++)
            cr_assert_eq(seen[apl_batch_ids(b)[i]]++, 0);
        apl_batch_release(b);
    }
}

static void take_rest(apl_reader *r, unsigned rest, uint8_t *seen)
{
    leave_closed(0);
    take(r, rest, seen);
    apl_batch *b;
    apl_error err;
    apl_status status;
    while ((status = apl_reader_next(r, &b, &err)) == APL_E_TIMEOUT)
        continue;
    cr_assert_eq(status, APL_END);
    for (unsigned i = 0; i < TRAIN; i++)
        cr_assert_eq(seen[i], 1);
}

/* What is not of a slow block comes; with `late`, as long as no more of them are slow. */
Test(arriving, nothing_waits_for_a_slow_block)
{
    for (unsigned late = 0; late < 2; late++) {
        uint8_t seen[TRAIN] = {0};
        leave_closed(1);
        apl_reader *r = open_free(late, 0);
        take(r, TRAIN - 2 * BLOCK, seen);
        take_rest(r, 2 * BLOCK, seen);
        apl_reader_close(r);
    }
}

Test(arriving, more_slow_blocks_than_late_are_waited_for)
{
    uint8_t seen[TRAIN] = {0};
    apl_batch *b;
    apl_error err;
    leave_closed(2);
    apl_reader *r = open_free(1, 0);
    for (unsigned i = 0; i < 3; i++)
        cr_assert_eq(apl_reader_next(r, &b, &err), APL_E_TIMEOUT, "a batch has come without two blocks");
    leave_closed(1);
    take(r, TRAIN - 2 * BLOCK, seen);
    take_rest(r, 2 * BLOCK, seen);
    apl_reader_close(r);
}

/* Under a window, blocks that are not being loaded are none that a bin could have: nothing stands still. */
Test(arriving, a_window_does_not_wait_for_what_has_no_room)
{
    for (unsigned late = 0; late < 3; late++) {
        uint8_t seen[TRAIN] = {0};
        leave_closed(0);
        apl_reader *r = open_free(late, 4 * BLOCK);
        take(r, TRAIN - BATCH, seen);
        take_rest(r, BATCH, seen);
        apl_reader_close(r);
    }
}

Test(arriving, late_is_for_free_order_without_fill)
{
    apl_reader_options o = fixture_options();
    o.late = 1;
    cr_assert_not_null(strstr(fixture_refused(&o, APL_E_INVALID), "late is for free order"));
    o.order = APL_FREE;
    o.fill = 1;
    cr_assert_not_null(strstr(fixture_refused(&o, APL_E_INVALID), "not with fill"));
}
