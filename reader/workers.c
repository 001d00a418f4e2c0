/* A reader's threads: see workers.h. */
#include "workers.h"

#include "handles.h"
#include "late_ahead.h"
#include "load.h"
#include "schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define PATIENCE_NS 1000000u

static _Atomic uint64_t patience = PATIENCE_NS;

void workers_set_patience(uint64_t ns)
{
    atomic_store_explicit(&patience, ns, memory_order_relaxed); /* nothing else goes with it */
}

/* With the lock held. */
static void wait_until_wanted(apl_reader *r)
{
    uint64_t until = now_ns() + atomic_load_explicit(&patience, memory_order_relaxed);
    struct timespec limit = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
    while (!r->calls.wanted && !r->calls.closing)
        if (pthread_cond_timedwait(&r->work, &r->lock, &limit) == ETIMEDOUT)
            return;
}

static void *run_worker(void *argument)
{
    struct worker *w = argument;
    apl_reader *r = w->reader;
    trace_thread(w->loads && w->collates ? "apl" : w->loads ? "apl loader" : "apl consumer");
    pthread_mutex_lock(&r->lock);
    wait_until_wanted(r);
    while (!r->calls.closing) {
        if (schedule_act(w))
            continue;
        uint64_t begin = now_ns();
        if (activity_is_paused(&r->activity) && activity_is_quiet(&r->activity))
            pthread_cond_broadcast(&r->done); /* somebody waits for quiet */
        r->help.idle++;
        stats_begin_idle(&r->counters, begin, w->loads, w->collates);
        pthread_cond_wait(&r->work, &r->lock);
        uint64_t end = now_ns();
        r->help.idle--;
        stats_end_idle(&r->counters, end, w->loads, w->collates);
        stats_add_blocked(&r->counters, end - begin);
    }
    r->workers.running--;
    pthread_cond_broadcast(&r->done);
    pthread_mutex_unlock(&r->lock);
    handles_drop(r->handle);
    return NULL;
}

static apl_status make_workers(apl_reader *r, apl_error *err)
{
    const struct reader_options *o = &r->spec.options;
    struct workers *ws = &r->workers;
    unsigned size = o->threads + o->loaders + o->consumers, n = size ? size : 1;
    ws->all = calloc(n, sizeof *ws->all);
    if (!ws->all)
        return fail_nomem(err);
    ws->size = size;
    for (unsigned i = 0; i < n; i++) {
        struct worker *w = &ws->all[i];
        w->reader = r;
        w->spec = &r->spec;
        w->standing = &r->cache.standing;
        w->share = runs_make;
        w->ahead = late_ask;
        w->loads = i >= o->consumers;
        w->collates = i < o->consumers || o->loaders == 0;
        TRY(worker_init(w, err));
    }
    return APL_OK;
}

static void count_running(apl_reader *r, int more)
{
    pthread_mutex_lock(&r->lock);
    r->workers.running += (unsigned)more;
    pthread_mutex_unlock(&r->lock);
}

apl_status workers_start(apl_reader *r, apl_error *err)
{
    struct workers *ws = &r->workers;
    TRY(make_workers(r, err));
    for (unsigned i = 0; i < ws->size; i++) {
        struct worker *w = &ws->all[i];
        handles_hold_again(r->handle);
        count_running(r, 1);
        apl_status status = thread_start(&w->thread, run_worker, w, err);
        if (status != APL_OK) {
            count_running(r, -1);
            handles_drop(r->handle);
            return status;
        }
        w->started = true;
    }
    return APL_OK;
}

void workers_release(apl_reader *r, bool left)
{
    for (unsigned i = 0; r->workers.all && i < r->workers.size; i++)
        if (r->workers.all[i].started && left)
            pthread_join(r->workers.all[i].thread, NULL);
        else if (r->workers.all[i].started)
            pthread_detach(r->workers.all[i].thread);
}

void workers_free(struct workers *ws)
{
    unsigned n = ws->size ? ws->size : 1;
    for (unsigned i = 0; ws->all && i < n; i++)
        worker_free(&ws->all[i]);
    free(ws->all);
}

bool workers_are_reading(const apl_reader *r, const struct batch_queue *q, uint32_t *index)
{
    unsigned n = r->workers.size ? r->workers.size : 1;
    for (uint64_t i = 0; i < queue_front(q); i++)
        for (unsigned k = 0; k < n; k++) {
            const struct worker *w = &r->workers.all[k];
            unsigned reading = atomic_load_explicit(&w->reading, memory_order_relaxed);
            if (w->at != queue_at(q, i) || reading == 0)
                continue;
            *index = reading - 1;
            return true;
        }
    return false;
}
