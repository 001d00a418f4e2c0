/* What each node reads, as the plan of the reader has it: see cluster.h. */
#include "cluster.h"

#include "ahead.h"
#include "bins.h"
#include "cached_block.h"
#include "deal.h"
#include "entering.h"

#include <stdlib.h>
#include <string.h>

#define QUEUED   6u  /* batches of a rank in memory */
#define FORESEEN 12u /* bytes a block, to know when it is needed in the next epoch */

uint64_t cluster_blocks(const struct cluster *c)
{
    return c->records / c->block;
}

uint64_t cluster_share(const struct cluster *c)
{
    return cluster_blocks(c) / c->nodes;
}

uint64_t block_bytes(const struct cluster *c)
{
    return c->block * c->record_bytes;
}

uint64_t cluster_room(const struct cluster *c)
{
    return c->cache / block_bytes(c);
}

static void make_subset(const struct cluster *c, uint64_t blocks, struct subset *s)
{
    *s = (struct subset){.records = blocks * c->block, .blocks = (uint32_t)blocks, .stride = c->block};
    s->block = take_memory(s->blocks, sizeof *s->block);
    for (uint32_t i = 0; i < s->blocks; i++) {
        uint64_t first = (uint64_t)i * c->block;
        s->block[i] = (struct subset_block){
            .number = i, .first_id = first, .records = c->block, .count = c->block, .before = first};
    }
}

static struct plan_options plan_for(const struct cluster *c)
{
    return (struct plan_options){
        .seed = c->seed, .window = (uint64_t)c->window * c->nodes, .lanes = c->nodes, .reuse = 1};
}

/* ---------------------------------------------------------------------------------------------------- one lane */

/* Of a lane that stands for all: before which of its records each of its blocks enters. */
static struct {
    struct cluster of;
    uint64_t *before;
} entries;

static void take_entries(const struct cluster *c)
{
    struct plan_options o = {.seed = c->seed, .window = c->window, .reuse = 1};
    struct subset s;
    struct bins *bins;
    apl_error err;
    bool failed;
    uint32_t delivery, entered = 0, known = 0;
    make_subset(c, cluster_share(c), &s);
    if (bins_new(&o, &s, &bins, &err) != APL_OK)
        give_up("%s", err.message);
    free(entries.before);
    entries.of = *c;
    entries.before = take_memory(s.blocks, sizeof *entries.before);
    for (uint64_t drawn = 0; bins_take(bins, &delivery, 1, &failed) == 1; drawn++) {
        (void)bins_entered(bins, &entered);
        while (known < entered)
            entries.before[known++] = drawn;
    }
    bins_free(bins);
    free(s.block);
}

uint64_t entered_by(const struct cluster *c, uint64_t drawn)
{
    if (!entries.before || memcmp(&entries.of, c, sizeof *c) != 0)
        take_entries(c);
    uint64_t low = 0, high = cluster_share(c); /* the first block that enters later */
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (entries.before[middle] <= drawn)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct bins *make_plan(const struct cluster *c, const struct subset *s)
{
    struct plan_options o = plan_for(c);
    struct bins *plan;
    apl_error err;
    if (c->records % ((uint64_t)c->block * c->nodes) || c->window < c->block ||
        c->window >= cluster_share(c) * c->block)
        give_up("nodes must have equally many full blocks, and windows that hold a block, and less than all");
    if (bins_new(&o, s, &plan, &err) != APL_OK)
        give_up("%s", err.message);
    return plan;
}

/* By the reader's own formulas and structures. */
static void measure(const struct cluster *c, const struct subset *s, struct orders *orders)
{
    struct plan_options o = plan_for(c);
    uint64_t slots = (uint64_t)c->window * c->record_bytes, tallies = c->records / 8 * c->ranks;
    uint64_t blocks =
        s->blocks * (sizeof(struct subset_block) + 2 * (sizeof(struct cached_block) + 4) + FORESEEN);
    uint64_t batches = (uint64_t)QUEUED * c->ranks * c->batch * c->record_bytes;
    orders->plan_bytes = plan_bytes(&o, s);
    orders->memory = orders->plan_bytes + blocks + tallies + slots + batches + AHEAD_BYTES;
}

/* Deals an epoch to the ranks as the reader does: all steps but the last are alike. */
static void deal_epoch(const struct cluster *c, struct orders *orders)
{
    struct reader_options o = {.world = c->nodes * c->ranks};
    uint64_t whole = (uint64_t)o.world * c->batch, steps = c->records / whole, left = c->records % whole;
    uint64_t *got = take_memory(o.world, sizeof *got);
    o.plan.lanes = c->nodes;
    for (unsigned last = 0; last < 2; last++) {
        uint64_t n = last ? left : whole, times = last ? 1 : steps;
        struct deal deal = deal_begin(&o, last ? steps * whole : 0, n);
        for (uint64_t k = 0; k < n && times; k++)
            got[deal_rank(&deal, k)] += times;
    }
    orders->least = orders->most = got[0];
    for (uint32_t r = 0; r < o.world; r++) {
        orders->least = got[r] < orders->least ? got[r] : orders->least;
        orders->most = got[r] > orders->most ? got[r] : orders->most;
    }
    free(got);
}

void orders_take(const struct cluster *c, struct orders *orders)
{
    struct subset subset;
    make_subset(c, cluster_blocks(c), &subset);
    struct bins *plan = make_plan(c, &subset);
    orders->epoch = take_memory(c->epochs, sizeof *orders->epoch);
    orders->place = take_memory(c->epochs, sizeof *orders->place);
    for (uint32_t e = 0; e < c->epochs; e++) {
        orders->epoch[e] = take_memory(subset.blocks, sizeof **orders->epoch);
        orders->place[e] = take_memory(subset.blocks, sizeof **orders->place);
        entering_order(c->seed, e, false, subset.blocks, orders->epoch[e]);
        for (uint32_t i = 0; i < subset.blocks; i++)
            orders->place[e][orders->epoch[e][i]] = i;
    }
    measure(c, &subset, orders);
    deal_epoch(c, orders);
    bins_free(plan);
    free(subset.block);
}

void orders_free(const struct cluster *c, struct orders *orders)
{
    for (uint32_t e = 0; e < c->epochs; e++) {
        free(orders->epoch[e]);
        free(orders->place[e]);
    }
    free(orders->epoch);
    free(orders->place);
}

/* --------------------------------------------------------------------------------------------- record by record */

/* Blocks that enter at a turn of the bins, and one more: by so many a lane may be before, or behind, the one that stands for all. */
static uint64_t blocks_of_turn(const struct cluster *c)
{
    struct plan_options o = plan_for(c);
    struct subset s;
    make_subset(c, cluster_blocks(c), &s);
    struct plan_shape shape = plan_shape(&o, &s);
    free(s.block);
    return 2 * shape.window / (shape.bins + 3) / c->block + 3;
}

/* After the draw at `position`: each lane has let in the blocks that it should have, in the order of the plan. */
static void check_entered(const struct cluster *c, const struct bins *plan, const uint32_t *order,
                          uint64_t position, uint64_t turn)
{
    uint32_t entered;
    const uint32_t *blocks = bins_entered(plan, &entered);
    uint64_t *of_lane = take_memory(c->nodes, sizeof *of_lane);
    for (uint32_t i = 0; i < entered; i++) {
        unsigned lane = bins_lane(plan, blocks[i]);
        if (order[of_lane[lane]++ * c->nodes + lane] != blocks[i])
            give_up("block %u entered out of turn", blocks[i]);
    }
    for (uint32_t lane = 0; lane < c->nodes; lane++) {
        uint64_t drawn = position / c->nodes + (lane <= position % c->nodes);
        uint64_t due = drawn ? entered_by(c, drawn - 1) : 0;
        if (of_lane[lane] > due + turn || of_lane[lane] + turn < due)
            give_up("%llu blocks of lane %u have entered by its draw %llu", (unsigned long long)of_lane[lane],
                    lane, (unsigned long long)drawn);
    }
    free(of_lane);
}

void orders_check(const struct cluster *c)
{
    struct subset subset;
    struct reader_options o = {.world = c->nodes * c->ranks};
    uint64_t whole = (uint64_t)o.world * c->batch;
    uint32_t delivery, *order = take_memory(cluster_blocks(c), sizeof *order);
    uint64_t turn = blocks_of_turn(c);
    bool failed;
    make_subset(c, cluster_blocks(c), &subset);
    struct bins *plan = make_plan(c, &subset);
    o.plan.lanes = c->nodes;
    bins_begin(plan, 3);
    entering_order(c->seed, 3, false, subset.blocks, order);
    for (uint64_t p = 0; p < c->records; p++) {
        uint64_t step = p / whole * whole, left = c->records - step;
        struct deal deal = deal_begin(&o, step, left < whole ? left : whole);
        if (bins_take(plan, &delivery, 1, &failed) != 1)
            give_up("the plan ends early");
        unsigned lane = bins_lane(plan, delivery / subset.stride);
        if (lane != p % c->nodes || deal_rank(&deal, p - step) / c->ranks != lane)
            give_up("position %llu is of lane %u, and of another node", (unsigned long long)p, lane);
        if (p % 7 == 0)
            check_entered(c, plan, order, p, turn);
    }
    bins_free(plan);
    free(subset.block);
    free(order);
}
