/* Which blocks will be loaded next: see cache_ahead.h. */
#include "cache_ahead.h"

#include "delivery.h"
#include "reader.h"

unsigned cache_next(const apl_reader *r, struct load_item *items, unsigned most)
{
    const struct block_cache *c = &r->cache;
    const struct load_ring *rings[] = {&c->demanded, &c->entered};
    unsigned n = 0;
    for (unsigned k = 0; k < 2; k++)
        for (uint64_t at = rings[k]->head; at != rings[k]->tail && n < most; at++) {
            const struct load_item *item = &rings[k]->items[at % rings[k]->size];
            if (c->standing.blocks[item->parity][item->index].stage == BLOCK_QUEUED)
                items[n++] = *item;
        }
    return n;
}

/* In the order of the epoch; lanes take turns there, so what has entered is where `announced` says, but for a block or two of each. */
static bool will_be_loaded(const apl_reader *r, uint32_t index)
{
    const struct block_cache *c = &r->cache;
    return cache_block(c, c->epoch, index)->stage == BLOCK_OUT &&
           !cache_block(c, c->epoch + 1, index)->stays && !cache_is_foreign(r, r->planner.bins, index) &&
           delivery_count(&r->spec, delivery_sample(&r->spec, c->epoch), index) > 0;
}

bool cache_beyond(apl_reader *r, struct load_item *item)
{
    struct block_cache *c = &r->cache;
    const uint32_t *order = bins_order(r->planner.bins);
    uint32_t far = r->spec.subset.blocks - c->announced < CACHE_BEYOND ? r->spec.subset.blocks
                                                                       : c->announced + CACHE_BEYOND;
    if (c->epoch > outlets_epoch(r)) /* nobody may begin it */
        return false;
    c->beyond = c->beyond > c->announced ? c->beyond : c->announced;
    while (c->beyond < far && !will_be_loaded(r, order[c->beyond]))
        c->beyond++;
    if (c->beyond >= far)
        return false;
    *item = (struct load_item){order[c->beyond], c->epoch & 1};
    return true;
}

unsigned cache_unasked(apl_reader *r, struct load_item taken, struct load_item *items)
{
    struct load_item next[CACHE_UNASKED] = {taken};
    unsigned count = 1 + cache_next(r, next + 1, CACHE_UNASKED - 1), n = 0;
    for (unsigned i = 0; i < count; i++) {
        struct cached_block *b = &r->cache.standing.blocks[next[i].parity][next[i].index];
        if (!b->asked)
            items[n++] = next[i];
        b->asked = true;
    }
    return n;
}
