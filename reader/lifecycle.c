/* Opening and closing readers, and their threads. */
#include "asked.h"
#include "block_cache.h"
#include "handles.h"
#include "inside.h"
#include "load.h"
#include "mix.h"
#include "options.h"
#include "planner.h"
#include "schedule.h"
#include "state.h"
#include "stats.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CLOSE_WAIT_NS 900000000u /* how long close waits for threads before it leaves them to themselves */

/* --------------------------------------------------------------------------------------------- freeing */

/* Frees everything; when nobody holds the reader any more. */
static void destroy_reader(apl_reader *r)
{
    unsigned workers = r->options.threads + r->options.loaders + r->options.consumers;
    for (unsigned i = 0; r->workers && i < (workers ? workers : 1); i++)
        worker_free(&r->workers[i]);
    for (unsigned i = 0; r->jobs && i < r->depth; i++) {
        if (r->jobs[i] && r->jobs[i]->buffer)
            pool_give(r->jobs[i]->buffer);
        if (r->jobs[i])
            free(r->jobs[i]->deliveries);
        free(r->jobs[i]);
    }
    pool_close(r->pool);
    residents_free(r);
    slab_free(&r->slab);
    decoded_close(r->decoded);
    plan_free(r->plan);
    sampler_free(r->sampler);
    bins_free(r->bins[0]);
    bins_free(r->bins[1]);
    bins_scratch_free(r->bins_scratch);
    free(r->queue.items);
    free(r->demand.items);
    free(r->known_bad);
    free(r->stay);
    free(r->peeked);
    free(r->delivered);
    free(r->resumed);
    free(r->workers);
    free(r->jobs);
    free(r->step);
    subset_close(&r->subset);
    mix_close(r);
    store_release(r->store);
    pthread_cond_destroy(&r->work);
    pthread_cond_destroy(&r->done);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* --------------------------------------------------------------------------------------------- threads */

static void *run_worker(void *argument)
{
    struct worker *w = argument;
    apl_reader *r = w->reader;
    pthread_mutex_lock(&r->lock);
    while (!r->closing) {
        if (schedule_step(w))
            continue;
        uint64_t begin = now_ns();
        if (r->paused && r->active == 0)
            pthread_cond_broadcast(&r->done); /* somebody waits for quiet */
        pthread_cond_wait(&r->work, &r->lock);
        r->counters.blocked_ns += now_ns() - begin;
    }
    r->threads--;
    pthread_cond_broadcast(&r->done);
    pthread_mutex_unlock(&r->lock);
    handles_drop(r->handle);
    return NULL;
}

static apl_status start_threads(apl_reader *r, apl_error *err)
{
    const struct reader_options *o = &r->options;
    unsigned n = o->threads + o->loaders + o->consumers;
    r->workers = calloc(n ? n : 1, sizeof *r->workers);
    if (!r->workers)
        return fail_nomem(err);
    for (unsigned i = 0; i < (n ? n : 1); i++) {
        struct worker *w = &r->workers[i];
        w->reader = r;
        w->loads = i >= o->consumers;
        w->makes = i < o->consumers || o->loaders == 0;
        TRY(worker_init(w, err));
    }
    for (unsigned i = 0; i < n; i++) {
        struct worker *w = &r->workers[i];
        handles_hold_again(r->handle);
        pthread_mutex_lock(&r->lock);
        r->threads++;
        pthread_mutex_unlock(&r->lock);
        apl_status status = thread_start(&w->thread, run_worker, w, err);
        if (status != APL_OK) {
            pthread_mutex_lock(&r->lock);
            r->threads--;
            pthread_mutex_unlock(&r->lock);
            handles_drop(r->handle);
            return status;
        }
        w->started = true;
    }
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------- opening */

static apl_status make_ring(struct load_ring *ring, uint32_t size, apl_error *err)
{
    ring->size = size;
    ring->items = calloc(size, sizeof *ring->items);
    return ring->items ? APL_OK : fail_nomem(err);
}

static apl_status make_jobs(apl_reader *r, apl_error *err)
{
    const struct reader_options *o = &r->options;
    unsigned makers = o->consumers ? o->consumers : o->threads ? o->threads : 1;
    r->depth = o->queue_depth + makers;
    r->jobs = calloc(r->depth, sizeof *r->jobs);
    r->step = calloc((size_t)o->world * o->batch_size, sizeof *r->step);
    if (!r->jobs || !r->step)
        return fail_nomem(err);
    for (unsigned i = 0; i < r->depth; i++) {
        r->jobs[i] = calloc(1, sizeof **r->jobs);
        if (!r->jobs[i] || !(r->jobs[i]->deliveries = calloc(o->batch_size, sizeof(uint32_t))))
            return fail_nomem(err);
    }
    return APL_OK;
}

static apl_status make_blocks(apl_reader *r, apl_error *err)
{
    uint32_t n = r->subset.blocks;
    for (unsigned parity = 0; parity < 2; parity++)
        r->residents[parity] =
            parity && r->options.kept ? r->residents[0] : calloc(n, sizeof(struct resident));
    r->known_bad = calloc(n, 1);
    r->delivered = calloc((size_t)(r->plan_length / 8 + 1), 1);
    if (!r->residents[0] || !r->residents[1] || !r->known_bad || !r->delivered)
        return fail_nomem(err);
    if (r->options.spare_slots) {
        r->stay = calloc(n, 1);
        r->peeked = calloc(n, sizeof *r->peeked);
        if (!r->stay || !r->peeked)
            return fail_nomem(err);
    }
    TRY(make_ring(&r->queue, 2 * n + 1, err));
    return make_ring(&r->demand, n + 1, err);
}

static apl_status make_order(apl_reader *r, apl_error *err)
{
    const struct reader_options *o = &r->options;
    TRY(plan_new(&o->plan, &r->subset, &r->plan, err));
    r->plan_length = plan_length(r->plan);
    if (!o->free_order)
        return APL_OK;
    TRY(bins_new(o->plan.bins, &r->bins[0], err));
    TRY(bins_new(o->plan.bins, &r->bins[1], err));
    r->bins_scratch = bins_scratch_new(r->bins[0], o->batch_size);
    return r->bins_scratch ? APL_OK : fail_nomem(err);
}

/* Slots that are kept are shared with the other readers that keep the same. */
static apl_status make_slots(apl_reader *r, uint32_t slots, const size_t *bytes, apl_error *err)
{
    struct decoded_shape shape = {.slots = slots,
                                  .blocks = r->subset.blocks,
                                  .fields = r->schema->count,
                                  .value_bytes = bytes,
                                  .ragged = r->ragged};
    if (!r->options.kept || r->ids_only)
        return slab_init(&r->slab, slots, r->schema->count, bytes, err);
    TRY(mix_digest_decoded(r, &shape.key, err));
    TRY(decoded_open(&shape, &r->decoded, err));
    decoded_lend(r->decoded, &r->slab);
    return APL_OK;
}

static apl_status make_memory(apl_reader *r, const apl_allocator *allocator, apl_error *err)
{
    size_t slot[APL_MAX_FIELDS], row[APL_MAX_FIELDS];
    unsigned fields = r->schema->count;
    uint32_t slots = (uint32_t)options_slots(r, r->options.plan.window) + r->options.spare_slots;
    options_slot_bytes(r, slot);
    options_row_bytes(r, row);
    TRY(make_slots(r, slots, slot, err));
    uint64_t fixed = slab_bytes(slots, fields, slot) + plan_bytes(&r->options.plan, &r->subset);
    r->fixed_bytes = fixed;
    uint64_t left = r->options.budget > fixed ? r->options.budget - fixed : 0;
    r->pool = pool_new(r->options.batch_size, fields, row, allocator, left);
    return r->pool ? APL_OK : fail_nomem(err);
}

static void init_locks(apl_reader *r)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->work, &monotonic);
    pthread_cond_init(&r->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static apl_status build(apl_reader *r, const apl_reader_options *asked, apl_error *err)
{
    uint64_t epoch, position;
    TRY(options_resolve(r, asked, err));
    TRY(make_order(r, err));
    TRY(make_jobs(r, err));
    TRY(make_blocks(r, err));
    TRY(make_memory(r, asked->allocator, err));
    TRY(mix_digest(r, r->content, err));
    TRY(state_digest_order(r, err));
    TRY(state_resume(r, asked->state, asked->state_size, &epoch, &position, err));
    pthread_mutex_lock(&r->lock); /* nobody is there yet; the functions below expect it */
    r->tally_first = position;
    apl_status status = planning_begin(r, epoch, position, err);
    r->ended = planning_is_end(r, position);
    pthread_mutex_unlock(&r->lock);
    return status == APL_OK ? start_threads(r, err) : status;
}

apl_status apl_reader_open(apl_store *store, const apl_reader_options *options, apl_reader **reader,
                           apl_error *err)
{
    struct asked asked;
    if (!store || !reader)
        return fail(err, APL_E_INVALID, "apl_reader_open: store or reader is NULL");
    apl_error own;
    err = err ? err : &own;
    apl_reader *r = calloc(1, sizeof *r);
    if (!r)
        return fail_nomem(err);
    r->handle = handles_add(r, destroy_reader);
    if (!r->handle) {
        free(r);
        return fail_nomem(err);
    }
    init_locks(r);
    r->pid = (int)getpid();
    r->store = store_retain(store);
    r->schema = &store->manifest.schema;
    r->counters.opened_at = now_ns();
    apl_status status = asked_take(&asked, options, err);
    if (status == APL_OK)
        status = build(r, &asked.options, err);
    asked_free(&asked);
    if (status == APL_OK)
        *reader = r;
    else
        apl_reader_close(r);
    return status;
}

/* --------------------------------------------------------------------------------------------- closing */

/* Joins the threads that are over, or leaves them to themselves. */
static void let_threads_go(apl_reader *r, bool over)
{
    unsigned n = r->options.threads + r->options.loaders + r->options.consumers;
    for (unsigned i = 0; r->workers && i < n; i++)
        if (r->workers[i].started && over)
            pthread_join(r->workers[i].thread, NULL);
        else if (r->workers[i].started)
            pthread_detach(r->workers[i].thread);
}

/* Wakes everybody, and waits until threads and callers have left, or for as long as a close may take. */
static void nothing_left(apl_reader *r)
{
    uint64_t until = now_ns() + CLOSE_WAIT_NS;
    struct timespec limit = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_broadcast(&r->work);
    pthread_cond_broadcast(&r->done);
    bool patient = !inside_callback(r); /* which could only wait for itself */
    while (patient && r->threads + r->callers + r->changing > 0)
        patient = pthread_cond_timedwait(&r->done, &r->lock, &limit) != ETIMEDOUT;
    bool over = r->threads == 0;
    if (!over) /* a thread may be stuck in a block, which readers to come must not wait for */
        decoded_retire(r->decoded);
    pthread_mutex_unlock(&r->lock);
    let_threads_go(r, over);
}

void apl_reader_close(apl_reader *r)
{
    struct handle *handle = handles_hold(r);
    if (!handle)
        return;
    /* In a child, threads of the parent may have held the lock at the fork: nothing can be touched. */
    if (r->pid == (int)getpid() && handles_withdraw(handle)) {
        nothing_left(r);
        handles_drop(handle); /* on behalf of whoever opened it */
    }
    handles_drop(handle);
}
