/* Bins of a window that is smaller than the split: see bins.h. */
#include "bins_parts.h"
#include "entering.h"

uint32_t bins_place_block(struct bins *b, uint32_t block)
{
    uint32_t n = bins_of_block(b, block);
    places_block(places_key(b->spread, 0, block), n, b->shape.bins, b->turn_of[block] == 0, b->delays);
    return n;
}

bool bins_put_block(struct bins *b, struct lane *lane, uint64_t turn, const uint32_t *deliveries, uint32_t n)
{
    struct bin *bins = lane->bins;
    const uint32_t *delays = b->delays;
    uint32_t slots = b->slots, oldest = (uint32_t)(turn % slots);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t at = oldest + delays[k];
        struct bin *bin = &bins[at < slots ? at : at - slots];
        if (bin->count == bin->capacity && !bin_reserve(bin, 1))
            return false;
        bin->deliveries[bin->count++] = deliveries[k];
    }
    return true;
}

static bool enter_block(struct bins *b, unsigned l, uint32_t block)
{
    struct lane *lane = &b->lanes[l];
    b->turn_of[block] = lane->turns;
    uint32_t n = bins_place_block(b, block), *deliveries = b->delays + n;
    bins_list(b, block, deliveries);
    lane->standing += n;
    b->entered[b->entered_count++] = block;
    return bins_put_block(b, lane, lane->turns, deliveries, n);
}

/* What a block has in bins after the oldest, once more over all of them. */
static bool spread_again(struct bins *b, unsigned l, uint32_t block)
{
    struct lane *lane = &b->lanes[l];
    uint32_t n = bins_place_block(b, block), *deliveries = b->delays + n, left = 0;
    bins_list(b, block, deliveries);
    for (uint32_t k = 0; k < n; k++)
        if (b->turn_of[block] + b->delays[k] > lane->turns)
            deliveries[left++] = deliveries[k];
    places_block(places_key(b->end, 0, block), left, b->shape.bins, false, b->delays);
    return bins_put_block(b, lane, lane->turns, deliveries, left);
}

/* At the turn at which the last block enters: what stands beyond the oldest bin is of the blocks that have entered in the last turns. */
static bool end_lane(struct bins *b, unsigned l)
{
    struct lane *lane = &b->lanes[l];
    for (unsigned t = 1; t <= b->shape.bins; t++)
        bins_at(b, lane, lane->turns + t)->count = 0;
    for (uint32_t i = l; i < b->subset->blocks; i += b->shape.lanes)
        if (b->turn_of[b->order[i]] + b->shape.bins > lane->turns && !spread_again(b, l, b->order[i]))
            return false;
    lane->ending = true;
    return true;
}

bool bins_enter(struct bins *b, unsigned l)
{
    struct lane *lane = &b->lanes[l];
    if (lane->ending)
        return true;
    while (lane->next < b->subset->blocks) {
        uint32_t block = b->order[lane->next];
        if (!entering_fits(b->shape.window, lane->standing, bins_of_block(b, block)))
            return true;
        if (!enter_block(b, l, block))
            return false;
        lane->next += b->shape.lanes;
    }
    return end_lane(b, l);
}
