/* Planning batches: see planner.h. */
#include "planner.h"

#include "buckets.h"
#include "inside.h"
#include "packing.h"

#include <stdlib.h>

apl_status planner_open(apl_reader *r, apl_error *err)
{
    const struct reader_options *o = &r->options;
    struct planner *p = &r->planner;
    TRY(plan_new(&o->plan, &r->subset, &p->plan, err));
    p->length = o->pack.row ? o->pack.tokens : plan_length(p->plan);
    TRY(packing_plan_open(r, err));
    TRY(buckets_plan_open(r, err));
    p->global_batch = calloc((uint64_t)o->world * o->batch_size, sizeof *p->global_batch);
    return p->global_batch ? APL_OK : fail_nomem(err);
}

void planner_free(struct planner *p)
{
    plan_free(p->plan);
    free(p->global_batch);
    packing_plan_free(&p->packed);
    buckets_plan_free(&p->bucket);
}

/* How many deliveries the next global batch of the planned epoch has; 0: the epoch is over. */
static size_t next_size(const apl_reader *r)
{
    uint64_t whole = options_global_batch(&r->options), left = r->planner.length - r->planner.position;
    if (options_end_epoch(&r->options, left))
        return 0;
    return (size_t)(left < whole ? left : whole);
}

/* Draws n deliveries of the planned epoch without the lock; the caller is the one that plans. */
static size_t draw_deliveries(apl_reader *r, uint32_t *deliveries, size_t n)
{
    struct planner *p = &r->planner;
    bool failed = false;
    pthread_mutex_unlock(&r->lock);
    uint64_t begin = now_ns();
    size_t drawn = r->options.free_order       ? free_order_draw(r, deliveries, n)
                   : r->options.bucket.batches ? buckets_draw(r, deliveries, n, &failed)
                                               : plan_next(p->plan, deliveries, n, &failed);
    uint64_t end = now_ns();
    pthread_mutex_lock(&r->lock);
    stats_add_plan(&r->counters, end - begin);
    if (failed)
        failure_nomem(r);
    p->position += drawn;
    cache_announce(r, p->plan);
    return drawn;
}

/* Draws the deliveries of the planned epoch's next n tokens, in the same way; false: the reader has failed. */
static bool draw_packed(apl_reader *r, uint64_t n)
{
    pthread_mutex_unlock(&r->lock);
    uint64_t begin = now_ns();
    bool drawn = packing_draw(r, n);
    uint64_t end = now_ns();
    pthread_mutex_lock(&r->lock);
    stats_add_plan(&r->counters, end - begin);
    if (!drawn)
        failure_nomem(r);
    r->planner.position += n;
    cache_announce(r, r->planner.plan);
    return drawn;
}

/* Draws n deliveries, or tokens, of the planned epoch that this reader will not make. Returns how many. */
static size_t draw_and_pass(apl_reader *r, uint64_t n)
{
    uint64_t most = r->options.pack.row ? options_global_batch(&r->options) : r->options.batch_size;
    size_t some = (size_t)(n < most ? n : most);
    if (r->options.pack.row) {
        if (draw_packed(r, some))
            packing_pass(r);
        return some;
    }
    some = draw_deliveries(r, r->planner.global_batch, some);
    cache_pass(r, r->planner.global_batch, some);
    return some;
}

/* Draws the sample of an epoch to come without the lock, which takes as long as some batches; the caller is the one that
 * plans. Its memory was that of the epoch before the last, of which everything has been handed out. */
static void draw_sample(apl_reader *r, uint64_t epoch)
{
    struct sampler *sampler = r->options.plan.sampler;
    if (!sampler)
        return;
    pthread_mutex_unlock(&r->lock);
    uint64_t begin = now_ns();
    sampler_draw(sampler, epoch);
    uint64_t end = now_ns();
    pthread_mutex_lock(&r->lock);
    stats_add_plan(&r->counters, end - begin);
}

static void begin_epoch(apl_reader *r, uint64_t epoch)
{
    struct planner *p = &r->planner;
    p->epoch = epoch;
    p->position = 0;
    packing_begin(r);
    buckets_begin(&p->bucket);
    plan_begin(p->plan, epoch);
    cache_begin_epoch(r, p->plan, epoch);
    free_order_begin(r, epoch);
    if (r->options.free_order)
        cache_announce(r, p->plan);
}

/* What drop_last leaves over must not keep its slots. */
static void drop_rest(apl_reader *r)
{
    while (r->planner.position < r->planner.length && !failure_is(&r->failure)) {
        if (draw_and_pass(r, r->planner.length - r->planner.position) == 0)
            return; /* free order: to be gone on with when more is there */
    }
}

/* This rank's share of a global batch of n deliveries, first..: with lanes every world-th position, so that full rounds bring a rank its own
 * lanes; else a run of them. The rest is passed. */
static size_t take_share(apl_reader *r, uint64_t position, size_t n, uint32_t *share, uint64_t *first)
{
    const struct reader_options *o = &r->options;
    bool full = n == (size_t)o->world * o->batch_size;
    size_t from = full ? o->rank * o->batch_size : n * o->rank / o->world, taken = 0;
    size_t to = full ? from + o->batch_size : n * (o->rank + 1) / o->world;
    for (size_t k = 0; k < n; k++) {
        bool mine = o->plan.lanes > 1 ? (position + k) % o->world == o->rank : k >= from && k < to;
        if (!mine) {
            cache_pass(r, &r->planner.global_batch[k], 1);
            continue;
        }
        *first = taken ? *first : position + k;
        share[taken++] = r->planner.global_batch[k];
    }
    return taken;
}

/* This rank's rows of a global batch of `n` tokens; false: the reader has failed. */
static bool plan_packed(apl_reader *r, struct job *job, size_t n)
{
    uint64_t position = r->planner.position;
    if (!draw_packed(r, n))
        return false;
    packing_share(r, job, position, n);
    return true;
}

/* This rank's share of a global batch of `n` deliveries; false: the reader has failed, and no batch comes short. */
static bool plan_deliveries(apl_reader *r, struct job *job, size_t n)
{
    bool alone = r->options.world == 1;
    uint64_t position = r->planner.position;
    job->position = position;
    size_t drawn = draw_deliveries(r, alone ? job->deliveries : r->planner.global_batch, n);
    if (drawn < n)
        return false;
    job->rows = (uint32_t)(alone ? drawn : take_share(r, position, drawn, job->deliveries, &job->position));
    return true;
}

/* Fills in a job with this rank's share of a global batch of `n` deliveries, or tokens. */
static void plan_job(apl_reader *r, struct job *job, struct batch_buffer *buffer, size_t n)
{
    job->epoch = r->planner.epoch;
    if (!(r->options.pack.row ? plan_packed(r, job, n) : plan_deliveries(r, job, n))) { /* out of memory */
        pool_give(buffer);
        return;
    }
    job->end = r->planner.position;
    job->checked = 0;
    job->undecodable = 0;
    job->status = APL_OK;
    job->buffer = buffer;
    cache_demand(r, job);
    queue_push(&r->queue);
}

/* A buffer for a batch; without the lock, since the caller's allocator may take its time. */
static struct batch_buffer *take_buffer(apl_reader *r)
{
    pthread_mutex_unlock(&r->lock);
    const apl_reader *before = inside_callback_begin(r);
    struct batch_buffer *buffer = pool_take(r->pool);
    inside_callback_end(before);
    pthread_mutex_lock(&r->lock);
    if (!buffer && pool_is_bare(r->pool))
        failure_nomem(r);
    return buffer;
}

/* Is there something to plan, of n deliveries, or (n is 0) an epoch to begin? */
static bool may_plan(apl_reader *r, size_t n)
{
    if (r->planner.busy || queue_is_full(&r->queue) || failure_is(&r->failure))
        return false;
    /* At most one epoch ahead: two epochs' blocks are kept apart by parity. A block of the epoch before the planned one that is
     * still being loaded (perhaps one that nobody waits for, where epochs end before they begin) has the place of the next. */
    if (n == 0 && (planner_is_ahead(&r->planner, r->tally.epoch) || cache_loads_late(r)))
        return false;
    return free_order_stands(r, n ? n : 1);
}

/* Drops the rest of the epoch, and begins the next. */
static void turn_epoch(apl_reader *r)
{
    drop_rest(r);
    if (r->planner.position < r->planner.length)
        return;
    draw_sample(r, r->planner.epoch + 1);
    begin_epoch(r, r->planner.epoch + 1);
}

bool planner_act(apl_reader *r)
{
    size_t n = next_size(r);
    if (!may_plan(r, n))
        return false;
    bool room = n == 0 || pool_can_take(r->pool);
    struct batch_buffer *buffer = NULL;
    r->planner.busy = true;
    activity_enter(r);
    if (n && room && (buffer = take_buffer(r)))
        plan_job(r, queue_next_free(&r->queue), buffer, n);
    else if (n == 0)
        turn_epoch(r);
    activity_leave(r);
    r->planner.busy = false;
    if (n && !buffer) { /* a caller that waits may have to be told that all are lent */
        if (queue_is_empty(&r->queue))
            pthread_cond_broadcast(&r->done);
        return room; /* then the lock was let go of meanwhile: look again before waiting, or a wake-up is missed */
    }
    pthread_cond_broadcast(&r->work);
    return true;
}

apl_status planner_begin(apl_reader *r, uint64_t epoch, uint64_t position, apl_error *err)
{
    struct planner *p = &r->planner;
    begin_epoch(r, epoch);
    if (r->options.free_order) {
        p->position = position; /* what has been delivered is not put into the bins */
        return APL_OK;
    }
    while (p->position < position && !failure_is(&r->failure))
        draw_and_pass(r, position - p->position);
    return failure_tell(&r->failure, err);
}
