/* Who takes which position, against sorting: with any number of ranks, lanes and rows. */
#include "deal.h"

#include "samples.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(deal, .timeout = 60);

static uint32_t state = 7;

static uint32_t below(uint32_t n)
{
    return (sample_random(&state) >> 8) % n;
}

/* A position and its lane, to be sorted. */
struct place {
    uint64_t lane, k;
};

static int by_lane(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return x->k < y->k ? -1 : x->k > y->k;
}

/* The rank of each of the positions: in runs of those sorted by lane. */
static void expect(uint64_t position, uint64_t n, const struct reader_options *o, uint64_t *ranks)
{
    struct place *places = calloc(n, sizeof *places);
    for (uint64_t k = 0; k < n; k++)
        places[k] = (struct place){(position + k) % o->plan.lanes, k};
    qsort(places, n, sizeof *places, by_lane);
    for (uint64_t r = 0; r < o->world; r++)
        for (uint64_t i = n * r / o->world; i < n * (r + 1) / o->world; i++)
            ranks[places[i].k] = r;
    free(places);
}

static struct reader_options shared(unsigned world, unsigned lanes)
{
    struct reader_options o = {.world = world};
    o.plan.lanes = lanes;
    return o;
}

Test(deal, runs_in_the_order_of_lanes)
{
    uint64_t ranks[600];
    for (unsigned i = 0; i < 3000; i++) {
        unsigned world = 1 + below(9), lanes = 1 + below(i % 2 ? 12 : 70);
        uint64_t n = 1 + below(600), position = below(i % 3 ? 1000 : 4);
        struct reader_options o = shared(world, lanes);
        struct deal deal = deal_begin(&o, position, n);
        if (lanes > 1 && lanes % world == 0)
            continue;
        expect(position, n, &o, ranks);
        for (uint64_t k = 0; k < n; k++)
            cr_assert_eq(deal_rank(&deal, k), ranks[k], "world %u, lanes %u, %llu from %llu: number %llu",
                         world, lanes, (unsigned long long)n, (unsigned long long)position,
                         (unsigned long long)k);
    }
}

/* A multiple of world: each rank has its own lanes, whatever the position. */
Test(deal, in_turns)
{
    for (unsigned world = 1; world < 7; world++) {
        struct reader_options o = shared(world, world * (1 + world % 3) + (world == 1));
        for (uint64_t position = 0; position < 40; position += 7) {
            struct deal deal = deal_begin(&o, position, 60);
            for (uint64_t k = 0; k < 60; k++) {
                uint64_t rank = deal_rank(&deal, k);
                struct ranks_of_lane ranks = deal_lane(&o, (unsigned)((position + k) % o.plan.lanes));
                cr_assert_eq(rank, (position + k) % world);
                cr_assert(ranks.first == rank && ranks.last == rank);
            }
        }
    }
}

/* One lane for each machine of several ranks: its ranks read that lane and no other, wherever whole rounds begin. */
Test(deal, machines_have_lanes_of_their_own)
{
    struct reader_options o = shared(24, 6);
    for (uint64_t step = 0; step < 10; step++) {
        struct deal deal = deal_begin(&o, step * 24 * 5, 24 * 5);
        for (uint64_t k = 0; k < 24 * 5; k++)
            cr_assert_eq(deal_rank(&deal, k) / 4, k % 6);
    }
    for (unsigned lane = 0; lane < 6; lane++) {
        struct ranks_of_lane ranks = deal_lane(&o, lane);
        cr_assert(ranks.first == 4 * lane && ranks.last == 4 * lane + 3);
    }
}

/* Every rank has a lane and every lane a rank, and shares that follow each other overlap by no more than a lane. */
Test(deal, shares_of_lanes)
{
    for (unsigned world = 1; world < 40; world++)
        for (unsigned lanes = 2; lanes < 40; lanes++) {
            struct reader_options o = shared(world, lanes);
            uint64_t next = 0;
            for (unsigned lane = 0; lane < lanes && lanes % world; lane++) {
                struct ranks_of_lane ranks = deal_lane(&o, lane);
                cr_assert(ranks.first <= next && ranks.first + 1 >= next && ranks.last >= ranks.first);
                next = ranks.last + 1;
            }
            cr_assert(next == world || lanes % world == 0);
        }
}
