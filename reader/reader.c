/* The calls of the public header. */
#include "reader.h"

#include "load.h"
#include "make.h"
#include "mix.h"
#include "options.h"
#include "schedule.h"
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CLOSE_WAIT_NS 900000000u /* how long close waits for threads before it leaves them to themselves */

/* --------------------------------------------------------------------------------------------- freeing */

static void free_residents(apl_reader *r)
{
    for (unsigned parity = 0; parity < (r->options.kept ? 1u : 2u); parity++) {
        for (uint32_t i = 0; r->residents[parity] && i < r->subset.blocks; i++) {
            struct resident *b = &r->residents[parity][i];
            free(b->slots);
            free(b->passed);
            free(b->error);
            load_drop_ragged(r, b);
        }
        free(r->residents[parity]);
    }
}

/* Frees everything; when the last reference is gone. */
static void destroy(apl_reader *r)
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
    free_residents(r);
    arena_free(&r->arena);
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

/* Gives up a reference; with the lock held, which is gone afterwards. */
static void unreference(apl_reader *r)
{
    bool last = --r->references == 0;
    pthread_mutex_unlock(&r->lock);
    if (last)
        destroy(r);
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
    unreference(r);
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
        pthread_mutex_lock(&r->lock);
        r->references++;
        r->threads++;
        pthread_mutex_unlock(&r->lock);
        apl_status status = thread_start(&w->thread, run_worker, w, err);
        if (status != APL_OK) {
            pthread_mutex_lock(&r->lock);
            r->references--;
            r->threads--;
            pthread_mutex_unlock(&r->lock);
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

static apl_status make_memory(apl_reader *r, const apl_allocator *allocator, apl_error *err)
{
    size_t slot[APL_MAX_FIELDS], row[APL_MAX_FIELDS];
    unsigned fields = r->schema->count;
    uint32_t slots = (uint32_t)options_slots(r, r->options.plan.window) + r->options.spare_slots;
    options_slot_bytes(r, slot);
    options_row_bytes(r, row);
    TRY(arena_init(&r->arena, slots, fields, slot, err));
    uint64_t fixed = arena_bytes(slots, fields, slot) + plan_bytes(&r->options.plan, &r->subset);
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

/* Is all of the epoch handed out, up to this position of it? */
static bool is_end(const apl_reader *r, uint64_t position)
{
    uint64_t left = r->plan_length - position;
    return left == 0 || (r->options.drop_last && left < (uint64_t)r->options.world * r->options.batch_size);
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
    apl_status status = schedule_begin(r, epoch, position, err);
    r->ended = is_end(r, position);
    pthread_mutex_unlock(&r->lock);
    return status == APL_OK ? start_threads(r, err) : status;
}

apl_status apl_reader_open(apl_store *store, const apl_reader_options *options, apl_reader **reader,
                           apl_error *err)
{
    static const apl_reader_options defaults = APL_READER_OPTIONS_INIT;
    if (!store || !reader)
        return fail(err, APL_E_INVALID, "apl_reader_open: store or reader is NULL");
    apl_error own;
    err = err ? err : &own;
    apl_reader *r = calloc(1, sizeof *r);
    if (!r)
        return fail_nomem(err);
    init_locks(r);
    r->references = 1;
    r->pid = (int)getpid();
    r->store = store_retain(store);
    r->schema = &store->manifest.schema;
    r->counters.opened_at = now_ns();
    apl_status status = build(r, options ? options : &defaults, err);
    if (status == APL_OK)
        *reader = r;
    else
        apl_reader_close(r);
    return status;
}

/* ----------------------------------------------------------------------------------------- handing out */

static apl_status check_caller(const apl_reader *r, apl_error *err)
{
    if (!r)
        return fail(err, APL_E_INVALID, "the reader is NULL");
    if (r->pid != (int)getpid())
        return fail(err, APL_E_FORKED, "the reader belongs to the parent process: open one here");
    if (schedule_in_callback(r))
        return fail(err, APL_E_REENTRANT, "called from the reader's own callback");
    return APL_OK;
}

/* The batch to hand out next, if it is finished. In free order any of the epoch's will do: it changes places
 * with the first. */
static struct job *finished_job(apl_reader *r)
{
    uint64_t to = r->options.free_order ? r->tail : r->head + (r->head < r->tail);
    for (uint64_t i = r->head; i < to; i++) {
        struct job *job = r->jobs[i % r->depth];
        if (job->epoch != r->epoch || job->stage != JOB_DONE)
            continue;
        r->jobs[i % r->depth] = r->jobs[r->head % r->depth];
        r->jobs[r->head % r->depth] = job;
        return job;
    }
    return NULL;
}

static void account(apl_reader *r, const struct job *job)
{
    const struct batch_buffer *buffer = job->buffer;
    const struct tally *t = &buffer->tally;
    r->tally.delivered += t->delivered;
    r->tally.skipped += t->skipped;
    r->shared += job->rows;
    r->tally.sum[0] += t->sum[0];
    r->tally.sum[1] += t->sum[1] + (r->tally.sum[0] < t->sum[0]);
    for (uint32_t k = 0; k < job->rows; k++) {
        uint32_t n = buffer->numbers[k];
        r->repeated += r->delivered[n / 8] >> n % 8 & 1;
        r->delivered[n / 8] |= (uint8_t)(1u << n % 8);
    }
    r->counters.batches++;
    r->counters.records += t->delivered;
    for (unsigned f = 0; f < r->schema->count; f++)
        r->counters.bytes_assembled += r->options.wanted[f] ? buffer->batch.columns[f].bytes : 0;
    if (r->counters.first_batch_ns == 0)
        r->counters.first_batch_ns = now_ns() - r->counters.opened_at;
}

static apl_status hand_out(apl_reader *r, struct job *job, apl_batch **batch, apl_error *err)
{
    if (job->status != APL_OK) { /* the batch stays where it is, and so does the error */
        *err = job->error;
        return job->status;
    }
    account(r, job);
    pool_lend(job->buffer);
    *batch = &job->buffer->batch;
    job->buffer = NULL;
    job->stage = JOB_FREE;
    r->position = r->options.free_order ? r->position + job->rows : job->end;
    r->ended = is_end(r, r->position);
    r->head++;
    pthread_cond_broadcast(&r->work);
    if (r->callers > 1)
        pthread_cond_broadcast(&r->done); /* the epoch may be over for them, or all batches lent */
    return APL_OK;
}

/* Nothing can come any more until the caller releases a batch. */
static bool all_lent(apl_reader *r)
{
    return r->head == r->tail && !r->planning && r->plan_epoch == r->epoch && pool_lent(r->pool) > 0 &&
           !pool_can_take(r->pool);
}

/* Names the block that the next batch waits for. */
static apl_status timed_out(apl_reader *r, apl_error *err)
{
    uint32_t index;
    fail(err, APL_E_TIMEOUT, "waited %u ms for a batch", r->options.timeout_ms);
    if (!schedule_waits_for(r, &index))
        return APL_E_TIMEOUT;
    return mix_name_block(r, index, APL_E_TIMEOUT, err);
}

static apl_status wait_done(apl_reader *r, uint64_t deadline, apl_error *err)
{
    if (deadline == 0) {
        pthread_cond_wait(&r->done, &r->lock);
        return APL_OK;
    }
    struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000u),
                             .tv_nsec = (long)(deadline % 1000000000u)};
    return pthread_cond_timedwait(&r->done, &r->lock, &until) == ETIMEDOUT ? timed_out(r, err) : APL_OK;
}

static uint64_t deadline_of(const apl_reader *r)
{
    return r->options.timeout_ms ? now_ns() + r->options.timeout_ms * (uint64_t)1000000 : 0;
}

/* Where there are no threads, a caller does one thing of what is to be done. One caller at a time: there is one
 * worker's worth of memory. */
static bool work(apl_reader *r)
{
    if (r->options.threads + r->options.loaders + r->options.consumers > 0 || r->working)
        return false;
    r->working = true;
    bool worked = schedule_step(&r->workers[0]);
    r->working = false;
    if (worked)
        pthread_cond_broadcast(&r->done); /* for callers that wait for a batch, or to take over */
    return worked;
}

/* Waits for the next batch; with the lock held. */
static apl_status next(apl_reader *r, apl_batch **batch, apl_error *err)
{
    uint64_t deadline = deadline_of(r);
    for (;;) {
        if (r->cancelled || r->closing)
            return fail(err, APL_E_CANCELLED, "cancelled");
        if (r->ended)
            return APL_END;
        struct job *job = finished_job(r);
        if (job)
            return hand_out(r, job, batch, err);
        if (r->status != APL_OK) {
            *err = r->error;
            return r->status;
        }
        /* Asked before the work, since batches are released without the lock: if one is after the work found none to fill,
         * there would be nobody to wake a reader without threads. */
        bool lent = all_lent(r);
        if (work(r) || r->status != APL_OK)
            continue;
        if (lent)
            return fail(err, APL_E_LENT,
                        "%u batches have not been released, and the memory budget allows no more",
                        pool_lent(r->pool));
        if (r->head == r->tail)
            pthread_cond_broadcast(
                &r->work); /* batches are released without the lock: there may be one to fill */
        TRY(wait_done(r, deadline, err));
    }
}

static void count_wait(apl_reader *r, uint64_t ns)
{
    unsigned i = 0;
    while (i + 1 < WAIT_BUCKETS && wait_bucket_ns(i) < ns)
        i++;
    r->counters.waits[i]++;
    r->counters.wait_ns += ns;
    r->counters.longest_wait_ns = ns > r->counters.longest_wait_ns ? ns : r->counters.longest_wait_ns;
}

apl_status apl_reader_next(apl_reader *r, apl_batch **batch, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    TRY(check_caller(r, err));
    if (!batch)
        return fail(err, APL_E_INVALID, "apl_reader_next: batch is NULL");
    uint64_t begin = now_ns();
    pthread_mutex_lock(&r->lock);
    r->references++;
    r->callers++;
    apl_status status = next(r, batch, err);
    if (status == APL_OK || status == APL_E_TIMEOUT)
        count_wait(r, now_ns() - begin);
    r->callers--;
    if (r->closing || r->threads == 0) /* where there are no threads, another caller takes over */
        pthread_cond_broadcast(&r->done);
    unreference(r);
    return status;
}

/* ---------------------------------------------------------------------------------------------- epochs */

/* Waits until no thread is at work, and lets none begin; as patient as apl_reader_next(). */
static apl_status quiet(apl_reader *r, apl_error *err)
{
    uint64_t deadline = deadline_of(r);
    apl_status status = APL_OK;
    r->paused = true;
    while (r->active > 0 && status == APL_OK)
        status = r->cancelled ? fail(err, APL_E_CANCELLED, "cancelled") : wait_done(r, deadline, err);
    if (status != APL_OK)
        r->paused = false;
    return status;
}

/* Gives up what is left of the epoch; with the lock held. */
static apl_status skip_rest(apl_reader *r, apl_error *err)
{
    TRY(quiet(r, err));
    schedule_clear(r);
    apl_status status = schedule_begin(r, r->epoch + 1, 0, err);
    r->ended = is_end(r, 0);
    r->paused = false;
    return status;
}

static void clear_receipt(apl_reader *r, uint64_t position)
{
    memset(r->delivered, 0, (size_t)(r->plan_length / 8 + 1));
    r->tally = (struct tally){0};
    r->tally_first = position;
    r->shared = r->repeated = 0;
}

apl_status apl_reader_next_epoch(apl_reader *r, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    TRY(check_caller(r, err));
    apl_status status = APL_OK;
    pthread_mutex_lock(&r->lock);
    uint64_t before = r->epoch;
    if (r->callers > 0) {
        pthread_mutex_unlock(&r->lock);
        return fail(err, APL_E_INVALID, "apl_reader_next_epoch: a thread is inside apl_reader_next()");
    }
    if (r->ended && (r->plan_epoch > r->epoch || r->head == r->tail)) {
        r->epoch++;
        r->position = 0;
        r->ended = is_end(r, 0);
    } else {
        status = skip_rest(r, err);
    }
    if (r->epoch != before)
        clear_receipt(r, 0);
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    return status;
}

uint64_t apl_reader_epoch(apl_reader *r)
{
    if (r->pid != (int)getpid())
        return r->epoch; /* the lock may be held for ever by a thread that is not here */
    pthread_mutex_lock(&r->lock);
    uint64_t epoch = r->epoch;
    pthread_mutex_unlock(&r->lock);
    return epoch;
}

uint64_t apl_reader_batches(apl_reader *r)
{
    uint64_t whole = (uint64_t)r->options.world * r->options.batch_size;
    return r->options.drop_last ? r->plan_length / whole : (r->plan_length + whole - 1) / whole;
}

/* ---------------------------------------------------------------------------------------------- ending */

void apl_reader_cancel(apl_reader *r)
{
    if (!r || r->pid != (int)getpid())
        return;
    pthread_mutex_lock(&r->lock);
    r->cancelled = true;
    pthread_cond_broadcast(&r->done);
    pthread_mutex_unlock(&r->lock);
}

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

void apl_reader_close(apl_reader *r)
{
    /* In a child, threads of the parent may have held the lock at the fork: nothing can be touched. */
    if (!r || r->pid != (int)getpid())
        return;
    uint64_t until = now_ns() + CLOSE_WAIT_NS;
    struct timespec limit = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_broadcast(&r->work);
    pthread_cond_broadcast(&r->done);
    bool patient = !schedule_in_callback(r); /* which could only wait for itself */
    while (patient && r->threads + r->callers > 0)
        patient = pthread_cond_timedwait(&r->done, &r->lock, &limit) != ETIMEDOUT;
    bool over = r->threads == 0;
    pthread_mutex_unlock(&r->lock);
    let_threads_go(r, over);
    pthread_mutex_lock(&r->lock);
    unreference(r);
}
