/* Which blocks are in memory, on their way, or to be evicted: see block_cache.h. */
#include "block_cache.h"

#include "arriving.h"
#include "deal.h"
#include "delivery.h"
#include "mix.h"
#include "reader.h"
#include "window.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------- opening and freeing */

/* Slots that are kept are shared with the other readers that keep the same. */
static apl_status make_slots(apl_reader *r, uint32_t slots, const size_t *bytes, apl_error *err)
{
    struct block_cache *c = &r->cache;
    struct decoded_shape shape = {.slots = slots,
                                  .blocks = r->spec.subset.blocks,
                                  .fields = r->spec.schema->count,
                                  .value_bytes = bytes,
                                  .ragged = r->spec.options.ragged};
    if (!c->keeps || r->spec.options.ids_only || r->spec.options.stages)
        return slab_init(&c->standing.slab, slots, r->spec.schema->count, bytes, err);
    TRY(mix_digest_decoded(&r->spec, &shape.key, err));
    TRY(decoded_open(&shape, &c->decoded, err));
    decoded_lend(c->decoded, &c->standing.slab);
    return APL_OK;
}

apl_status cache_open(apl_reader *r, const size_t *value_bytes, uint32_t slots, apl_error *err)
{
    struct block_cache *c = &r->cache;
    uint32_t n = r->spec.subset.blocks;
    c->keeps = r->spec.options.covers;
    for (unsigned parity = 0; parity < 2; parity++)
        c->standing.blocks[parity] =
            parity && c->keeps ? c->standing.blocks[0] : calloc(n, sizeof(struct cached_block));
    if (!c->standing.blocks[0] || !c->standing.blocks[1])
        return fail_nomem(err);
    TRY(retention_open(&c->retention, n, r->spec.options.spare_slots, err));
    TRY(ring_open(&c->entered, 2 * n + 1, err));
    TRY(ring_open(&c->demanded, n + 1, err));
    return make_slots(r, slots, value_bytes, err);
}

static void evict(apl_reader *r, struct cached_block *b)
{
    r->cache.varying_bytes -= cached_evict(b, r->cache.decoded ? 0 : r->spec.schema->count);
}

/* How many arrays of blocks there are: one, where the cache keeps, or one of each parity. */
static unsigned parities(const struct block_cache *c)
{
    return c->keeps ? 1 : 2;
}

void cache_clear(apl_reader *r)
{
    struct block_cache *c = &r->cache;
    c->entered.head = c->entered.tail = c->demanded.head = c->demanded.tail = 0;
    for (unsigned parity = 0; parity < parities(c); parity++)
        for (uint32_t i = 0; i < r->spec.subset.blocks; i++) {
            struct cached_block *b = &c->standing.blocks[parity][i];
            b->demanded = false;
            if (!c->keeps || (b->stage != BLOCK_IN && b->stage != BLOCK_BAD))
                evict(r, b);
        }
    if (!c->keeps)
        slab_reset(&c->standing.slab);
}

void cache_retire(apl_reader *r)
{
    decoded_retire(r->cache.decoded);
}

void cache_free(apl_reader *r)
{
    struct block_cache *c = &r->cache;
    for (unsigned parity = 0; parity < parities(c); parity++) {
        for (uint32_t i = 0; c->standing.blocks[parity] && i < r->spec.subset.blocks; i++)
            evict(r, &c->standing.blocks[parity][i]);
        free(c->standing.blocks[parity]);
    }
    slab_free(&c->standing.slab);
    decoded_close(c->decoded);
    retention_free(&c->retention);
    free(c->entered.items);
    free(c->demanded.items);
}

/* ------------------------------------------------------------------------------------------- what is there */

bool cache_is_whole(const apl_reader *r)
{
    return r->cache.keeps && r->cache.in == r->spec.subset.blocks;
}

bool cache_loads_late(const apl_reader *r)
{
    const struct block_cache *c = &r->cache;
    for (uint32_t i = 0; !c->keeps && i < r->spec.subset.blocks; i++)
        if (cache_block(c, c->epoch + 1, i)->stage == BLOCK_LOADING)
            return true;
    return false;
}

bool cache_finds_loading(const apl_reader *r, uint32_t *index)
{
    for (unsigned parity = 0; parity < parities(&r->cache); parity++)
        for (*index = 0; *index < r->spec.subset.blocks; ++*index)
            if (cache_block(&r->cache, parity, *index)->stage == BLOCK_LOADING)
                return true;
    return false;
}

uint32_t cache_standing(struct block_cache *c)
{
    return c->keeps ? c->standing.slab.slots : slab_standing(&c->standing.slab);
}

/* The first block of the ring that still waits to be loaded. */
static struct cached_block *ring_first(struct block_cache *c, struct load_ring *ring, struct load_item *item)
{
    for (; ring->head != ring->tail; ring->head++) {
        *item = ring->items[ring->head % ring->size];
        struct cached_block *b = &c->standing.blocks[item->parity][item->index];
        if (b->stage == BLOCK_QUEUED && b->left > 0)
            return b;
        if (b->stage == BLOCK_QUEUED) { /* all of it went to others before it was loaded */
            cached_forget_passed(b);
            b->stage = BLOCK_OUT;
        }
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------- loading */

/* A delivery of a block is done with, or goes to another rank. A block that is being loaded or waits for it is evicted there. */
static void consume(apl_reader *r, struct cached_block *b)
{
    if (--b->left == 0 && b->stage != BLOCK_LOADING && b->stage != BLOCK_QUEUED && !b->stays)
        evict(r, b);
}

/* The manifest says how large values of varying shape are on average, and may lie. */
static void refuse_growth(apl_reader *r)
{
    apl_error error;
    apl_status status = window_check_standing(&r->spec, r->cache.varying_bytes, &error);
    if (status != APL_OK)
        failure(r, status, &error);
}

void cache_loaded(apl_reader *r, struct load_item item, struct raw_column *ragged, apl_status status,
                  const apl_error *error)
{
    struct block_cache *c = &r->cache;
    struct cached_block *b = &c->standing.blocks[item.parity][item.index];
    uint32_t count = r->spec.subset.block[item.index].count;
    c->loading--;
    if (status == APL_OK || status == APL_E_CORRUPT)
        b->stage = status == APL_OK ? BLOCK_IN : BLOCK_BAD;
    else
        failure(r, status, error);
    cached_loaded(b, ragged, status == APL_E_CORRUPT ? error : NULL);
    if (!c->decoded || status == APL_OK) /* else others may be decoding it */
        c->varying_bytes += cached_varying_bytes(b, r->spec.schema->count);
    refuse_growth(r);
    c->in += b->stage == BLOCK_IN;
    if (b->stage == BLOCK_IN && retention_has(&c->retention, item.index) && item.parity == (c->epoch & 1)) {
        slab_add(&c->standing.slab, b->slots, count,
                 1); /* beyond its last delivery, by one more that is to come from each slot */
        b->stays = true;
    }
    cached_give_passed(b, &c->standing.slab, count);
    if (!c->keeps && b->left == 0 && !b->stays)
        evict(r, b); /* the last of it went to others meanwhile */
    if (b->stage == BLOCK_IN || b->stage == BLOCK_BAD)
        arriving_offer(r, item.index, item.parity);
    pthread_cond_broadcast(&r->work);
}

static bool take_slots(apl_reader *r, struct cached_block *b, const struct load_item *item)
{
    const struct subset_block *block = &r->spec.subset.block[item->index];
    bool nomem = false,
         taken = cached_take_slots(b, &r->cache.standing.slab, block, delivery_sample(&r->spec, item->parity),
                                   r->spec.options.plan.reuse, &nomem);
    if (nomem)
        failure_nomem(r);
    return taken;
}

bool cache_take(apl_reader *r, struct load_item *item)
{
    struct block_cache *c = &r->cache;
    struct load_ring *ring = &c->demanded; /* of which nothing is in if the cache does not keep */
    struct cached_block *b = ring_first(c, ring, item);
    if (!b)
        b = ring_first(c, ring = &c->entered, item);
    if (!b || (!c->keeps && !take_slots(r, b, item)))
        return false;
    b->stage = BLOCK_LOADING;
    c->loading++;
    ring->head++;
    return true;
}

/* -------------------------------------------------------------------------------------------- entering */

void cache_begin_epoch(apl_reader *r, uint64_t epoch)
{
    struct block_cache *c = &r->cache;
    struct load_item item;
    c->epoch = epoch;
    c->announced = c->beyond = 0;
    /* What is left in front of the ring is of the epoch before the last, and went to others: it must not be taken
     * for the blocks of the same number that this epoch queues. */
    ring_first(c, &c->entered, &item);
    retention_choose(&c->retention, &r->spec.options.plan, &r->spec.subset, epoch,
                     r->spec.options.spare_slots);
}

bool cache_is_foreign(const apl_reader *r, const struct bins *bins, uint32_t index)
{
    if (r->spec.options.plan.lanes <= 1)
        return false;
    struct ranks_of_lane ranks = deal_lane(&r->spec.options, bins_lane(bins, index));
    while (ranks.first <= ranks.last && !r->seats[ranks.first])
        ranks.first++;
    return ranks.first > ranks.last;
}

/* Takes over a block that has stayed from the epoch before. Its slots may still be read for that one's last batches, and so are
 * listed twice. False: it has not stayed. */
static bool take_over(apl_reader *r, uint32_t index)
{
    struct block_cache *c = &r->cache;
    struct cached_block *before = &c->standing.blocks[(c->epoch + 1) & 1][index],
                        *b = &c->standing.blocks[c->epoch & 1][index];
    uint32_t count = r->spec.subset.block[index].count;
    bool again = retention_has(&c->retention, index);
    if (!retention_any(&c->retention) || !before->stays)
        return false;
    before->stays = false;
    if (cached_share_slots(b, before, &c->standing.slab, count,
                           r->spec.options.plan.reuse - (again ? 0 : 1))) {
        b->stays = again;
        b->stage = BLOCK_IN;
    }
    if (before->left == 0)
        evict(r, before);
    return b->slots != NULL;
}

/* A block enters the epoch. */
static void block_enters(apl_reader *r, const struct bins *bins, uint32_t index)
{
    struct block_cache *c = &r->cache;
    struct cached_block *b = &c->standing.blocks[c->epoch & 1][index];
    uint32_t parity = c->epoch & 1, had = arriving_had(r, index);
    uint32_t left = delivery_count(&r->spec, delivery_sample(&r->spec, c->epoch), index) - had;
    if (left == 0 ||
        bins_is_gone(
            bins,
            index)) { /* nothing of it is to come, or nothing more; the epoch before may still wait for it */
        arriving_skip(r);
        return;
    }
    b->left = left;
    if (b->stage != BLOCK_OUT || take_over(r, index)) {
        arriving_offer(r, index, parity);
    } else if (!cache_is_foreign(r, bins, index)) {
        b->stage = BLOCK_QUEUED;
        ring_push(&c->entered, index, parity);
    }
}

void cache_announce(apl_reader *r, const struct bins *bins)
{
    uint32_t to = r->spec.subset.blocks;
    const uint32_t *list = r->spec.options.free_order ? bins_order(bins) : bins_entered(bins, &to);
    for (; r->cache.announced < to; r->cache.announced++)
        block_enters(r, bins, list[r->cache.announced]);
}

/* ------------------------------------------------------------------------------ needed, and not needed */

/* A delivery that this reader will not make: another rank does, or it has been made before the reader was
 * opened. */
static void pass(apl_reader *r, uint64_t epoch, uint32_t delivery)
{
    struct block_cache *c = &r->cache;
    uint32_t nth, copy, index = delivery_block(&r->spec, delivery, &nth, &copy);
    struct cached_block *b = &c->standing.blocks[epoch & 1][index];
    if (cached_pass(b, &c->standing.slab, r->spec.subset.block[index].count, nth))
        consume(r, b);
    else
        failure_nomem(r);
}

void cache_pass(apl_reader *r, const uint32_t *deliveries, size_t n)
{
    for (size_t i = 0; !r->cache.keeps && i < n; i++)
        pass(r, r->cache.epoch, deliveries[i]);
}

void cache_hold(apl_reader *r, uint32_t delivery)
{
    struct block_cache *c = &r->cache;
    uint32_t nth, copy, index = delivery_block(&r->spec, delivery, &nth, &copy);
    if (!c->keeps)
        c->standing.blocks[c->epoch & 1][index].left++; /* cache_consume() takes it back */
}

void cache_demand(apl_reader *r, const struct job *job)
{
    struct block_cache *c = &r->cache;
    uint32_t parity = job->epoch & 1;
    if (cache_is_whole(r) || (!c->keeps && r->spec.options.plan.lanes == 1))
        return;
    for (uint32_t k = 0; k < job->rows; k++) {
        uint32_t nth, copy, index = delivery_block(&r->spec, job->deliveries[k], &nth, &copy);
        struct cached_block *b = &c->standing.blocks[parity][index];
        bool foreign = b->stage == BLOCK_OUT; /* not queued when it entered */
        if (b->demanded || !(foreign || (c->keeps && b->stage == BLOCK_QUEUED)))
            continue;
        b->demanded = c->keeps;
        b->stage = BLOCK_QUEUED;
        ring_push(c->keeps ? &c->demanded : &c->entered, index, parity);
    }
}

/* Deliveries of a batch that it gives back the slots of: a document whose end is in a later batch is released there. */
static uint32_t ending(const apl_reader *r, const struct job *job)
{
    return job->rows - (r->spec.options.pack.row && job->more);
}

void cache_release(apl_reader *r, const struct job *job, uint32_t *slots)
{
    struct block_cache *c = &r->cache;
    uint32_t n = ending(r, job);
    if (c->keeps)
        return;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t nth, copy, index = delivery_block(&r->spec, job->deliveries[k], &nth, &copy);
        slots[k] = cached_slot(cache_block(c, job->epoch, index), &r->spec.subset.block[index], nth);
    }
    slab_release(&c->standing.slab, slots, n);
}

void cache_consume(apl_reader *r, struct job *job)
{
    struct block_cache *c = &r->cache;
    job->consumed = true;
    for (uint32_t k = 0; !c->keeps && k < job->rows; k++) {
        uint32_t nth, copy, index = delivery_block(&r->spec, job->deliveries[k], &nth, &copy);
        consume(r, &c->standing.blocks[job->epoch & 1][index]);
    }
}

void cache_forgo(apl_reader *r, const struct job *job)
{
    struct block_cache *c = &r->cache;
    uint32_t n = ending(r, job);
    if (c->keeps || job->consumed)
        return;
    for (uint32_t k = 0; k < n; k++)
        pass(r, job->epoch, job->deliveries[k]);
    for (uint32_t k = n; k < job->rows; k++) {
        uint32_t nth, copy, index = delivery_block(&r->spec, job->deliveries[k], &nth, &copy);
        consume(r, &c->standing.blocks[job->epoch & 1][index]);
    }
}
