/* What a rank takes its batches from: see outlet.h. */
#include "reader.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------------------- opening */

static apl_status open_outlet(apl_reader *r, struct outlet *o, apl_error *err)
{
    const struct reader_options *options = &r->spec.options;
    unsigned collating = options->consumers ? options->consumers : options->threads ? options->threads : 1;
    TRY(queue_open(&o->queue, options->queue_depth + collating, options_most(options), options->free_order,
                   err));
    TRY(bad_blocks_open(&o->bad, r->spec.subset.blocks, err));
    uint64_t most = plan_shape(&options->plan, &r->spec.subset).deliveries;
    return tally_open(&o->tally, most, r->planner.length, err);
}

apl_status outlets_open(apl_reader *r, apl_error *err)
{
    const struct reader_options *options = &r->spec.options;
    r->outlets = calloc(options->rank_count, sizeof *r->outlets);
    r->seats = calloc(options->world, sizeof *r->seats);
    if (!r->outlets || !r->seats)
        return fail_nomem(err);
    for (; r->outlet_count < options->rank_count; r->outlet_count++) {
        struct outlet *o = &r->outlets[r->outlet_count];
        o->rank = options->ranks[r->outlet_count];
        o->took_at = now_ns();
        r->seats[o->rank] = r->outlet_count + 1;
    }
    for (unsigned i = 0; i < r->outlet_count; i++)
        TRY(open_outlet(r, &r->outlets[i], err));
    return APL_OK;
}

void outlets_free(apl_reader *r)
{
    for (unsigned i = 0; i < r->outlet_count; i++) {
        struct outlet *o = &r->outlets[i];
        queue_free(&o->queue);
        pool_close(o->pool);
        bad_blocks_free(&o->bad);
        undecodable_free(&o->undecodable);
        tally_free(&o->tally);
    }
    free(r->outlets);
    free(r->seats);
    free(r->spec.options.ranks);
}

/* --------------------------------------------------------------------------------------------- finding */

apl_status outlet_find(apl_reader *r, unsigned rank, struct outlet **outlet, apl_error *err)
{
    uint32_t seat = rank < r->spec.options.world ? r->seats[rank] : 0;
    if (seat == 0)
        return fail(err, APL_E_INVALID, "rank %u of %u is not served by this reader", rank,
                    r->spec.options.world);
    *outlet = &r->outlets[seat - 1];
    return APL_OK;
}

apl_status outlet_only(apl_reader *r, struct outlet **outlet, apl_error *err)
{
    if (r->outlet_count > 1)
        return fail(err, APL_E_INVALID,
                    "the reader serves %u ranks: say which, as apl_reader_next_of() and its like ask",
                    r->outlet_count);
    *outlet = &r->outlets[0];
    return APL_OK;
}

struct job *outlets_planning(const apl_reader *r, uint64_t rank)
{
    return r->seats[rank] ? r->outlets[r->seats[rank] - 1].planning : NULL;
}

/* --------------------------------------------------------------------------------------------- waiting */

void outlet_begin_wait(apl_reader *r, struct outlet *o, uint64_t now)
{
    stats_begin_wait(&r->counters, now);
    o->waits_since = o->waits_since ? o->waits_since : now;
}

void outlet_end_wait(apl_reader *r, struct outlet *o, uint64_t now, uint64_t since, bool over)
{
    stats_end_wait(&r->counters, now);
    o->waited += now - since;
    if (over)
        o->waits_since = o->calls > 1 ? now : 0;
}

/* ---------------------------------------------------------------------------------------------- epochs */

bool outlet_takes_part(const apl_reader *r, const struct outlet *o)
{
    return o->tally.epoch <= r->planner.epoch;
}

/* The earliest epoch that it has to do with: batches of one that it has left may still be made. */
static uint64_t earliest(const struct outlet *o)
{
    uint64_t first = queue_is_empty(&o->queue) ? o->tally.epoch : queue_at(&o->queue, 0)->epoch;
    return first < o->tally.epoch ? first : o->tally.epoch;
}

uint64_t outlets_behind(const apl_reader *r)
{
    uint64_t least = earliest(&r->outlets[0]);
    for (unsigned i = 1; i < r->outlet_count; i++)
        least = earliest(&r->outlets[i]) < least ? earliest(&r->outlets[i]) : least;
    return least;
}

uint64_t outlets_epoch(const apl_reader *r)
{
    uint64_t least = r->outlets[0].tally.epoch;
    for (unsigned i = 1; i < r->outlet_count; i++)
        least = r->outlets[i].tally.epoch < least ? r->outlets[i].tally.epoch : least;
    return least;
}

void outlet_drop_stale(apl_reader *r, struct outlet *o)
{
    bool dropped = false;
    for (; !queue_is_empty(&o->queue); dropped = true) {
        struct job *job = queue_at(&o->queue, 0);
        if (job->stage != JOB_DONE || !job_is_stale(job))
            break;
        cache_forgo(r, job);
        pool_give(queue_pop(&o->queue));
    }
    if (dropped)
        pthread_cond_broadcast(&r->work); /* there is room to plan again */
}

/* --------------------------------------------------------------------------------------------- keeping up */

bool outlets_have_places(const apl_reader *r)
{
    for (unsigned i = 0; i < r->outlet_count; i++)
        if (outlet_takes_part(r, &r->outlets[i]) && queue_is_full(&r->outlets[i].queue))
            return false;
    return true;
}

bool outlets_have_memory(apl_reader *r)
{
    bool all = true;
    for (unsigned i = 0; i < r->outlet_count; i++) {
        struct outlet *o = &r->outlets[i];
        o->starved = outlet_takes_part(r, o) && !pool_can_take(o->pool);
        all = all && !o->starved;
    }
    return all;
}

bool outlets_any_waits_in_vain(const apl_reader *r)
{
    for (unsigned i = 0; i < r->outlet_count; i++) {
        const struct outlet *o = &r->outlets[i];
        if (o->starved && o->calls > 0 && queue_is_empty(&o->queue))
            return true;
    }
    return false;
}

/* What a rank has not done, for which the others wait; APL_OK: nothing. */
static apl_status what_is_missing(const apl_reader *r, const struct outlet *o, apl_error *err)
{
    double idle = (double)(now_ns() - o->took_at) / 1e9;
    if (outlet_takes_part(r, o) && queue_is_full(&o->queue))
        return fail(
            err, APL_E_TIMEOUT,
            "no batch came in time: rank %u has not taken the %s made for it, nor any other for %.1f s",
            o->rank, number_of(queue_length(&o->queue), "batch", "batches"), idle);
    if (outlet_takes_part(r, o) && !pool_can_take(o->pool))
        return fail(err, APL_E_TIMEOUT,
                    "no batch came in time: rank %u has not released %s, the memory budget allows no more, "
                    "and it has taken none for %.1f s",
                    o->rank, number_of(pool_lent(o->pool), "batch", "batches"), idle);
    if (o->tally.epoch < r->planner.epoch)
        return fail(err, APL_E_TIMEOUT,
                    "no batch came in time: rank %u has not begun epoch %llu, and has taken none for %.1f s",
                    o->rank, (unsigned long long)r->planner.epoch, idle);
    return APL_OK;
}

apl_status outlet_held_up(const apl_reader *r, const struct outlet *o, unsigned *rank, apl_error *err)
{
    if (r->planner.busy || !queue_is_empty(&o->queue))
        return APL_OK;
    for (unsigned i = 0; i < r->outlet_count; i++) {
        *rank = r->outlets[i].rank;
        if (&r->outlets[i] != o)
            TRY(what_is_missing(r, &r->outlets[i], err));
    }
    return APL_OK;
}
