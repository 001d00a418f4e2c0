/* Planning batches: see planner.h. */
#include "planner.h"

#include "arriving.h"
#include "bucket_plan.h"
#include "deal.h"
#include "inside.h"
#include "packed_plan.h"
#include "trace.h"

#include <stdlib.h>

apl_status planner_open(apl_reader *r, apl_error *err)
{
    const struct reader_options *o = &r->spec.options;
    struct planner *p = &r->planner;
    TRY(bins_new(&o->plan, &r->spec.subset, &p->bins, err));
    p->length = o->pack.row ? o->pack.tokens : bins_length(p->bins);
    TRY(packed_plan_open(r, err));
    TRY(bucket_plan_open(r, err));
    p->global_batch = calloc((uint64_t)o->world * o->batch_size, sizeof *p->global_batch);
    return p->global_batch ? APL_OK : fail_nomem(err);
}

void planner_free(struct planner *p)
{
    bins_free(p->bins);
    free(p->global_batch);
    packed_plan_free(&p->packed);
    bucket_plan_free(&p->bucket);
}

/* How many deliveries the next global batch of the planned epoch has; 0: the epoch is over. */
static size_t next_size(const apl_reader *r)
{
    if (outlets_epoch(r) > r->planner.epoch) /* all ranks have left it */
        return 0;
    uint64_t whole = options_global_batch(&r->spec.options), left = r->planner.length - r->planner.position;
    if (options_end_epoch(&r->spec.options, left))
        return 0;
    return (size_t)(left < whole ? left : whole);
}

/* Takes n deliveries of the planned epoch without the lock; the caller is the one that plans. */
static size_t draw_deliveries(apl_reader *r, uint32_t *deliveries, size_t n)
{
    struct planner *p = &r->planner;
    bool failed = false;
    pthread_mutex_unlock(&r->lock);
    uint64_t begin = now_ns();
    size_t drawn = r->spec.options.bucket.batches ? bucket_plan_draw(r, deliveries, n, &failed)
                                                  : bins_take(p->bins, deliveries, n, &failed);
    uint64_t end = now_ns();
    trace_span("plan", begin, end, "epoch", p->epoch);
    pthread_mutex_lock(&r->lock);
    stats_add_plan(&r->counters, end - begin);
    if (failed)
        failure_nomem(r);
    p->position += drawn;
    cache_announce(r, p->bins);
    return drawn;
}

/* Draws the deliveries of the planned epoch's next n tokens, in the same way; false: the reader has failed. */
static bool draw_packed(apl_reader *r, uint64_t n)
{
    pthread_mutex_unlock(&r->lock);
    uint64_t begin = now_ns();
    bool drawn = packed_plan_draw(r, n);
    uint64_t end = now_ns();
    pthread_mutex_lock(&r->lock);
    stats_add_plan(&r->counters, end - begin);
    if (!drawn)
        failure_nomem(r);
    r->planner.position += n;
    cache_announce(r, r->planner.bins);
    return drawn;
}

/* Draws n deliveries, or tokens, of the planned epoch that this reader will not make. Returns how many. */
static size_t draw_and_pass(apl_reader *r, uint64_t n)
{
    uint64_t most =
        r->spec.options.pack.row ? options_global_batch(&r->spec.options) : r->spec.options.batch_size;
    size_t some = (size_t)(n < most ? n : most);
    if (r->spec.options.pack.row) {
        if (draw_packed(r, some))
            packed_plan_pass(r);
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
    struct sampler *sampler = r->spec.options.plan.sampler;
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
    packed_plan_begin(r);
    bucket_plan_begin(&p->bucket);
    bins_begin(p->bins, epoch);
    cache_begin_epoch(r, epoch);
    arriving_begin(r, epoch);
    if (r->spec.options.free_order)
        cache_announce(r, p->bins);
}

/* What a packed sample has beyond the tokens of an epoch. */
static void drop_beyond(apl_reader *r)
{
    bool failed = false;
    for (size_t n = 1; n && !failed;) {
        pthread_mutex_unlock(&r->lock);
        n = packed_plan_draw_rest(r, &failed);
        pthread_mutex_lock(&r->lock);
        cache_announce(r, r->planner.bins);
        packed_plan_pass(r);
    }
    if (failed)
        failure_nomem(r);
}

/* What drop_last leaves over must not keep its slots. */
static void drop_rest(apl_reader *r)
{
    while (r->planner.position < r->planner.length && !failure_is(&r->failure)) {
        if (draw_and_pass(r, r->planner.length - r->planner.position) == 0)
            return; /* free order: to be gone on with when more is there */
    }
    if (r->spec.options.pack.row && r->spec.options.plan.sampler)
        drop_beyond(r);
}

static void take_delivery(struct job *job, uint64_t position, uint32_t delivery)
{
    if (job->rows == 0)
        job->position = position;
    job->deliveries[job->rows++] = delivery;
}

/* Deals the n deliveries of the global batch, the first of which is at `position`. What no rank takes here is passed. */
static void deal(apl_reader *r, uint64_t position, size_t n)
{
    const uint32_t *drawn = r->planner.global_batch;
    struct deal dealt = deal_begin(&r->spec.options, position, n);
    for (size_t k = 0; k < n; k++) {
        uint64_t rank = deal_rank(&dealt, k);
        struct job *job = outlets_planning(r, rank);
        if (job)
            take_delivery(job, position + k, drawn[k]);
        else
            cache_pass(r, &drawn[k], 1);
    }
}

/* The ranks' rows of a global batch of `n` tokens; false: the reader has failed. */
static bool plan_packed(apl_reader *r, size_t n)
{
    uint64_t position = r->planner.position;
    if (!draw_packed(r, n))
        return false;
    packed_plan_share(r, position, n);
    return true;
}

/* The ranks' shares of a global batch of `n` deliveries; false: the reader has failed, and no batch comes short. */
static bool plan_deliveries(apl_reader *r, size_t n)
{
    struct job *alone = r->spec.options.world == 1 ? r->outlets[0].planning : NULL;
    uint64_t position = r->planner.position;
    size_t drawn = draw_deliveries(r, alone ? alone->deliveries : r->planner.global_batch, n);
    if (drawn < n)
        return false;
    if (alone)
        alone->rows = (uint32_t)drawn;
    else
        deal(r, position, n);
    return true;
}

/* Memory for the batch of a rank; without the lock, since the caller's allocator may take its time. */
static bool take_buffer(apl_reader *r, struct outlet *o)
{
    pthread_mutex_unlock(&r->lock);
    const apl_reader *before = inside_callback_begin(r);
    struct batch_buffer *buffer = pool_take(o->pool);
    inside_callback_end(before);
    pthread_mutex_lock(&r->lock);
    o->starved = !buffer;
    if (!buffer && pool_is_bare(o->pool))
        failure_nomem(r);
    if (!buffer)
        return false;
    o->planning = queue_next_free(&o->queue);
    o->planning->buffer = buffer;
    return true;
}

static void give_buffers(apl_reader *r)
{
    for (unsigned i = 0; i < r->outlet_count; i++) {
        struct job *job = r->outlets[i].planning;
        if (!job)
            continue;
        pool_give(job->buffer);
        job->buffer = NULL;
        r->outlets[i].planning = NULL;
    }
}

/* Begins a batch for each rank that takes part; false: there is no memory for all of them, and so for none. */
static bool take_buffers(apl_reader *r)
{
    for (unsigned i = 0; i < r->outlet_count; i++) {
        if (!outlet_takes_part(r, &r->outlets[i]) || take_buffer(r, &r->outlets[i]))
            continue;
        give_buffers(r);
        return false;
    }
    return true;
}

static void prepare(const apl_reader *r, struct outlet *o)
{
    struct job *job = o->planning;
    job->outlet = o;
    job->rank = o->rank;
    job->epoch = r->planner.epoch;
    job->position = r->planner.position;
    job->rows = job->checked = job->undecodable = 0;
    atomic_init(&job->ahead, 0);
    job->consumed = false;
    job->lacks = 0;
    job->made = NULL;
    job->status = APL_OK;
}

/* Fills in the batches that have been begun with their shares of a global batch of `n` deliveries, or tokens. */
static void plan_jobs(apl_reader *r, size_t n)
{
    for (unsigned i = 0; i < r->outlet_count; i++)
        if (r->outlets[i].planning)
            prepare(r, &r->outlets[i]);
    if (!(r->spec.options.pack.row ? plan_packed(r, n) : plan_deliveries(r, n))) { /* out of memory */
        give_buffers(r);
        return;
    }
    uint64_t now = now_ns();
    for (unsigned i = 0; i < r->outlet_count; i++) {
        struct outlet *o = &r->outlets[i];
        if (!o->planning)
            continue;
        o->planning->end = r->planner.position;
        o->planning->when = (struct milestones){now, now, now};
        cache_demand(r, o->planning);
        queue_push(&o->queue);
        o->planning = NULL;
    }
}

/* May the epoch be begun that follows the planned one? Who stages wants no more than he asks for. */
static bool is_wanted_next(const apl_reader *r)
{
    bool wanted = !r->spec.options.stages;
    for (unsigned i = 0; i < r->outlet_count && !wanted; i++)
        wanted = r->outlets[i].tally.epoch > r->planner.epoch;
    return wanted;
}

/* Is there something to plan, of n deliveries, or (n is 0) an epoch to begin? */
static bool may_plan(apl_reader *r, size_t n)
{
    if (r->planner.busy || !outlets_have_places(r) || failure_is(&r->failure))
        return false;
    /* At most one epoch ahead: two epochs' blocks are kept apart by parity. A block of the epoch before the planned one that is
     * still being loaded (perhaps one that nobody waits for, where epochs end before they begin) has the place of the next. */
    if (n == 0 &&
        (planner_is_ahead(&r->planner, outlets_behind(r)) || cache_loads_late(r) || !is_wanted_next(r)))
        return false;
    return arriving_stands(r, n ? n : 1);
}

/* Drops the rest of the epoch, and begins the next. */
static void turn_epoch(apl_reader *r)
{
    drop_rest(r);
    if (r->planner.position < r->planner.length)
        return;
    draw_sample(r, r->planner.epoch + 1);
    pthread_mutex_unlock(&r->lock);
    future_see(r, r->planner.epoch + 1);
    pthread_mutex_lock(&r->lock);
    begin_epoch(r, r->planner.epoch + 1);
}

bool planner_act(apl_reader *r)
{
    size_t n = next_size(r);
    if (!may_plan(r, n))
        return false;
    bool room = n == 0 || outlets_have_memory(r), begun = false;
    r->planner.busy = true;
    activity_enter(r);
    if (n && room && (begun = take_buffers(r)))
        plan_jobs(r, n);
    else if (n == 0)
        turn_epoch(r);
    activity_leave(r);
    r->planner.busy = false;
    stats_set_held(&r->counters, n && !begun);
    if (n && !begun) { /* a caller that waits may have to get APL_E_LENT */
        if (outlets_any_waits_in_vain(r))
            pthread_cond_broadcast(&r->done);
        return room; /* then the lock was released meanwhile: look again before waiting, or a wake-up is missed */
    }
    pthread_cond_broadcast(&r->work);
    return true;
}

/* Goes to a place of the epoch whose bins have been begun, or before it: where a pool of batches begins. Where tokens begin is known only by
 * those before. */
static void jump(apl_reader *r, uint64_t position)
{
    struct planner *p = &r->planner;
    bool failed = false;
    if (r->spec.options.bucket.batches)
        position -= position % r->spec.options.bucket.pool;
    if (r->spec.options.pack.row || !bins_jump(p->bins, position, cache_evicts(&r->cache), &failed))
        return;
    if (failed)
        failure_nomem(r);
    size_t n;
    uint32_t *past = bins_past(p->bins, &n);
    p->position = position;
    bucket_plan_jump(r, position);
    cache_announce(r, p->bins);
    cache_pass(r, past, n);
    free(past);
}

apl_status planner_begin(apl_reader *r, uint64_t epoch, uint64_t position, apl_error *err)
{
    struct planner *p = &r->planner;
    future_see(r, epoch);
    begin_epoch(r, epoch);
    if (r->spec.options.free_order) {
        p->position = position; /* what has been delivered is not put into the bins */
        return APL_OK;
    }
    jump(r, position);
    while (p->position < position && !failure_is(&r->failure))
        draw_and_pass(r, position - p->position);
    return failure_tell(&r->failure, err);
}
