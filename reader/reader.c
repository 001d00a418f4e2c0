/* The calls of the public header that hand out batches. */
#include "handles.h"
#include "inside.h"
#include "mix.h"
#include "planner.h"
#include "schedule.h"
#include "stats.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* A call that may wait: not from the reader's own callback, which could only wait for itself. */
static apl_status enter_to_wait(apl_reader *r, apl_error *err)
{
    TRY(reader_enter(r, err));
    if (!inside_callback(r))
        return APL_OK;
    reader_leave(r);
    return fail(err, APL_E_REENTRANT, "called from the reader's own callback");
}

static apl_status cancelled(const apl_reader *r, apl_error *err)
{
    return fail(err, APL_E_CANCELLED, r->closing ? "the reader has been closed" : "cancelled");
}

/* ----------------------------------------------------------------------------------------- handing out */

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
    r->ended = planning_is_end(r, r->position);
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

static bool in_on_batch(const apl_reader *r)
{
    uint64_t to = r->options.free_order ? r->tail : r->head + (r->head < r->tail);
    for (uint64_t i = r->head; r->options.on_batch && i < to; i++)
        if (r->jobs[i % r->depth]->stage == JOB_MAKING) /* the rest of making it takes no time */
            return true;
    return false;
}

/* Names what the next batch waits for: on_batch(), or a block. Callers know how long they have waited. */
static apl_status timed_out(apl_reader *r, apl_error *err)
{
    uint32_t index;
    if (in_on_batch(r))
        return fail(err, APL_E_TIMEOUT, "no batch came in time: on_batch() has not returned");
    fail(err, APL_E_TIMEOUT, "no batch came in time");
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
            return cancelled(r, err);
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

apl_status apl_reader_next(apl_reader *r, apl_batch **batch, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    if (!batch)
        return fail(err, APL_E_INVALID, "apl_reader_next: batch is NULL");
    TRY(enter_to_wait(r, err));
    uint64_t begin = now_ns();
    pthread_mutex_lock(&r->lock);
    r->callers++;
    apl_status status = next(r, batch, err);
    if (status == APL_OK || status == APL_E_TIMEOUT)
        stats_count_wait(&r->counters, now_ns() - begin);
    r->callers--;
    if (r->closing || r->threads == 0) /* where there are no threads, another caller takes over */
        pthread_cond_broadcast(&r->done);
    pthread_mutex_unlock(&r->lock);
    reader_leave(r);
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
        status = r->cancelled || r->closing ? cancelled(r, err) : wait_done(r, deadline, err);
    if (status != APL_OK)
        r->paused = false;
    return status;
}

/* Gives up what is left of the epoch; with the lock held. */
static apl_status skip_rest(apl_reader *r, apl_error *err)
{
    TRY(quiet(r, err));
    schedule_clear(r);
    apl_status status = planning_begin(r, r->epoch + 1, 0, err);
    r->ended = planning_is_end(r, 0);
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

static apl_status next_epoch(apl_reader *r, apl_error *err)
{
    apl_status status = APL_OK;
    uint64_t before = r->epoch;
    if (r->closing)
        return cancelled(r, err);
    if (r->callers > 0)
        return fail(err, APL_E_INVALID, "apl_reader_next_epoch: a thread is inside apl_reader_next()");
    if (r->ended && (r->plan_epoch > r->epoch || r->head == r->tail)) {
        r->epoch++;
        r->position = 0;
        r->ended = planning_is_end(r, 0);
    } else {
        status = skip_rest(r, err);
    }
    if (r->epoch != before)
        clear_receipt(r, 0);
    pthread_cond_broadcast(&r->work);
    return status;
}

apl_status apl_reader_next_epoch(apl_reader *r, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    TRY(enter_to_wait(r, err));
    pthread_mutex_lock(&r->lock);
    r->changing++;
    apl_status status = next_epoch(r, err);
    r->changing--;
    if (r->closing)
        pthread_cond_broadcast(&r->done);
    pthread_mutex_unlock(&r->lock);
    reader_leave(r);
    return status;
}

/* ---------------------------------------------------------------------------------------- short calls */

/* In a child too: then without the lock, which a thread that is not here may hold for ever. */
uint64_t apl_reader_epoch(apl_reader *r)
{
    struct handle *handle = handles_hold(r);
    if (!handle)
        return 0;
    bool own = r->pid == (int)getpid();
    if (own)
        pthread_mutex_lock(&r->lock);
    uint64_t epoch = r->epoch;
    if (own)
        pthread_mutex_unlock(&r->lock);
    handles_drop(handle);
    return epoch;
}

uint64_t apl_reader_batches(apl_reader *r)
{
    struct handle *handle = handles_hold(r);
    if (!handle)
        return 0;
    uint64_t whole = (uint64_t)r->options.world * r->options.batch_size;
    uint64_t batches = r->options.drop_last ? r->plan_length / whole : (r->plan_length + whole - 1) / whole;
    handles_drop(handle);
    return batches;
}

void apl_reader_cancel(apl_reader *r)
{
    if (reader_enter(r, NULL) != APL_OK)
        return;
    pthread_mutex_lock(&r->lock);
    r->cancelled = true;
    pthread_cond_broadcast(&r->done);
    pthread_mutex_unlock(&r->lock);
    reader_leave(r);
}
