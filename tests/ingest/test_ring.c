/* The ring between two threads: order, ends, stopping, polling. */
#include "ring.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

struct job {
    struct ring *ring;
    unsigned blocks; /* to put */
    apl_status status;
    bool silent; /* never ends */
    unsigned put;
};

static void *fill(void *user)
{
    struct job *job = user;
    for (unsigned i = 0; i < job->blocks; i++) {
        uint8_t *room = ring_room(job->ring);
        if (!room)
            return NULL;
        memset(room, (int)i, i + 1);
        ring_put(job->ring, i + 1);
        job->put++;
    }
    while (job->silent && !ring_stopped(job->ring))
        nap();
    apl_error why;
    if (job->status != APL_OK)
        fail(&why, job->status, "broken");
    ring_end(job->ring, job->status, &why);
    return NULL;
}

static void with_thread(struct job *job, void (*test)(struct job *job))
{
    pthread_t thread;
    job->ring = ring_new();
    cr_assert_not_null(job->ring);
    cr_assert_eq(pthread_create(&thread, NULL, fill, job), 0);
    test(job);
    ring_stop(job->ring);
    pthread_join(thread, NULL);
    ring_free(job->ring);
}

static void take_all(struct job *job)
{
    const uint8_t *data;
    size_t size;
    apl_error err = {0};
    for (unsigned i = 0; i < job->blocks; i++) {
        cr_assert_eq(ring_take(job->ring, NULL, NULL, &data, &size, &err), APL_OK);
        cr_assert_eq(size, i + 1);
        cr_assert(data[0] == (uint8_t)i && data[i] == (uint8_t)i);
    }
    apl_status end = job->status == APL_OK ? APL_END : job->status;
    for (int again = 0; again < 2; again++)
        cr_assert_eq(ring_take(job->ring, NULL, NULL, &data, &size, &err), end);
    if (job->status != APL_OK)
        cr_assert_str_eq(err.message, "broken");
}

Test(ring, order_and_end)
{
    struct job none = {.blocks = 0}, one = {.blocks = 1}, many = {.blocks = 1000};
    with_thread(&none, take_all);
    with_thread(&one, take_all);
    with_thread(&many, take_all);
}

Test(ring, failure_comes_after_what_was_before_it)
{
    struct job job = {.blocks = 37, .status = APL_E_SOURCE};
    with_thread(&job, take_all);
}

static void take_none(struct job *job)
{
    (void)job;
    nap();
}

Test(ring, stopped_while_full)
{
    struct job job = {.blocks = 1000};
    with_thread(&job, take_none);
    cr_assert_leq(job.put, RING_BLOCKS);
}

static int third_time(void *user)
{
    return ++*(int *)user >= 3;
}

static void cancel(struct job *job)
{
    const uint8_t *data;
    size_t size;
    apl_error err;
    int calls = 0;
    cr_assert_eq(ring_take(job->ring, third_time, &calls, &data, &size, &err), APL_E_CANCELLED);
    cr_assert_eq(calls, 3);
}

Test(ring, polls_while_it_waits, .timeout = 10)
{
    struct job job = {.blocks = 0, .silent = true};
    with_thread(&job, cancel);
}
