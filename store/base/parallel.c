/* Threads: a parallel loop, and a pipeline that keeps order. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "parallel.h"

#include "quota.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

unsigned cores(void)
{
    cpu_set_t set;
    int n =
        sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    unsigned all = n > 0 ? (unsigned)n : 1, quota = quota_cores();
    return quota > 0 && quota < all ? quota : all;
}

unsigned apl_cores(void)
{
    return cores();
}

unsigned threads_for(unsigned asked)
{
    unsigned n = asked == APL_NO_THREADS ? 1 : asked ? asked : cores();
    return n < MAX_THREADS ? n : MAX_THREADS;
}

apl_status thread_start(pthread_t *thread, void *(*run)(void *), void *argument, apl_error *err)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error ? fail_errno(err, error, "cannot start a thread") : APL_OK;
}

/* ----------------------------------------------------------------------------------- the parallel loop */

struct loop {
    parallel_work work;
    void *context;
    atomic_size_t next;
    atomic_uint workers;
    atomic_size_t end;    /* tasks from here on are not begun: all of them, or those after one that failed */
    pthread_mutex_t lock; /* of status and error */
    apl_status status;
    apl_error error;
};

/* Of several failures that of the first task counts, whichever thread is faster: those before it are all done. */
static void loop_fail(struct loop *loop, size_t task, apl_status status, const apl_error *error)
{
    pthread_mutex_lock(&loop->lock);
    if (task < atomic_load_explicit(&loop->end, memory_order_relaxed)) {
        atomic_store_explicit(&loop->end, task, memory_order_relaxed);
        loop->status = status;
        loop->error = *error;
    }
    pthread_mutex_unlock(&loop->lock);
}

static void *loop_run(void *argument)
{
    struct loop *loop = argument;
    unsigned worker = atomic_fetch_add_explicit(&loop->workers, 1, memory_order_relaxed);
    for (;;) {
        /* relaxed: the tasks are independent, and joining the threads publishes what they did */
        size_t task = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed);
        if (task >= atomic_load_explicit(&loop->end, memory_order_relaxed))
            return NULL;
        apl_error error;
        apl_status status = loop->work(loop->context, worker, task, &error);
        if (status != APL_OK)
            loop_fail(loop, task, status, &error);
    }
}

apl_status parallel_for(unsigned threads, size_t tasks, parallel_work work, void *context, apl_error *err)
{
    struct loop loop = {.work = work, .context = context, .end = tasks, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t *others = threads > 1 ? calloc(threads - 1, sizeof *others) : NULL;
    unsigned started = 0;
    while (others && started + 1 < threads && started + 1 < tasks &&
           thread_start(&others[started], loop_run, &loop, NULL) == APL_OK)
        started++;
    loop_run(&loop);
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    free(others);
    if (loop.status != APL_OK && err)
        *err = loop.error;
    return loop.status;
}

/* ---------------------------------------------------------------------------------------- the pipeline */

struct pipeline {
    struct pipeline_stages stages;
    unsigned depth, workers, threads;
    pthread_mutex_t lock;
    pthread_cond_t changed_queue, changed_done, changed_drained;
    uint64_t submitted, taken, drained; /* numbers of the next item to be submitted, worked on, drained */
    bool *done;                         /* of each slot */
    bool stop;
    unsigned next_worker;
    apl_status status;
    apl_error error;
    pthread_t thread[];
};

/* Records the first failure and wakes everybody; with the lock held. */
static void pipeline_fail(struct pipeline *p, apl_status status, const apl_error *error)
{
    if (p->status == APL_OK) {
        p->status = status;
        p->error = *error;
    }
    pthread_cond_broadcast(&p->changed_queue);
    pthread_cond_broadcast(&p->changed_done);
    pthread_cond_broadcast(&p->changed_drained);
}

static bool pipeline_over(const struct pipeline *p)
{
    return p->stop || p->status != APL_OK;
}

static void *pipeline_work(void *argument)
{
    struct pipeline *p = argument;
    pthread_mutex_lock(&p->lock);
    unsigned worker = p->next_worker++;
    for (;;) {
        while (p->taken == p->submitted && !pipeline_over(p))
            pthread_cond_wait(&p->changed_queue, &p->lock);
        if (pipeline_over(p))
            break;
        unsigned slot = (unsigned)(p->taken++ % p->depth);
        pthread_mutex_unlock(&p->lock);
        apl_error error;
        apl_status status = p->stages.work(p->stages.context, worker, slot, &error);
        pthread_mutex_lock(&p->lock);
        if (status != APL_OK)
            pipeline_fail(p, status, &error);
        p->done[slot] = true;
        pthread_cond_signal(&p->changed_done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void *pipeline_drain(void *argument)
{
    struct pipeline *p = argument;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        unsigned slot = (unsigned)(p->drained % p->depth);
        while (!(p->drained < p->submitted && p->done[slot]) && !pipeline_over(p))
            pthread_cond_wait(&p->changed_done, &p->lock);
        if (pipeline_over(p))
            break;
        pthread_mutex_unlock(&p->lock);
        apl_error error;
        apl_status status = p->stages.drain(p->stages.context, slot, &error);
        pthread_mutex_lock(&p->lock);
        if (status != APL_OK)
            pipeline_fail(p, status, &error);
        p->done[slot] = false;
        p->drained++;
        pthread_cond_signal(&p->changed_drained);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

apl_status pipeline_start(unsigned workers, unsigned depth, const struct pipeline_stages *stages,
                          struct pipeline **pipeline, apl_error *err)
{
    struct pipeline *p = calloc(1, sizeof *p + (workers + 1) * sizeof p->thread[0]);
    bool *done = calloc(depth, sizeof *done);
    if (!p || !done) {
        free(p);
        free(done);
        return fail_nomem(err);
    }
    p->stages = *stages;
    p->depth = depth;
    p->workers = workers;
    p->done = done;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed_queue, NULL);
    pthread_cond_init(&p->changed_done, NULL);
    pthread_cond_init(&p->changed_drained, NULL);
    for (; workers > 0 && p->threads < workers + 1; p->threads++) {
        apl_status status =
            thread_start(&p->thread[p->threads], p->threads == 0 ? pipeline_drain : pipeline_work, p, err);
        if (status != APL_OK) {
            pipeline_stop(p);
            return status;
        }
    }
    *pipeline = p;
    return APL_OK;
}

/* Waits until fewer than `most` items are on their way; with a failure, returns that. */
static apl_status pipeline_wait(struct pipeline *p, uint64_t most, apl_error *err)
{
    pthread_mutex_lock(&p->lock);
    while (p->submitted - p->drained > most && !pipeline_over(p))
        pthread_cond_wait(&p->changed_drained, &p->lock);
    apl_status status = p->status;
    if (status != APL_OK && err)
        *err = p->error;
    pthread_mutex_unlock(&p->lock);
    return status;
}

apl_status pipeline_slot(struct pipeline *p, unsigned *slot, apl_error *err)
{
    TRY(pipeline_wait(p, p->depth - 1, err));
    *slot = (unsigned)(p->submitted % p->depth); /* only the producer, who is asking, moves `submitted` */
    return APL_OK;
}

/* Without threads: the item is done when it has been submitted, or nothing behind a failure is. */
static void pipeline_do(struct pipeline *p)
{
    unsigned slot = (unsigned)(p->submitted++ % p->depth);
    if (p->status == APL_OK)
        p->status = p->stages.work(p->stages.context, 0, slot, &p->error);
    if (p->status == APL_OK)
        p->status = p->stages.drain(p->stages.context, slot, &p->error);
    if (p->status == APL_OK)
        p->drained++;
}

void pipeline_submit(struct pipeline *p)
{
    if (p->workers == 0) {
        pipeline_do(p);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->submitted++;
    pthread_cond_signal(&p->changed_queue);
    pthread_mutex_unlock(&p->lock);
}

apl_status pipeline_flush(struct pipeline *p, apl_error *err)
{
    return pipeline_wait(p, 0, err);
}

void pipeline_stop(struct pipeline *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->changed_queue);
    pthread_cond_broadcast(&p->changed_done);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->threads; i++)
        pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->changed_queue);
    pthread_cond_destroy(&p->changed_done);
    pthread_cond_destroy(&p->changed_drained);
    pthread_mutex_destroy(&p->lock);
    free(p->done);
    free(p);
}
