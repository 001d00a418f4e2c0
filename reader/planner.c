/* Planning batches: see planner.h. */
#include "planner.h"

#include "block_cache.h"
#include "failure.h"
#include "inside.h"
#include "stats.h"

bool planning_is_end(const apl_reader *r, uint64_t position)
{
    uint64_t left = r->plan_length - position;
    return left == 0 || (r->options.drop_last && left < (uint64_t)r->options.world * r->options.batch_size);
}

/* How many deliveries the next step of the planned epoch has; 0: the epoch is over. */
static size_t step_size(const apl_reader *r)
{
    uint64_t whole = (uint64_t)r->options.world * r->options.batch_size,
             left = r->plan_length - r->plan_position;
    if (left < whole && r->options.drop_last)
        return 0;
    return (size_t)(left < whole ? left : whole);
}

/* Draws n deliveries of the planned epoch without the lock; the caller is the one that plans. */
static size_t draw_deliveries(apl_reader *r, uint32_t *deliveries, size_t n)
{
    bool failed = false;
    pthread_mutex_unlock(&r->lock);
    uint64_t begin = now_ns();
    size_t drawn = r->options.free_order
                       ? bins_draw(r->bins[r->plan_epoch & 1], r->bins_scratch, deliveries, n)
                       : plan_next(r->plan, deliveries, n, &failed);
    uint64_t end = now_ns();
    pthread_mutex_lock(&r->lock);
    r->counters.plan_ns += end - begin;
    if (failed)
        failure_nomem(r);
    r->plan_position += drawn;
    residents_announce(r);
    return drawn;
}

/* Draws the sample of an epoch to come without the lock, which takes as long as some batches; the caller is the one that
 * plans. Its memory was that of the epoch before the last, of which everything has been handed out. */
static void draw_sample(apl_reader *r, uint64_t epoch)
{
    if (!r->sampler)
        return;
    pthread_mutex_unlock(&r->lock);
    uint64_t begin = now_ns();
    sampler_draw(r->sampler, epoch);
    uint64_t end = now_ns();
    pthread_mutex_lock(&r->lock);
    r->counters.plan_ns += end - begin;
}

static void begin_epoch(apl_reader *r, uint64_t epoch)
{
    uint64_t seed = r->options.plan.seed;
    r->plan_epoch = epoch;
    r->plan_position = 0;
    r->announced = r->inserted = 0;
    /* What is left in front of the queue is of the epoch before the last, and went to others: it must not be taken
     * for the blocks of the same number that this epoch queues. */
    residents_trim(r);
    plan_begin(r->plan, epoch);
    residents_choose_stay(r);
    if (r->options.free_order) {
        bins_begin(r->bins[epoch & 1], random_epoch_key(seed, epoch, RANDOM_BINS),
                   random_epoch_key(seed, epoch, RANDOM_DRAWS));
        residents_announce(r);
    }
}

/* What drop_last leaves over must not keep its slots. */
static void drop_rest(apl_reader *r)
{
    while (r->plan_position < r->plan_length && r->status == APL_OK) {
        size_t n = (size_t)(r->plan_length - r->plan_position);
        n = draw_deliveries(r, r->step, n < r->options.batch_size ? n : r->options.batch_size);
        residents_pass(r, r->step, n);
        if (n == 0)
            return; /* free order: to be gone on with when more is there */
    }
}

/* This rank's share of a step of n deliveries, first..: with lanes every world-th position, so that full rounds bring a rank its own
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
            residents_pass(r, &r->step[k], 1);
            continue;
        }
        *first = taken ? *first : position + k;
        share[taken++] = r->step[k];
    }
    return taken;
}

/* Fills in a job with this rank's share of a step of `n` deliveries. */
static void plan_job(apl_reader *r, struct job *job, struct batch_buffer *buffer, size_t n)
{
    bool alone = r->options.world == 1;
    uint64_t position = r->plan_position;
    job->epoch = r->plan_epoch;
    job->position = position;
    size_t drawn = draw_deliveries(r, alone ? job->deliveries : r->step, n);
    if (drawn < n) { /* without memory: the reader has failed, and no batch comes short */
        pool_give(buffer);
        return;
    }
    job->rows = (uint32_t)(alone ? drawn : take_share(r, position, drawn, job->deliveries, &job->position));
    job->end = r->plan_position;
    job->checked = 0;
    job->status = APL_OK;
    job->buffer = buffer;
    residents_demand(r, job);
    job->stage = JOB_PLANNED;
    r->tail++;
}

/* Free order draws a batch when enough stands, or all that is left does. */
static bool enough_stands(apl_reader *r, size_t n)
{
    if (!r->options.free_order || r->inserted == r->subset.blocks)
        return true;
    return !r->options.fill && bins_standing(r->bins[r->plan_epoch & 1]) >= n;
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

/* Is a block of the epoch before the planned one still being loaded? It may be one that nobody waits for, where epochs end
 * before they begin; the next epoch has its place, by parity, and must not take it for its own. */
static bool loads_late(const apl_reader *r)
{
    const struct resident *before = r->residents[(r->plan_epoch + 1) & 1];
    for (uint32_t i = 0; !r->options.kept && i < r->subset.blocks; i++)
        if (before[i].stage == BLOCK_LOADING)
            return true;
    return false;
}

/* Is there something to plan, of n deliveries, or (n is 0) an epoch to begin? */
static bool may_plan(apl_reader *r, size_t n)
{
    if (r->planning || r->tail - r->head >= r->depth || r->status != APL_OK)
        return false;
    if (n == 0 &&
        r->plan_epoch > r->epoch) /* at most one epoch ahead: two epochs' blocks are kept apart by parity */
        return false;
    if (n == 0 && loads_late(r))
        return false;
    return enough_stands(r, n ? n : 1);
}

bool planning_step(struct worker *w)
{
    apl_reader *r = w->reader;
    size_t n = step_size(r);
    if (!may_plan(r, n))
        return false;
    bool room = n == 0 || pool_can_take(r->pool);
    struct batch_buffer *buffer = NULL;
    r->planning = true;
    r->active++;
    if (n && room && (buffer = take_buffer(r))) {
        plan_job(r, r->jobs[r->tail % r->depth], buffer, n);
    } else if (n == 0) {
        drop_rest(r);
        if (r->plan_position == r->plan_length) {
            draw_sample(r, r->plan_epoch + 1);
            begin_epoch(r, r->plan_epoch + 1);
        }
    }
    r->active--;
    r->planning = false;
    if (n && !buffer) { /* a caller that waits may have to be told that all are lent */
        if (r->head == r->tail)
            pthread_cond_broadcast(&r->done);
        return room; /* then the lock was let go of meanwhile: look again before waiting, or a wake-up is missed */
    }
    pthread_cond_broadcast(&r->work);
    return true;
}

apl_status planning_begin(apl_reader *r, uint64_t epoch, uint64_t position, apl_error *err)
{
    r->epoch = epoch;
    r->position = position;
    begin_epoch(r, epoch);
    if (r->options.free_order) {
        r->plan_position = position; /* what has been delivered is not put into the bins */
        return APL_OK;
    }
    while (r->plan_position < position && r->status == APL_OK) {
        uint64_t left = position - r->plan_position;
        size_t n =
            draw_deliveries(r, r->step, left < r->options.batch_size ? (size_t)left : r->options.batch_size);
        residents_pass(r, r->step, n);
    }
    if (r->status != APL_OK)
        *err = r->error;
    return r->status;
}
