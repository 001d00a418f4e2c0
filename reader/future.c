/* When what is read from elsewhere will be needed again: see future.h. */
#include "future.h"

#include "deal.h"
#include "delivery.h"
#include "entering.h"
#include "mix.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#define DRAWN      1024u /* deliveries at a time */
#define AGED_AFTER 3u    /* epochs: then all of one has been read */

/* The cache of the stores; if they have several, that of the first. */
static struct disk_cache *find_disk_cache(const apl_reader *r)
{
    for (uint32_t i = 0; i < r->spec.sources.count; i++) {
        const struct origin *origin = r->spec.sources.source[i].store->remote.origin;
        if (origin && origin->cache)
            return origin->cache;
    }
    return NULL;
}

/* Values that are read late, as late.h has it. */
static bool reads_values(const apl_reader *r)
{
    for (uint32_t i = 0; i < r->spec.sources.count && r->spec.options.windows.length == 0; i++)
        for (unsigned f = 0; f < r->spec.schema->count; f++)
            if (r->spec.options.wanted[f] && mix_keeps(&r->spec.sources.source[i], f))
                return true;
    return false;
}

static uint64_t all_deliveries(const apl_reader *r)
{
    return (uint64_t)r->spec.subset.blocks * r->spec.subset.stride * r->spec.options.plan.reuse;
}

static apl_status open_positions(apl_reader *r, apl_error *err)
{
    struct future *f = &r->future;
    struct plan_options alone = r->spec.options.plan;
    uint64_t n = all_deliveries(r);
    alone.helpers = 0;
    /* Free order draws from what stands; a sample is drawn when its epoch begins. */
    if (!reads_values(r) || r->spec.options.free_order || r->spec.options.plan.sampler || n > FUTURE_MOST)
        return APL_OK;
    TRY(bins_new(&alone, &r->spec.subset, &f->bins, err));
    for (unsigned i = 0; i < 2; i++)
        if (!(f->position[i] = calloc(n, sizeof *f->position[i])))
            return fail_nomem(err);
    return APL_OK;
}

apl_status future_open(apl_reader *r, apl_error *err)
{
    struct future *f = &r->future;
    f->cache = r->spec.options.ids_only || r->spec.options.stages ? NULL : find_disk_cache(r);
    if (!f->cache)
        return APL_OK;
    disk_cache_begin(f->cache, &f->base, &f->turn);
    if (!(f->order = calloc(r->spec.subset.blocks, sizeof *f->order)))
        return fail_nomem(err);
    for (unsigned i = 0; i < 2; i++)
        if (!(f->place[i] = calloc(r->spec.subset.blocks, sizeof *f->place[i])))
            return fail_nomem(err);
    return open_positions(r, err);
}

void future_free(struct future *f)
{
    free(f->order);
    bins_free(f->bins);
    for (unsigned i = 0; i < 2; i++) {
        free(f->place[i]);
        free(f->position[i]);
    }
}

/* Where an epoch begins, by the cache's clock. */
static uint64_t begin_of(const apl_reader *r, uint64_t epoch)
{
    return r->future.base + (epoch - r->future.first) * (bins_length(r->planner.bins) + 1);
}

/* What is for ranks that others serve comes in an epoch after that, as far as is known: this much later than where it is delivered. */
static uint64_t foreign_delay(uint64_t length)
{
    return length + 1;
}

/* Is the delivery at this place of an epoch for a rank that is served here? */
static bool is_own_position(const apl_reader *r, uint64_t position)
{
    uint64_t step = options_global_batch(&r->spec.options), from = position - position % step,
             left = bins_length(r->planner.bins) - from;
    if (r->spec.options.world == 1 || r->spec.options.pack.row)
        return true;
    struct deal dealt = deal_begin(&r->spec.options, from, left < step ? left : step);
    return r->seats[deal_rank(&dealt, position - from)];
}

/* Is the block at this place of an epoch's order of a lane that is read here? */
static bool is_own_place(const apl_reader *r, uint64_t place)
{
    if (r->spec.options.plan.lanes <= 1)
        return true;
    struct ranks_of_lane ranks = deal_lane(&r->spec.options, (unsigned)(place % r->spec.options.plan.lanes));
    while (ranks.first <= ranks.last && !r->seats[ranks.first])
        ranks.first++;
    return ranks.first <= ranks.last;
}

static void see_positions(apl_reader *r, uint64_t epoch)
{
    struct future *f = &r->future;
    uint32_t drawn[DRAWN], *position = f->position[epoch & 1];
    uint64_t later = foreign_delay(bins_length(r->planner.bins));
    bool failed = false;
    bins_begin(f->bins, epoch + 1);
    for (uint32_t at = 0, n = 1; n && !failed; at += n) {
        n = (uint32_t)bins_take(f->bins, drawn, DRAWN, &failed);
        for (uint32_t i = 0; i < n; i++)
            position[drawn[i]] = at + i + (is_own_position(r, at + i) ? 0 : (uint32_t)later);
    }
}

void future_see(apl_reader *r, uint64_t epoch)
{
    struct future *f = &r->future;
    const struct plan_options *plan = &r->spec.options.plan;
    if (!f->cache)
        return;
    if (f->seen++ == 0)
        f->first = epoch;
    entering_order(plan->seed, epoch + 1, plan->sequential, r->spec.subset.blocks, f->order);
    for (uint32_t i = 0; i < r->spec.subset.blocks; i++)
        f->place[epoch & 1][f->order[i]] = i;
    if (f->bins)
        see_positions(r, epoch);
    f->epoch[epoch & 1] = epoch;
    disk_cache_advance(f->cache, begin_of(r, epoch + 1));
    if (f->seen == AGED_AFTER) /* one is planned ahead */
        disk_cache_age(f->cache, f->turn);
}

uint64_t future_due(uint64_t begin, uint64_t place, uint64_t length, uint32_t blocks, bool own)
{
    return begin + place * length / blocks + (own ? 0 : foreign_delay(length));
}

static uint64_t place_in_next(const apl_reader *r, uint64_t epoch, uint32_t index)
{
    const struct future *f = &r->future;
    uint64_t place = f->place[epoch & 1][index];
    return future_due(begin_of(r, f->epoch[epoch & 1] + 1), place, bins_length(r->planner.bins),
                      r->spec.subset.blocks, is_own_place(r, place));
}

uint64_t future_of_block(const apl_reader *r, uint64_t epoch, uint32_t index)
{
    if (!r->future.cache)
        return DUE_UNKNOWN;
    return r->cache.keeps ? DUE_NEVER : place_in_next(r, epoch, index);
}

uint64_t future_of_delivery(const apl_reader *r, uint64_t epoch, uint32_t delivery)
{
    const struct future *f = &r->future;
    uint32_t nth, copy;
    if (!f->cache)
        return DUE_UNKNOWN;
    if (r->spec.options.plan.sampler)
        return DUE_UNKNOWN;
    if (!f->bins)
        return place_in_next(r, epoch, delivery_block(&r->spec, delivery, &nth, &copy));
    return begin_of(r, f->epoch[epoch & 1] + 1) + f->position[epoch & 1][delivery];
}
