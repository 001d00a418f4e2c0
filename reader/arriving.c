/* Blocks that arrive: see arriving.h. */
#include "arriving.h"

#include "delivery.h"
#include "reader.h"

#include <stdlib.h>

void arriving_begin(apl_reader *r, uint64_t epoch)
{
    r->arriving = (struct arriving){.epoch = epoch};
}

uint32_t arriving_had(const apl_reader *r, uint32_t index)
{
    uint64_t epoch = r->arriving.epoch;
    const uint32_t *cumulative = delivery_sample(&r->spec, epoch);
    uint32_t had = 0, n = delivery_count(&r->spec, cumulative, index);
    if (!tally_is_resumed(&r->outlets[0].tally, epoch))
        return 0;
    for (uint32_t i = 0, from = delivery_number(&r->spec, cumulative, index, 0, 0); i < n; i++)
        had += tally_had(&r->outlets[0].tally, epoch, from + i);
    return had;
}

/* Lists the deliveries of a block that are to go into bins, but for those that a resumed epoch has had. Returns how many. */
static uint32_t list_deliveries(const apl_reader *r, uint32_t index, uint32_t parity, uint32_t *deliveries,
                                uint32_t *numbers)
{
    const struct subset_block *block = &r->spec.subset.block[index];
    const uint32_t *cumulative = delivery_sample(&r->spec, parity);
    uint32_t n = 0, reuse = r->spec.options.plan.reuse;
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t copies = deliveries_of_record(cumulative, block->before + i, reuse);
        uint32_t delivery = (index * r->spec.subset.stride + i) * reuse;
        for (uint32_t copy = 0; copy < copies; copy++) {
            uint32_t number = delivery_number(&r->spec, cumulative, index, i, copy);
            if (tally_had(&r->outlets[0].tally, r->arriving.epoch, number))
                continue;
            deliveries[n] = delivery + copy;
            numbers[n++] = number;
        }
    }
    return n;
}

/* Gives back the slots of the deliveries of a block that a resumed epoch has had. */
static void release_had(apl_reader *r, uint32_t index, uint32_t parity)
{
    struct block_cache *c = &r->cache;
    const struct subset_block *block = &r->spec.subset.block[index];
    const uint32_t *cumulative = delivery_sample(&r->spec, parity);
    if (c->keeps || !tally_is_resumed(&r->outlets[0].tally, c->epoch))
        return;
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t copies = deliveries_of_record(cumulative, block->before + i, r->spec.options.plan.reuse);
        for (uint32_t copy = 0; copy < copies; copy++)
            if (tally_had(&r->outlets[0].tally, c->epoch,
                          delivery_number(&r->spec, cumulative, index, i, copy)))
                slab_release(&c->standing.slab, &(uint32_t){c->standing.blocks[parity][index].slots[i]}, 1);
    }
}

void arriving_offer(apl_reader *r, uint32_t index, uint32_t parity)
{
    if (!r->spec.options.free_order)
        return;
    release_had(r, index, parity);
    if (parity != (r->arriving.epoch & 1)) /* of an epoch that everybody has left */
        return;
    uint32_t most = delivery_count(&r->spec, delivery_sample(&r->spec, parity), index);
    uint32_t *deliveries = malloc(((size_t)most + 1) * sizeof *deliveries);
    uint32_t *numbers = malloc(((size_t)most + 1) * sizeof *numbers);
    bool ok = deliveries && numbers;
    if (ok)
        ok = bins_put(r->planner.bins, deliveries, numbers,
                      list_deliveries(r, index, parity, deliveries, numbers));
    free(deliveries);
    free(numbers);
    r->arriving.inserted++;
    if (!ok)
        failure_nomem(r);
}

void arriving_skip(apl_reader *r)
{
    r->arriving.inserted++;
}

bool arriving_stands(const apl_reader *r, size_t n)
{
    const struct arriving *a = &r->arriving;
    uint32_t missing = r->spec.subset.blocks - a->inserted;
    if (!r->spec.options.free_order || missing == 0)
        return true;
    /* Those that could fill the oldest bin: all, where there is room for all; else those that are on their way. */
    uint32_t late = r->spec.options.covers ? missing : r->cache.loading;
    return late <= r->spec.options.late && bins_standing(r->planner.bins) >= n;
}
