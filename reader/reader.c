/* The calls of the public header that hand out batches. */
#include "handles.h"
#include "inside.h"
#include "mix.h"
#include "schedule.h"
#include "trace.h"

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

/* ----------------------------------------------------------------------------------------- handing out */

static void count_batch(apl_reader *r, const struct batch_buffer *buffer)
{
    uint64_t bytes = 0;
    for (unsigned f = 0; f < r->spec.schema->count; f++)
        bytes += r->spec.options.wanted[f] ? buffer->batch.columns[f].bytes : 0;
    stats_count_batch(&r->counters, buffer->tally.delivered, bytes);
}

static apl_status hand_out(apl_reader *r, struct outlet *o, struct job *job, apl_batch **batch,
                           apl_error *err)
{
    if (job->status != APL_OK) { /* the batch stays where it is, and so does the error */
        *err = job->error;
        return job->status;
    }
    TRY(undecodable_meet(r, job, err));
    tally_add(r, &o->tally, job);
    stats_divide_wait(&r->counters, o->waits_since, &job->when);
    count_batch(r, job->buffer);
    pool_lend(job->buffer);
    o->took_at = now_ns();
    *batch = &queue_pop(&o->queue)->batch;
    pthread_cond_broadcast(&r->work);
    if (r->calls.next > 1)
        pthread_cond_broadcast(&r->done); /* the epoch may be over for them, or all batches lent */
    return APL_OK;
}

/* Nothing more can come until the rank's callers release a batch. */
static bool all_lent(const apl_reader *r, const struct outlet *o)
{
    return queue_is_empty(&o->queue) && planner_is_idle(&r->planner, o->tally.epoch) &&
           pool_lent(o->pool) > 0 && !pool_can_take(o->pool);
}

static apl_status fail_lent(const struct outlet *o, apl_error *err)
{
    return fail(err, APL_E_LENT, "the memory budget allows no more: %s not been released",
                number_of(pool_lent(o->pool), "batch has", "batches have"));
}

/* Names what the next batch waits for: another rank, `by`, a value of a block, on_batch(), or a block. Callers know how long they have
 * waited. */
static apl_status timed_out(apl_reader *r, const struct outlet *o, unsigned *by, apl_error *err)
{
    uint32_t index;
    TRY(outlet_held_up(r, o, by, err));
    *by = NO_RANK;
    bool reading = workers_are_reading(r, &o->queue, &index);
    if (!reading && r->spec.options.on_batch &&
        queue_is_collating(&o->queue)) /* the rest of collating it takes no time */
        return fail(err, APL_E_TIMEOUT, "no batch came in time: on_batch() has not returned");
    fail(err, APL_E_TIMEOUT, "no batch came in time");
    if (!reading && !schedule_waits_for(r, o, &index))
        return APL_E_TIMEOUT;
    return mix_name_block(&r->spec, index, APL_E_TIMEOUT, err);
}

/* How long a call waits; 0: for as long as it takes. For another rank nobody waits that long. */
static uint64_t deadline_of(const apl_reader *r)
{
    unsigned ms = r->spec.options.timeout_ms ? r->spec.options.timeout_ms
                  : r->outlet_count > 1      ? RANK_PATIENCE_MS
                                             : 0;
    return ms ? now_ns() + ms * (uint64_t)1000000 : 0;
}

static apl_status wait_done(apl_reader *r, const struct outlet *o, uint64_t *deadline, apl_error *err)
{
    unsigned by;
    if (*deadline == 0) {
        pthread_cond_wait(&r->done, &r->lock);
        return APL_OK;
    }
    struct timespec until = {.tv_sec = (time_t)(*deadline / 1000000000u),
                             .tv_nsec = (long)(*deadline % 1000000000u)};
    if (pthread_cond_timedwait(&r->done, &r->lock, &until) != ETIMEDOUT)
        return APL_OK;
    if (r->spec.options.timeout_ms)
        return timed_out(r, o, &by, err);
    *deadline = deadline_of(r);
    return outlet_held_up(r, o, &by, err);
}

/* Where there are no threads, a caller does one action of what is to be done. */
static bool work(apl_reader *r)
{
    if (r->workers.size > 0 || !calls_begin_work(r))
        return false;
    bool worked = schedule_act(&r->workers.all[0]);
    calls_end_work(r);
    if (worked)
        pthread_cond_broadcast(&r->done); /* for callers that wait for a batch, or to take over */
    return worked;
}

/* A caller that does the work itself looks at the clock between two actions. */
static bool has_worked_too_long(const apl_reader *r, uint64_t deadline)
{
    return r->spec.options.timeout_ms && now_ns() >= deadline;
}

/* Waits for the next batch of a rank; with the lock held. */
static apl_status next(apl_reader *r, struct outlet *o, apl_batch **batch, apl_error *err)
{
    uint64_t deadline = deadline_of(r);
    for (bool worked = false;;) {
        TRY(calls_check(&r->calls, true, err));
        if (o->tally.ended)
            return APL_END;
        struct job *job = queue_finished(&o->queue, o->tally.epoch);
        if (job)
            return hand_out(r, o, job, batch, err);
        TRY(failure_tell(&r->failure, err));
        /* Asked before the work, since batches are released without the lock: if one is after the work found none to fill,
         * there would be nobody to wake a reader without threads. */
        bool lent = all_lent(r, o);
        unsigned by;
        if (worked && has_worked_too_long(r, deadline))
            return timed_out(r, o, &by, err);
        worked = work(r);
        if (worked || failure_is(&r->failure))
            continue;
        if (lent)
            return fail_lent(o, err);
        if (queue_is_empty(&o->queue))
            pthread_cond_broadcast(
                &r->work); /* batches are released without the lock: there may be one to fill */
        TRY(wait_done(r, o, &deadline, err));
    }
}

/* ------------------------------------------------------------------------------------- without waiting */

static apl_status ask(apl_reader *r, struct outlet *o, struct batch_buffer **batch, uint64_t *end,
                      apl_error *err)
{
    apl_batch *handed;
    TRY(calls_check(&r->calls, true, err));
    if (o->tally.ended)
        return APL_END;
    struct job *job = queue_finished(&o->queue, o->tally.epoch);
    if (job) {
        TRY(hand_out(r, o, job, &handed, err));
        *batch = (struct batch_buffer *)handed;
        *end = o->tally.position;
        return APL_OK;
    }
    TRY(failure_tell(&r->failure, err));
    if (all_lent(r, o))
        return fail_lent(o, err);
    o->asked = r->asked = true;
    if (queue_is_empty(&o->queue))
        pthread_cond_broadcast(&r->work); /* as next() does */
    return APL_E_TIMEOUT;
}

/* A rank that has asked in vain waits, until what it asks for is there or nothing will come. */
static void count_asking(apl_reader *r, struct outlet *o, apl_status status)
{
    if (status == APL_E_TIMEOUT && !o->waits_since)
        outlet_begin_wait(r, o, now_ns());
    else if (status != APL_E_TIMEOUT && o->waits_since)
        outlet_end_wait(r, o, now_ns(), o->waits_since, true);
}

apl_status reader_ask(apl_reader *r, unsigned rank, struct batch_buffer **batch, uint64_t *end,
                      apl_error *err)
{
    struct outlet *o;
    TRY(outlet_find(r, rank, &o, err));
    pthread_mutex_lock(&r->lock);
    calls_want(r);
    apl_status status = ask(r, o, batch, end, err);
    count_asking(r, o, status);
    pthread_mutex_unlock(&r->lock);
    return status;
}

apl_status reader_late(apl_reader *r, unsigned rank, bool tell, unsigned *by, apl_error *err)
{
    struct outlet *o;
    TRY(outlet_find(r, rank, &o, err));
    pthread_mutex_lock(&r->lock);
    bool limited = tell || r->spec.options.timeout_ms;
    apl_status status = limited ? timed_out(r, o, by, err) : outlet_held_up(r, o, by, err);
    pthread_mutex_unlock(&r->lock);
    return status;
}

/* ------------------------------------------------------------------------------------------- the calls */

/* By a caller that is inside. */
static apl_status next_of(apl_reader *r, struct outlet *o, apl_batch **batch, apl_error *err)
{
    uint64_t begin = now_ns();
    calls_enter_next(r, o);
    outlet_begin_wait(r, o, begin);
    apl_status status = r->provider ? r->provider->next(r, batch, err) : next(r, o, batch, err);
    uint64_t end = now_ns();
    outlet_end_wait(r, o, end, begin, status != APL_E_TIMEOUT);
    if (status == APL_OK || status == APL_E_TIMEOUT)
        stats_count_wait(&r->counters, end - begin);
    calls_leave_next(r, o);
    trace_span("wait", begin, end, "rank", o->rank);
    return status;
}

apl_status apl_reader_next(apl_reader *r, apl_batch **batch, apl_error *err)
{
    struct outlet *o;
    apl_error own;
    err = err ? err : &own;
    if (!batch)
        return fail(err, APL_E_INVALID, "apl_reader_next: batch is NULL");
    TRY(enter_to_wait(r, err));
    apl_status status = outlet_only(r, &o, err);
    if (status == APL_OK)
        status = next_of(r, o, batch, err);
    reader_leave(r);
    return status;
}

apl_status apl_reader_next_of(apl_reader *r, unsigned rank, apl_batch **batch, apl_error *err)
{
    struct outlet *o;
    apl_error own;
    err = err ? err : &own;
    if (!batch)
        return fail(err, APL_E_INVALID, "apl_reader_next_of: batch is NULL");
    TRY(enter_to_wait(r, err));
    apl_status status = outlet_find(r, rank, &o, err);
    if (status == APL_OK)
        status = next_of(r, o, batch, err);
    reader_leave(r);
    return status;
}

/* ---------------------------------------------------------------------------------------------- epochs */

/* Waits until no thread is at work, and lets none begin; as patient as apl_reader_next(). */
static apl_status quiet(apl_reader *r, const struct outlet *o, apl_error *err)
{
    uint64_t deadline = deadline_of(r);
    apl_status status = APL_OK;
    activity_pause(r);
    while (!activity_is_quiet(&r->activity) && status == APL_OK) {
        status = calls_check(&r->calls, true, err);
        if (status == APL_OK)
            status = wait_done(r, o, &deadline, err);
    }
    if (status != APL_OK)
        activity_resume(r);
    return status;
}

/* Gives up what is left of the epoch that is planned, for all ranks; with the lock held. */
static apl_status skip_rest(apl_reader *r, struct outlet *o, apl_error *err)
{
    TRY(quiet(r, o, err));
    schedule_clear(r);
    tally_begin(r, &o->tally, o->tally.epoch + 1, 0);
    apl_status status = planner_begin(r, outlets_epoch(r), 0, err);
    activity_resume(r);
    return status;
}

/* Is this the last rank that has anything to take of the epoch that is planned? */
static bool is_last_to_leave(const apl_reader *r, const struct outlet *o)
{
    for (unsigned i = 0; i < r->outlet_count; i++)
        if (&r->outlets[i] != o && r->outlets[i].tally.epoch <= o->tally.epoch)
            return false;
    /* A server does not wait: the rest is drawn, and made for nobody. */
    return (r->outlet_count == 1 || r->planner.epoch == o->tally.epoch) && r->notify < 0;
}

static apl_status next_epoch(apl_reader *r, struct outlet *o, apl_error *err)
{
    apl_status status = APL_OK;
    struct epoch_tally *t = &o->tally;
    uint64_t before = t->epoch;
    TRY(calls_check(&r->calls, false, err));
    if (o->calls > 0)
        return fail(err, APL_E_INVALID, "apl_reader_next_epoch: a thread is inside apl_reader_next()");
    bool whole = t->ended && (planner_is_ahead(&r->planner, before) || queue_is_empty(&o->queue));
    if (!whole && is_last_to_leave(r, o))
        status = skip_rest(r, o, err);
    else
        tally_begin(r, t, before + 1, 0);
    if (t->epoch != before)
        tally_clear(t);
    outlet_drop_stale(r, o);
    pthread_cond_broadcast(&r->work);
    if (r->outlet_count > 1)
        pthread_cond_broadcast(
            &r->done); /* callers for other ranks may have waited for this one, and work themselves */
    return status;
}

/* By a caller that is inside. */
static apl_status next_epoch_of(apl_reader *r, struct outlet *o, apl_error *err)
{
    calls_enter_epoch(r);
    apl_status status = r->provider ? r->provider->next_epoch(r, err) : next_epoch(r, o, err);
    calls_leave_epoch(r);
    return status;
}

apl_status apl_reader_next_epoch(apl_reader *r, apl_error *err)
{
    struct outlet *o;
    apl_error own;
    err = err ? err : &own;
    TRY(enter_to_wait(r, err));
    apl_status status = outlet_only(r, &o, err);
    if (status == APL_OK)
        status = next_epoch_of(r, o, err);
    reader_leave(r);
    return status;
}

apl_status apl_reader_next_epoch_of(apl_reader *r, unsigned rank, apl_error *err)
{
    struct outlet *o;
    apl_error own;
    err = err ? err : &own;
    TRY(enter_to_wait(r, err));
    apl_status status = outlet_find(r, rank, &o, err);
    if (status == APL_OK)
        status = next_epoch_of(r, o, err);
    reader_leave(r);
    return status;
}
