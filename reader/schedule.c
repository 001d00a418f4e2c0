/* What a thread does next: see schedule.h. */
#include "schedule.h"

#include "cache_ahead.h"
#include "collate.h"
#include "delivery.h"
#include "inside.h"
#include "late.h"
#include "late_ahead.h"
#include "late_fields.h"
#include "load.h"
#include "need.h"
#include "runs.h"

/* --------------------------------------------------------------------------------------------- loading */

/* Decoded, of fields of fixed shape. */
static uint64_t decoded_bytes(const apl_reader *r, uint32_t index)
{
    uint64_t bytes = 0;
    for (unsigned f = 0; f < r->spec.schema->count; f++)
        bytes += r->cache.standing.slab.value_bytes[f];
    return bytes * r->spec.subset.block[index].records;
}

/* The block that is to be loaded now, and those that will be next, of stores elsewhere; and then, as far as there is room, those that have
 * not entered yet. With the lock held: one of them that another thread loads meanwhile would be fetched twice. */
static void blocks_ahead(apl_reader *r, struct load_item item)
{
    struct load_item next[LOADS_AHEAD + 1] = {item}, later;
    bool room = load_ahead(r, next, 1 + cache_next(r, next + 1, LOADS_AHEAD), false);
    while (room && cache_beyond(r, &later) && (room = load_ahead(r, &later, 1, true)))
        r->cache.beyond++;
}

static bool act_load(struct worker *w)
{
    apl_reader *r = w->reader;
    struct load_item item;
    if (!w->loads || !cache_take(r, &item))
        return false;
    if (r->spec.elsewhere)
        blocks_ahead(r, item);
    struct load_item here[CACHE_UNASKED];
    unsigned count = residence_is_sure(&w->blocks) ? 0 : cache_unasked(r, item, here);
    activity_enter(r);
    pthread_mutex_unlock(&r->lock);
    load_ahead_here(r, here, count);
    apl_error error;
    struct loaded_block loaded;
    w->bytes_read = 0;
    w->spent = (struct spent){0};
    w->again = future_of_block(r, item.parity, item.index);
    uint64_t begin = now_ns();
    apl_status status =
        load_block(w, item.index, cache_block(&r->cache, item.parity, item.index), &loaded, &error);
    uint64_t end = now_ns();
    trace_span("load", begin, end, "block", r->spec.subset.block[item.index].number);
    residence_note(&w->blocks, load_is_probe(item), residence_at_once(w->spent.reading, w->bytes_read));
    pthread_mutex_lock(&r->lock);
    activity_leave(r);
    stats_add_load(&r->counters, end - begin, &w->spent);
    if (!loaded.found)
        stats_count_block(&r->counters, w->bytes_read, decoded_bytes(r, item.index));
    cache_loaded(r, item, loaded.ragged, status, &error);
    return true;
}

/* ------------------------------------------------------------------------------------------- collating */

/* The error that a batch with a bad block ends in, unless such rows are to be left out. */
static bool tolerated(apl_reader *r, struct job *job, uint32_t index)
{
    const struct cached_block *b = cache_block(&r->cache, job->epoch, index);
    if (job_is_stale(job) || bad_blocks_meet(r, &job->outlet->bad, index))
        return true;
    job->status = APL_E_CORRUPT;
    if (b->error)
        job->error = *b->error;
    else
        fail_nomem(&job->error);
    bad_blocks_name_limit(r, &job->error);
    return false;
}

/* Have all batches before this one all that they need, or an error? Bad blocks count in the order of batches, so that in
 * strict order the limit is exceeded at the same place whoever loads. */
static bool is_first_unchecked(const struct job *job)
{
    const struct batch_queue *queue = &job->outlet->queue;
    for (uint64_t i = 0; queue_at(queue, i) != job; i++) {
        const struct job *before = queue_at(queue, i);
        if (before->stage == JOB_PLANNED && before->checked < before->rows)
            return false;
    }
    return true;
}

/* Are all blocks of a batch there? Also if it cannot be collated for one that never will. */
static bool is_ready(apl_reader *r, struct job *job)
{
    const struct bad_blocks *bad = &job->outlet->bad;
    job->corrupt = bad->records;
    if (cache_is_whole(r))
        return true;
    for (; job->checked < job->rows; job->checked++) {
        uint32_t nth, copy, index = delivery_block(&r->spec, job->deliveries[job->checked], &nth, &copy);
        const struct cached_block *b = cache_block(&r->cache, job->epoch, index);
        if (b->stage != BLOCK_IN && b->stage != BLOCK_BAD)
            return false;
        if (b->stage == BLOCK_BAD && !bad_blocks_know(bad, index) && !is_first_unchecked(job))
            return false;
        if (b->stage == BLOCK_BAD && !tolerated(r, job, index))
            return true;
        job->corrupt = bad->records;
    }
    return true;
}

/* The block that the batch to come waits for: that of its first row that is not here, or any that is being loaded. */
bool schedule_waits_for(apl_reader *r, const struct outlet *o, uint32_t *index)
{
    struct job *job = queue_is_empty(&o->queue) ? NULL : queue_at(&o->queue, 0);
    if (job && job->stage == JOB_PLANNED && !is_ready(r, job)) {
        uint32_t nth, copy;
        *index = delivery_block(&r->spec, job->deliveries[job->checked], &nth, &copy);
        return true;
    }
    return cache_finds_loading(r, index);
}

/* Is it what its rank waits for? That is collated whatever the budget has room for, so that there is no standstill. */
static bool is_head(const struct job *job)
{
    return queue_at(&job->outlet->queue, 0) == job;
}

/* May it be collated, as far as memory is concerned? */
static bool has_memory(const struct job *job)
{
    return job->lacks == 0 || is_head(job) || job_is_stale(job) ||
           pool_has_room(job->buffer->pool, job->lacks);
}

/* Of all ranks, what the rank takes soonest. */
static struct job *ready_job(apl_reader *r)
{
    bool more = true;
    for (uint64_t i = 0; more; i++) {
        more = false;
        for (unsigned k = 0; k < r->outlet_count; k++) {
            const struct batch_queue *queue = &r->outlets[k].queue;
            if (i >= queue_length(queue))
                continue;
            struct job *job = queue_at(queue, i);
            if (job->stage == JOB_PLANNED && is_ready(r, job) && has_memory(job))
                return job;
            more = true;
        }
    }
    return NULL;
}

static void call_back(struct worker *w, apl_batch *batch)
{
    const struct reader_options *o = &w->reader->spec.options;
    uint64_t begin = now_ns();
    const apl_reader *before = inside_callback_begin(w->reader);
    o->on_batch(o->on_batch_user, batch);
    inside_callback_end(before);
    uint64_t end = now_ns();
    w->spent.callback += end - begin;
    trace_span("on_batch", begin, end, "rows", batch->rows);
}

/* stale: the rank has left the epoch, and nobody will see the batch. */
static apl_status collate_job(struct worker *w, struct job *job, bool stale)
{
    const struct reader_options *o = &w->reader->spec.options;
    job->when.begun = now_ns();
    apl_status status = stale ? APL_OK : collate_batch(w, job, &job->error);
    if (w->spec->options.bounded)
        pool_settle(job->buffer);
    cache_release(w->reader, job, w->slots);
    if (o->on_batch && !stale && status == APL_OK)
        call_back(w, &job->buffer->batch);
    job->when.done = now_ns();
    trace_span("assemble", job->when.begun, job->when.done, "position", job->position);
    return status;
}

/* The values that this batch and those after it need from elsewhere. With the lock held: their blocks may go as soon as it is
 * given up. */
static void values_ahead(apl_reader *r, struct job *job)
{
    bool room = late_ahead(r, job);
    for (uint64_t i = 0; room && i < queue_length(&job->outlet->queue); i++) {
        struct job *other = queue_at(&job->outlet->queue, i);
        if (other->stage == JOB_PLANNED && is_ready(r, other) && other->status == APL_OK)
            room = late_ahead(r, other);
    }
}

static void count_collated(struct worker *w, struct job *job, apl_status status)
{
    apl_reader *r = w->reader;
    job->status = status;
    stats_add_collate(&r->counters, job->when.done - job->when.begun, &w->spent);
    stats_add_read(&r->counters, w->bytes_read);
    cache_consume(r, job);
}

/* Collates a batch, without the lock; false: it is put off, as there is no room for it yet. */
static bool collate(struct worker *w, struct job *job)
{
    apl_reader *r = w->reader;
    bool stale = job_is_stale(job), head = is_head(job);
    queue_begin(job);
    if (r->spec.elsewhere)
        values_ahead(r, job);
    w->at = job;
    activity_enter(r);
    pthread_mutex_unlock(&r->lock);
    w->bytes_read = 0;
    w->spent = (struct spent){0};
    job->lacks = r->spec.options.bounded && !stale ? need_reserve(w, job, head) : 0;
    apl_status status = job->lacks ? APL_OK : collate_job(w, job, stale);
    pthread_mutex_lock(&r->lock);
    activity_leave(r);
    w->at = NULL;
    if (job->lacks)
        queue_put_off(job);
    else
        count_collated(w, job, status);
    return !job->lacks;
}

/* A batch is finished. Without the lock, which a caller that wakes up takes: else it would go to sleep again until it is free. */
static void tell_callers(apl_reader *r)
{
    pthread_mutex_unlock(&r->lock);
    pthread_cond_broadcast(&r->done);
    pthread_mutex_lock(&r->lock);
}

static bool act_collate(struct worker *w)
{
    apl_reader *r = w->reader;
    struct job *job = w->collates ? ready_job(r) : NULL;
    if (!job)
        return false;
    if (job->status == APL_OK && !collate(w, job))
        return true;
    queue_finish(r, job);
    outlet_drop_stale(r, job->outlet);
    if (cache_evicts(&r->cache))
        pthread_cond_broadcast(&r->work); /* there is room again */
    tell_callers(r);
    return true;
}

/* Fills or shuffles bins for who plans, without the lock. */
static bool act_fill(struct worker *w)
{
    apl_reader *r = w->reader;
    struct bins_work work;
    if (!bins_claim(r->planner.bins, &work))
        return false;
    activity_enter(r);
    pthread_mutex_unlock(&r->lock);
    uint64_t begin = now_ns();
    bins_do(r->planner.bins, &work);
    uint64_t end = now_ns();
    pthread_mutex_lock(&r->lock);
    activity_leave(r);
    stats_add_plan(&r->counters, end - begin);
    return true;
}

bool schedule_act(struct worker *w)
{
    if (activity_is_paused(&w->reader->activity))
        return false;
    return (w->collates && runs_help_first(w)) || act_collate(w) || planner_act(w->reader) || act_load(w) ||
           act_fill(w) || (w->collates && runs_help_any(w));
}

/* ------------------------------------------------------------------------------------------- clearing */

void schedule_clear(apl_reader *r)
{
    for (unsigned i = 0; i < r->outlet_count; i++)
        queue_clear(&r->outlets[i].queue);
    cache_clear(r);
}
