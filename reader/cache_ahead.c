/* Which blocks will be loaded next: see cache_ahead.h. */
#include "cache_ahead.h"

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
