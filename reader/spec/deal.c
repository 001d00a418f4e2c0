/* Dealing positions to ranks: see deal.h. */
#include "deal.h"

static bool takes_turns(const struct reader_options *o)
{
    return o->plan.lanes > 1 && o->plan.lanes % o->world == 0;
}

struct deal deal_begin(const struct reader_options *o, uint64_t position, uint64_t n)
{
    uint64_t lanes = o->plan.lanes, first = position % lanes;
    return (struct deal){.position = position,
                         .n = n,
                         .world = o->world,
                         .lanes = lanes,
                         .in_turns = takes_turns(o),
                         .first_lane = first,
                         .rounds = n / lanes,
                         .end = first + n % lanes};
}

/* How many of from ... to-1 are less than x. */
static uint64_t reached(uint64_t x, uint64_t from, uint64_t to)
{
    return x < from ? 0 : x < to ? x - from : to - from;
}

/* The place of number `k` among the positions sorted by lanes. */
static uint64_t by_lane(const struct deal *d, uint64_t k)
{
    uint64_t lane = (d->first_lane + k) % d->lanes;
    uint64_t more =
        reached(lane, d->first_lane, d->end) + (d->end > d->lanes ? reached(lane, 0, d->end - d->lanes) : 0);
    return d->rounds * lane + more + k / d->lanes;
}

uint64_t deal_rank(const struct deal *d, uint64_t k)
{
    if (d->in_turns)
        return (d->position + k) % d->world;
    uint64_t place = d->lanes > 1 ? by_lane(d, k) : k;
    return ((place + 1) * d->world - 1) / d->n; /* the run of rank r begins at n r / world */
}

struct ranks_of_lane deal_lane(const struct reader_options *o, unsigned lane)
{
    uint64_t lanes = o->plan.lanes, world = o->world;
    if (takes_turns(o))
        return (struct ranks_of_lane){lane % world, lane % world};
    return (struct ranks_of_lane){lane * world / lanes, ((lane + 1) * world - 1) / lanes};
}
