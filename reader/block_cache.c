/* Which blocks are in memory, on their way, or to be let go: see block_cache.h. */
#include "block_cache.h"

#include "collate.h"
#include "failure.h"
#include "load.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------- rings */

static void ring_push(struct load_ring *ring, uint32_t index, uint32_t parity)
{
    ring->items[ring->tail++ % ring->size] = (struct load_item){index, parity};
}

/* The first block of the ring that still waits to be loaded. */
static struct resident *ring_first(apl_reader *r, struct load_ring *ring, struct load_item *item)
{
    for (; ring->head != ring->tail; ring->head++) {
        *item = ring->items[ring->head % ring->size];
        struct resident *b = &r->residents[item->parity][item->index];
        if (b->stage == BLOCK_QUEUED && b->left > 0)
            return b;
        if (b->stage == BLOCK_QUEUED) { /* all of it went to others before it was loaded */
            free(b->passed);
            b->passed = NULL;
            b->stage = BLOCK_OUT;
        }
    }
    return NULL;
}

void residents_trim(apl_reader *r)
{
    struct load_item item;
    ring_first(r, &r->queue, &item);
}

/* ------------------------------------------------------------------------------------------ free order */

static bool bit(const uint8_t *bits, uint64_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

/* How many deliveries of a block a resumed epoch has had. */
static uint32_t count_had(const apl_reader *r, uint32_t index)
{
    const uint32_t *first = sampled(r, r->plan_epoch);
    uint32_t had = 0, n = deliveries_of_block(first, &r->subset.block[index], r->options.plan.reuse);
    if (!r->resumed || r->resumed_epoch != r->plan_epoch)
        return 0;
    for (uint32_t i = 0, from = delivery_number(r, first, index, 0, 0); i < n; i++)
        had += bit(r->resumed, from + i);
    return had;
}

/* Lists the deliveries of a block that are to go into bins, but for those that a resumed epoch has had: their slots are given
 * back. Returns how many. */
static uint32_t list_deliveries(apl_reader *r, uint32_t index, uint32_t parity, uint32_t *deliveries,
                                uint64_t *ids)
{
    const struct subset_block *block = &r->subset.block[index];
    const uint32_t *first = sampled(r, parity);
    const uint8_t *had = r->resumed && r->resumed_epoch == r->plan_epoch ? r->resumed : NULL;
    uint32_t n = 0, reuse = r->options.plan.reuse;
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t copies = deliveries_of_record(first, block->first + i, reuse);
        uint32_t delivery = (index * r->subset.stride + i) * reuse;
        for (uint32_t copy = 0; copy < copies; copy++) {
            if (had && bit(had, delivery_number(r, first, index, i, copy))) {
                if (!r->options.kept)
                    slab_release(&r->slab, &(uint32_t){r->residents[parity][index].slots[i]}, 1);
                continue;
            }
            deliveries[n] = delivery + copy;
            ids[n++] = block->first_id + (block->members ? block->members[i] : i);
        }
    }
    return n;
}

/* Puts a block's records into the bins of its epoch. */
static apl_status insert(apl_reader *r, uint32_t index, uint32_t parity)
{
    uint32_t most = deliveries_of_block(sampled(r, parity), &r->subset.block[index], r->options.plan.reuse);
    uint32_t *deliveries = malloc(((size_t)most + 1) * sizeof *deliveries);
    uint64_t *ids = malloc(((size_t)most + 1) * sizeof *ids);
    bool ok = deliveries && ids;
    if (ok)
        ok = bins_put(r->bins[parity], deliveries, ids, list_deliveries(r, index, parity, deliveries, ids));
    free(deliveries);
    free(ids);
    r->inserted++;
    return ok ? APL_OK : APL_E_NOMEM;
}

/* --------------------------------------------------------------------------------------------- loading */

/* Lets go of a block, such as one whose deliveries have all been made, by this reader or by others. */
static void let_go(const apl_reader *r, struct resident *b)
{
    free(b->slots);
    free(b->error);
    free(b->passed);
    load_drop_ragged(r, b);
    *b = (struct resident){.stage = BLOCK_OUT};
}

/* A delivery of a block is done with, or goes to another rank. A block that is being loaded or waits for it is let go there. */
void residents_less(apl_reader *r, struct resident *b)
{
    if (!r->options.kept && --b->left == 0 && b->stage != BLOCK_LOADING && b->stage != BLOCK_QUEUED &&
        !b->stays)
        let_go(r, b);
}

/* Takes back slots of members whose deliveries went to others before the block was there. */
static void give_passed(apl_reader *r, struct resident *b, uint32_t index)
{
    uint32_t count = r->subset.block[index].count;
    for (uint32_t i = 0; b->passed && b->slots && i < count; i++)
        for (uint16_t k = 0; k < b->passed[i]; k++) {
            uint32_t slot = b->slots[i];
            slab_release(&r->slab, &slot, 1);
        }
    free(b->passed);
    b->passed = NULL;
}

static void mark_bad(struct resident *b, const apl_error *error)
{
    b->stage = BLOCK_BAD;
    free(b->error);
    b->error = malloc(sizeof *b->error);
    if (b->error)
        *b->error = *error;
}

/* Keeps a block's slots beyond its last delivery, by one more that is to come from each. */
static void stay(apl_reader *r, struct resident *b, uint32_t index)
{
    slab_add(&r->slab, b->slots, r->subset.block[index].count, 1);
    b->stays = true;
}

void residents_loaded(apl_reader *r, struct load_item item, apl_status status, const apl_error *error)
{
    struct resident *b = &r->residents[item.parity][item.index];
    if (status == APL_OK)
        b->stage = BLOCK_IN;
    else if (status == APL_E_CORRUPT)
        mark_bad(b, error);
    else
        failure(r, status, error);
    if (r->options.kept && b->stage == BLOCK_IN)
        r->blocks_in++;
    if (b->stage == BLOCK_IN && r->stay && r->stay[item.index] && item.parity == (r->plan_epoch & 1))
        stay(r, b, item.index);
    give_passed(r, b, item.index);
    if (!r->options.kept && b->left == 0 && !b->stays)
        let_go(r, b); /* the last of it went to others meanwhile */
    if (r->options.free_order && (b->stage == BLOCK_IN || b->stage == BLOCK_BAD) &&
        insert(r, item.index, item.parity) != APL_OK)
        failure_nomem(r);
    pthread_cond_broadcast(&r->work);
}

/* Takes slots for the records of a block that the epoch's sample has, each good for its deliveries. */
static bool take_sampled_slots(apl_reader *r, struct resident *b, const struct load_item *item)
{
    const struct subset_block *block = &r->subset.block[item->index];
    const uint32_t *first = sampled(r, item->parity) + block->first;
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->count; i++)
        n += first[i + 1] > first[i];
    if (!slab_take(&r->slab, b->slots, n, 0))
        return false;
    for (uint32_t i = block->count; i-- > 0;) {
        uint32_t copies = first[i + 1] - first[i];
        b->slots[i] = copies ? b->slots[--n] : NO_SLOT;
        if (copies)
            slab_add(&r->slab, &b->slots[i], 1, copies);
    }
    return true;
}

static bool take_slots(apl_reader *r, struct resident *b, const struct load_item *item)
{
    uint32_t count = r->subset.block[item->index].count;
    if (!(b->slots = malloc(count * sizeof *b->slots))) {
        failure_nomem(r);
        return false;
    }
    if (r->sampler ? take_sampled_slots(r, b, item)
                   : slab_take(&r->slab, b->slots, count, r->options.plan.reuse))
        return true;
    free(b->slots);
    b->slots = NULL;
    return false;
}

/* Takes a block to load, with slots for it; false if there is none, or no room. */
bool residents_take(apl_reader *r, struct load_item *item)
{
    struct load_ring *ring = &r->demand; /* of which nothing is in if slots are not kept */
    struct resident *b = ring_first(r, ring, item);
    if (!b)
        b = ring_first(r, ring = &r->queue, item);
    if (!b || (!r->options.kept && !take_slots(r, b, item)))
        return false;
    b->stage = BLOCK_LOADING;
    ring->head++;
    return true;
}

/* -------------------------------------------------------------------------------------------- entering */

/* Is the block of a lane that other ranks read? Then it is loaded only if a batch of this one comes to need it. */
static bool is_foreign(const apl_reader *r, uint32_t index)
{
    const struct reader_options *o = &r->options;
    return o->plan.lanes > 1 && plan_lane(r->plan, index) % o->world != o->rank;
}

/* Takes over a block that has stayed from the epoch before. Its slots may still be read for that one's last batches, and so are
 * listed twice. False: it has not stayed. */
static bool take_over(apl_reader *r, uint32_t index, uint32_t parity)
{
    struct resident *before = &r->residents[!parity][index], *b = &r->residents[parity][index];
    uint32_t count = r->subset.block[index].count;
    if (!before->stays)
        return false;
    before->stays = false;
    b->slots = malloc(count * sizeof *b->slots);
    if (b->slots) {
        memcpy(b->slots, before->slots, count * sizeof *b->slots);
        slab_add(&r->slab, b->slots, count, r->options.plan.reuse - (r->stay[index] ? 0 : 1));
        b->stays = r->stay[index];
        b->stage = BLOCK_IN;
    } else {
        slab_release(&r->slab, before->slots, count);
    }
    if (before->left == 0)
        let_go(r, before);
    return b->slots != NULL;
}

/* Chooses the blocks that are to stay for the epoch after this: those that it needs first, as many as there is room for. */
void residents_choose_stay(apl_reader *r)
{
    uint64_t room = r->options.spare_slots;
    if (!r->stay)
        return;
    memset(r->stay, 0, r->subset.blocks);
    plan_peek(r->plan, r->plan_epoch + 1, r->peeked);
    for (uint32_t i = 0; i < r->subset.blocks; i++) {
        uint32_t count = r->subset.block[r->peeked[i]].count;
        if (count > room)
            break;
        room -= count;
        r->stay[r->peeked[i]] = 1;
    }
}

/* Queues the blocks that have entered since the last time. */
void residents_announce(apl_reader *r)
{
    uint32_t parity = r->plan_epoch & 1, to;
    const uint32_t *list = plan_entered(r->plan, &to), *first = sampled(r, r->plan_epoch);
    if (r->options.free_order) {
        list = plan_order(r->plan);
        to = r->subset.blocks;
    }
    for (; r->announced < to; r->announced++) {
        uint32_t index = list[r->announced];
        struct resident *b = &r->residents[parity][index];
        uint32_t all = deliveries_of_block(first, &r->subset.block[index], r->options.plan.reuse),
                 left = all - count_had(r, index);
        if (left ==
            0) { /* nothing of it is to come, or not any more; the epoch before may still wait for it */
            r->inserted++;
            continue;
        }
        b->left = left;
        if (b->stage == BLOCK_OUT && !(r->stay && take_over(r, index, parity))) {
            if (is_foreign(r, index))
                continue;
            b->stage = BLOCK_QUEUED;
            ring_push(&r->queue, index, parity);
        } else if (r->options.free_order && insert(r, index, parity) != APL_OK)
            failure_nomem(r);
    }
}

/* ------------------------------------------------------------------------------ needed, and not needed */

/* A delivery that this reader will not make: another rank does, or it has been made before the reader was
 * opened. */
static void pass(apl_reader *r, uint32_t delivery)
{
    if (r->options.kept)
        return;
    uint32_t member, copy, index = delivery_block(r, delivery, &member, &copy);
    struct resident *b = &r->residents[r->plan_epoch & 1][index];
    if (b->stage == BLOCK_IN || b->stage == BLOCK_BAD) {
        uint32_t slot = b->slots[member];
        slab_release(&r->slab, &slot, 1);
    } else {
        if (!b->passed && !(b->passed = calloc(r->subset.block[index].count, sizeof *b->passed))) {
            failure_nomem(r);
            return;
        }
        b->passed[member]++;
    }
    residents_less(r, b);
}

void residents_pass(apl_reader *r, const uint32_t *deliveries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pass(r, deliveries[i]);
}

void residents_demand(apl_reader *r, const struct job *job)
{
    uint32_t parity = job->epoch & 1;
    if (r->options.kept ? r->blocks_in == r->subset.blocks : r->options.plan.lanes == 1)
        return;
    for (uint32_t k = 0; k < job->rows; k++) {
        uint32_t member, copy, index = delivery_block(r, job->deliveries[k], &member, &copy);
        struct resident *b = &r->residents[parity][index];
        bool foreign = b->stage == BLOCK_OUT; /* not queued when it entered */
        if (b->demanded || !(foreign || (r->options.kept && b->stage == BLOCK_QUEUED)))
            continue;
        b->demanded = r->options.kept;
        b->stage = BLOCK_QUEUED;
        ring_push(r->options.kept ? &r->demand : &r->queue, index, parity);
    }
}

void residents_clear(apl_reader *r)
{
    r->queue.head = r->queue.tail = r->demand.head = r->demand.tail = 0;
    for (unsigned parity = 0; parity < (r->options.kept ? 1u : 2u); parity++)
        for (uint32_t i = 0; i < r->subset.blocks; i++) {
            struct resident *b = &r->residents[parity][i];
            b->demanded = false;
            if (r->options.kept && (b->stage == BLOCK_IN || b->stage == BLOCK_BAD))
                continue;
            let_go(r, b);
        }
    if (!r->options.kept)
        slab_reset(&r->slab);
}

void residents_free(apl_reader *r)
{
    for (unsigned parity = 0; parity < (r->options.kept ? 1u : 2u); parity++) {
        for (uint32_t i = 0; r->residents[parity] && i < r->subset.blocks; i++)
            let_go(r, &r->residents[parity][i]);
        free(r->residents[parity]);
    }
}
