/* What free order draws from: see free_order.h. */
#include "delivery.h"
#include "reader.h"

#include <stdlib.h>

apl_status free_order_open(apl_reader *r, apl_error *err)
{
    struct free_order *f = &r->free_order;
    if (!r->spec.options.free_order)
        return APL_OK;
    /* One bin, whatever strict order has: one thread at a time draws, so that more would share out no lock, and cost a search each. */
    TRY(bins_new(1, &f->bins[0], err));
    TRY(bins_new(1, &f->bins[1], err));
    f->scratch = bins_scratch_new(f->bins[0], r->spec.options.batch_size);
    return f->scratch ? APL_OK : fail_nomem(err);
}

void free_order_free(struct free_order *f)
{
    bins_free(f->bins[0]);
    bins_free(f->bins[1]);
    bins_scratch_free(f->scratch);
}

void free_order_begin(apl_reader *r, uint64_t epoch)
{
    struct free_order *f = &r->free_order;
    uint64_t seed = r->spec.options.plan.seed;
    f->epoch = epoch;
    f->inserted = 0;
    if (r->spec.options.free_order)
        bins_begin(f->bins[epoch & 1], random_epoch_key(seed, epoch, RANDOM_BINS),
                   random_epoch_key(seed, epoch, RANDOM_DRAWS));
}

uint32_t free_order_had(const apl_reader *r, uint32_t index)
{
    uint64_t epoch = r->free_order.epoch;
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
                                uint64_t *ids)
{
    const struct subset_block *block = &r->spec.subset.block[index];
    const uint32_t *cumulative = delivery_sample(&r->spec, parity);
    uint32_t n = 0, reuse = r->spec.options.plan.reuse;
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t copies = deliveries_of_record(cumulative, block->before + i, reuse);
        uint32_t delivery = (index * r->spec.subset.stride + i) * reuse;
        for (uint32_t copy = 0; copy < copies; copy++) {
            uint32_t number = delivery_number(&r->spec, cumulative, index, i, copy);
            if (tally_had(&r->outlets[0].tally, r->free_order.epoch, number))
                continue;
            deliveries[n] = delivery + copy;
            ids[n++] = block->first_id + (block->chosen ? block->chosen[i] : i);
        }
    }
    return n;
}

void free_order_insert(apl_reader *r, uint32_t index, uint32_t parity)
{
    if (!r->spec.options.free_order)
        return;
    uint32_t most = delivery_count(&r->spec, delivery_sample(&r->spec, parity), index);
    uint32_t *deliveries = malloc(((size_t)most + 1) * sizeof *deliveries);
    uint64_t *ids = malloc(((size_t)most + 1) * sizeof *ids);
    bool ok = deliveries && ids;
    if (ok)
        ok = bins_put(r->free_order.bins[parity], deliveries, ids,
                      list_deliveries(r, index, parity, deliveries, ids));
    free(deliveries);
    free(ids);
    r->free_order.inserted++;
    if (!ok)
        failure_nomem(r);
}

void free_order_skip(apl_reader *r)
{
    r->free_order.inserted++;
}

bool free_order_stands(const apl_reader *r, size_t n)
{
    const struct free_order *f = &r->free_order;
    if (!r->spec.options.free_order || f->inserted == r->spec.subset.blocks)
        return true;
    return !r->spec.options.fill && bins_standing(f->bins[f->epoch & 1]) >= n;
}

size_t free_order_draw(const apl_reader *r, uint32_t *deliveries, size_t n)
{
    const struct free_order *f = &r->free_order;
    return bins_draw(f->bins[f->epoch & 1], f->scratch, deliveries, n);
}
