/* The loop does every task once, whatever threads there are, and stops at the first failure; the pipeline keeps
 * order, bounds what is on its way, and gives the first failure to all who ask. */
#define _GNU_SOURCE /* RTLD_NEXT, sched_setaffinity */
#include "parallel.h"

#include "quota.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Stands in for the system's: a machine on which only a few threads can be started. */
static int threads_left = -1; /* any number */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    if (threads_left == 0)
        return EAGAIN;
    threads_left -= threads_left > 0;
    return real(thread, attr, run, argument);
}

static void nap(unsigned microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000L * microseconds}, NULL);
}

/* ------------------------------------------------------------------------------------------------ threads */

Test(parallel, cores_of_the_affinity_mask)
{
    cpu_set_t old, one;
    cr_assert_eq(sched_getaffinity(0, sizeof old, &old), 0);
    unsigned quota = quota_cores(), all = (unsigned)CPU_COUNT(&old);
    cr_assert_eq(cores(), quota && quota < all ? quota : all);
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &old))
            CPU_SET(i, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    cr_assert(cores() == 1 && apl_cores() == 1);
}

Test(parallel, what_a_number_of_threads_means)
{
    cr_assert_eq(threads_for(0), cores() < MAX_THREADS ? cores() : MAX_THREADS);
    cr_assert_eq(threads_for(APL_NO_THREADS), 1);
    cr_assert_eq(threads_for(1), 1);
    cr_assert_eq(threads_for(7), 7);
    cr_assert_eq(threads_for(MAX_THREADS + 1), MAX_THREADS);
    cr_assert_eq(threads_for(APL_NO_THREADS - 1), MAX_THREADS);
}

static void *read_mask(void *argument)
{
    pthread_sigmask(SIG_BLOCK, NULL, argument);
    return argument;
}

Test(parallel, threads_block_all_signals_and_callers_do_not)
{
    pthread_t thread;
    sigset_t mask, own;
    cr_assert_eq(thread_start(&thread, read_mask, &mask, NULL), APL_OK);
    pthread_join(thread, NULL);
    cr_assert(sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) && sigismember(&mask, SIGUSR1));
    pthread_sigmask(SIG_BLOCK, NULL, &own);
    cr_assert(!sigismember(&own, SIGINT) && !sigismember(&own, SIGTERM));
}

Test(parallel, a_thread_that_cannot_be_had)
{
    pthread_t thread;
    apl_error err;
    threads_left = 0;
    cr_assert_eq(thread_start(&thread, read_mask, NULL, &err), APL_E_IO);
    cr_assert_eq(err.sys_errno, EAGAIN);
    cr_assert(strstr(err.message, "thread"));
}

/* ---------------------------------------------------------------------------------------------- the loop */

#define MOST_TASKS 3000

struct tally {
    unsigned threads;
    atomic_uint times[MOST_TASKS], begun, workers;
    atomic_size_t last; /* task that was begun last */
    size_t fail_at;
    atomic_bool failed;
};

static apl_status count_task(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct tally *t = context;
    (void)err;
    if (worker >= (t->threads ? t->threads : 1))
        return APL_E_INVALID;
    atomic_fetch_or(&t->workers, 1u << worker);
    atomic_fetch_add(&t->times[task], 1);
    return APL_OK;
}

Test(parallel, every_task_once)
{
    const size_t tasks[] = {0, 1, 2, 7, MOST_TASKS};
    for (unsigned threads = 0; threads <= 9; threads++)
        for (size_t n = 0; n < sizeof tasks / sizeof *tasks; n++) {
            static struct tally t;
            memset(&t, 0, sizeof t);
            t.threads = threads;
            cr_assert_eq(parallel_for(threads, tasks[n], count_task, &t, NULL), APL_OK);
            for (size_t i = 0; i < MOST_TASKS; i++)
                cr_assert_eq(t.times[i], i < tasks[n], "%u threads, task %zu of %zu", threads, i, tasks[n]);
        }
}

static apl_status wait_for_all(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct tally *t = context;
    (void)task;
    (void)err;
    atomic_fetch_or(&t->workers, 1u << worker);
    for (unsigned i = 0; i < 5000 && atomic_load(&t->workers) != 15; i++)
        nap(1000);
    return APL_OK;
}

Test(parallel, as_many_threads_as_asked)
{
    static struct tally t;
    cr_assert_eq(parallel_for(4, 4, wait_for_all, &t, NULL), APL_OK);
    cr_assert_eq(t.workers, 15, "four workers at once, numbered 0 to 3");
}

Test(parallel, fewer_threads_than_asked)
{
    for (int left = 0; left < 4; left++) {
        static struct tally t;
        memset(&t, 0, sizeof t);
        t.threads = (unsigned)left + 1;
        threads_left = left;
        cr_assert_eq(parallel_for(8, 1000, count_task, &t, NULL), APL_OK);
        for (size_t i = 0; i < 1000; i++)
            cr_assert_eq(t.times[i], 1);
    }
}

static apl_status fail_task(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct tally *t = context;
    (void)worker;
    atomic_fetch_add(&t->begun, 1);
    atomic_store(&t->last, task);
    if (task == t->fail_at)
        return fail(err, APL_E_MISMATCH, "task %zu", task);
    nap(t->threads > 1 ? 500 : 0);
    return APL_OK;
}

Test(parallel, nothing_after_a_failure)
{
    const size_t at[] = {0, 1, 500, 999};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        static struct tally t;
        apl_error err;
        memset(&t, 0, sizeof t);
        t.threads = 1;
        t.fail_at = at[i];
        cr_assert_eq(parallel_for(1, 1000, fail_task, &t, &err), APL_E_MISMATCH);
        cr_assert_eq(t.begun, at[i] + 1, "tasks are handed out in order, none after the failure");
        cr_assert_eq(t.last, at[i]);
        cr_assert_eq(err.status, APL_E_MISMATCH);
        t.begun = 0;
        t.threads = 4;
        cr_assert_eq(parallel_for(4, 1000, fail_task, &t, NULL), APL_E_MISMATCH);
        cr_assert(t.begun > at[i] && t.begun < at[i] + 100, "%u tasks begun", t.begun);
    }
}

/* Task 1 fails at once; task 0 waits for that, and fails in its own way. */
static apl_status fail_late(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct tally *t = context;
    (void)worker;
    if (task == 1) {
        atomic_store(&t->failed, true);
        return fail(err, APL_E_IO, "a higher task, sooner");
    }
    while (!atomic_load(&t->failed))
        nap(100);
    nap(50000);
    return fail(err, APL_E_CORRUPT, "the lowest task");
}

/* So that what is said of a damaged store does not depend on which thread is faster. */
Test(parallel, the_failure_of_the_lowest_task_wins)
{
    static struct tally t;
    apl_error err;
    cr_assert_eq(parallel_for(2, 2, fail_late, &t, &err), APL_E_CORRUPT);
    cr_assert_str_eq(err.message, "the lowest task");
}

/* ------------------------------------------------------------------------------------------- the pipeline */

#define MOST_DEPTH 16

struct line {
    struct pipeline *pipeline;
    unsigned workers, depth, nap;
    unsigned items[MOST_DEPTH];  /* of each slot: its item, */
    unsigned worked[MOST_DEPTH]; /* and what work made of it */
    unsigned drained;
    unsigned fail_work, fail_drain; /* items, 1 more */
    atomic_uint on_its_way, most;
};

static apl_status work(void *context, unsigned worker, unsigned slot, apl_error *err)
{
    struct line *l = context;
    unsigned item = l->items[slot];
    if (worker >= (l->workers ? l->workers : 1) || slot >= l->depth)
        return fail(err, APL_E_INVALID, "worker %u, slot %u", worker, slot);
    if (l->nap)
        nap(item * 2654435761u >> 22 & l->nap);
    if (item + 1 == l->fail_work)
        return fail(err, APL_E_MISMATCH, "work at %u", item);
    l->worked[slot] = item * 3 + 1;
    return APL_OK;
}

static apl_status drain(void *context, unsigned slot, apl_error *err)
{
    struct line *l = context;
    if (l->items[slot] != l->drained || l->worked[slot] != l->drained * 3 + 1)
        return fail(err, APL_E_INVALID, "item %u in place of %u", l->items[slot], l->drained);
    if (l->items[slot] + 1 == l->fail_drain)
        return fail(err, APL_E_CORRUPT, "drain at %u", l->items[slot]);
    l->drained++;
    atomic_fetch_sub(&l->on_its_way, 1);
    return APL_OK;
}

static void start(struct line *l)
{
    struct pipeline_stages stages = {l, work, drain};
    cr_assert_eq(pipeline_start(l->workers, l->depth, &stages, &l->pipeline, NULL), APL_OK);
}

static apl_status feed(struct line *l, unsigned from, unsigned to, apl_error *err)
{
    for (unsigned i = from; i < to; i++) {
        unsigned slot;
        TRY(pipeline_slot(l->pipeline, &slot, err));
        if (slot >= l->depth)
            return APL_E_INVALID;
        l->items[slot] = i;
        unsigned n = atomic_fetch_add(&l->on_its_way, 1) + 1;
        l->most = n > l->most ? n : l->most;
        pipeline_submit(l->pipeline);
    }
    return APL_OK;
}

Test(pipeline, keeps_order)
{
    for (unsigned workers = 0; workers <= 8; workers++)
        for (unsigned depth = 1; depth <= MOST_DEPTH; depth += 5) {
            struct line l = {.workers = workers, .depth = depth, .nap = 127};
            start(&l);
            cr_assert_eq(feed(&l, 0, 200, NULL), APL_OK);
            cr_assert_eq(pipeline_flush(l.pipeline, NULL), APL_OK);
            cr_assert_eq(l.drained, 200, "%u workers, %u slots: %u drained", workers, depth, l.drained);
            cr_assert_leq(l.most, depth);
            pipeline_stop(l.pipeline);
        }
}

Test(pipeline, flushes_in_between)
{
    struct line l = {.workers = 3, .depth = 8};
    start(&l);
    cr_assert_eq(pipeline_flush(l.pipeline, NULL), APL_OK, "with nothing submitted");
    for (unsigned i = 0; i < 50; i++) {
        cr_assert_eq(feed(&l, i * 7, i * 7 + 7, NULL), APL_OK);
        cr_assert_eq(pipeline_flush(l.pipeline, NULL), APL_OK);
        cr_assert_eq(l.drained, i * 7 + 7);
        cr_assert_eq(pipeline_flush(l.pipeline, NULL), APL_OK);
    }
    pipeline_stop(l.pipeline);
}

/* The failure reaches the producer, again and again, and nothing behind it is drained. */
static void expect_failure(struct line *l, unsigned at, apl_status status)
{
    apl_error err = {0};
    unsigned slot;
    start(l);
    apl_status fed = feed(l, 0, 400, &err);
    if (fed == APL_OK)
        fed = pipeline_flush(l->pipeline, &err);
    cr_assert_eq(fed, status, "%s", err.message);
    cr_assert_eq(err.status, status);
    cr_assert_leq(l->drained, at);
    cr_assert_eq(pipeline_slot(l->pipeline, &slot, NULL), status);
    cr_assert_eq(pipeline_flush(l->pipeline, &err), status);
    pipeline_stop(l->pipeline);
    cr_assert_leq(l->drained, at);
}

Test(pipeline, fails_at_any_item)
{
    const unsigned at[] = {0, 1, 2, 7, 63, 398, 399};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (unsigned workers = 0; workers <= 4; workers += 2) {
            struct line w = {.workers = workers, .depth = 6, .nap = 15, .fail_work = at[i] + 1};
            expect_failure(&w, at[i], APL_E_MISMATCH);
            struct line d = {.workers = workers, .depth = 6, .nap = 15, .fail_drain = at[i] + 1};
            expect_failure(&d, at[i], APL_E_CORRUPT);
            cr_assert_eq(d.drained, at[i], "all before it");
        }
}

Test(pipeline, stops_in_mid_stream)
{
    for (unsigned items = 0; items <= 12; items++) {
        struct line l = {.workers = 2, .depth = MOST_DEPTH, .nap = 1023};
        start(&l);
        cr_assert_eq(feed(&l, 0, items, NULL), APL_OK);
        pipeline_stop(l.pipeline);
        cr_assert_leq(l.drained, items);
    }
    pipeline_stop(NULL);
}

Test(pipeline, threads_that_cannot_be_had)
{
    struct line l = {.workers = 3, .depth = 4};
    struct pipeline_stages stages = {&l, work, drain};
    for (int left = 0; left < 4; left++) {
        apl_error err = {0};
        threads_left = left;
        cr_assert_eq(pipeline_start(3, 4, &stages, &l.pipeline, &err), APL_E_IO);
        cr_assert_eq(err.sys_errno, EAGAIN);
        cr_assert_null(l.pipeline);
    }
}
