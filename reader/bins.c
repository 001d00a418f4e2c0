/* The bins: making them, beginning epochs, taking; see bins.h. */
#include "bins_parts.h"
#include "entering.h"

#include <stdlib.h>
#include <string.h>

#define EARLY      ((uint64_t)1 << 26) /* deliveries of an epoch: from here on filling takes part of a second */
#define EARLY_COLD ((uint64_t)1 << 18) /* and here a millisecond, when nothing else is there to train on */

/* --------------------------------------------------------------------------------------------- opening */

/* Bins of a lane that have a place: whole, as many as may be shuffled; ring, the oldest and those to come; arriving, those that are open. */
static unsigned count_slots(const struct bins *b)
{
    if (b->options.arriving)
        return b->shape.bins;
    return b->shape.whole ? plan_shuffled(&b->options, &b->shape) : b->shape.bins + 1;
}

static bool make_whole(struct bins *b)
{
    uint64_t chunks = plan_chunks(&b->shape), m = b->shape.deliveries;
    b->by_lane = b->lane_of ? calloc(b->subset->blocks, sizeof *b->by_lane) : NULL;
    b->runs = malloc((m ? m : 1) * sizeof *b->runs);
    b->chunks = calloc(chunks, sizeof *b->chunks);
    b->starts = malloc(chunks * (b->shape.bins + 2) * sizeof *b->starts);
    b->scratch = calloc(plan_fillers(&b->options, &b->shape), sizeof *b->scratch);
    bool ok = b->runs && b->chunks && b->starts && b->scratch && (b->by_lane || !b->lane_of);
    size_t bytes = (plan_largest_chunk(&b->options, &b->shape) + 1) * sizeof *b->scratch[0];
    for (unsigned i = 0; ok && i < plan_fillers(&b->options, &b->shape); i++, b->scratch_count += ok)
        ok = (b->scratch[i] = malloc(bytes)) != NULL;
    return ok;
}

static bool make_ring(struct bins *b)
{
    uint64_t most = plan_most_of_block(&b->options, &b->shape);
    b->turn_of = calloc(b->subset->blocks, sizeof *b->turn_of);
    b->gone = calloc(b->subset->blocks, sizeof *b->gone);
    b->delays = malloc(2 * (most ? most : 1) * sizeof *b->delays); /* and as many deliveries, or numbers */
    return b->turn_of && b->gone && b->delays;
}

static bool make_lanes(struct bins *b)
{
    for (unsigned l = 0; l < b->shape.lanes; l++) {
        b->lanes[l].bins = calloc(b->slots, sizeof *b->lanes[l].bins);
        b->lanes[l].gates = calloc(b->slots, sizeof *b->lanes[l].gates);
        if (!b->lanes[l].bins || !b->lanes[l].gates)
            return false;
        for (unsigned i = 0; i < b->slots; i++)
            pthread_mutex_init(&b->lanes[l].gates[i].lock, NULL);
    }
    return true;
}

static bool make_bins(struct bins *b)
{
    uint32_t n = b->subset->blocks;
    b->order = calloc(n, sizeof *b->order);
    b->entered = calloc(n, sizeof *b->entered);
    b->lane_of = b->shape.lanes > 1 ? calloc(n, sizeof *b->lane_of) : NULL;
    bool ok = b->order && b->entered && (b->lane_of || b->shape.lanes == 1);
    if (b->options.sequential)
        b->gone = calloc(n, sizeof *b->gone);
    if (b->options.sequential || !ok)
        return ok && b->gone;
    if (!b->options.arriving)
        ok = b->shape.whole ? make_whole(b) : make_ring(b);
    return ok && make_lanes(b);
}

apl_status bins_new(const struct plan_options *options, const struct subset *subset, struct bins **bins,
                    apl_error *err)
{
    if ((uint64_t)subset->blocks * subset->stride > UINT32_MAX / options->reuse)
        return fail(err, APL_E_UNSUPPORTED, "more than 2^32 deliveries an epoch");
    struct plan_shape shape = plan_shape(options, subset);
    struct bins *b = calloc(1, sizeof *b + shape.lanes * sizeof b->lanes[0]);
    if (!b)
        return fail_nomem(err);
    b->options = *options;
    b->shape = shape;
    b->subset = subset;
    b->slots = count_slots(b);
    b->cold = true;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->idle, NULL);
    if (!make_bins(b)) {
        bins_free(b);
        return fail_nomem(err);
    }
    *bins = b;
    bins_begin(b, 0);
    return APL_OK;
}

static void free_lane(struct bins *b, struct lane *lane)
{
    for (unsigned i = 0; lane->bins && lane->gates && i < b->slots; i++) {
        pthread_mutex_destroy(&lane->gates[i].lock);
        free(lane->bins[i].deliveries);
    }
    free(lane->bins);
    free(lane->gates);
}

void bins_free(struct bins *b)
{
    if (!b)
        return;
    for (unsigned l = 0; l < b->shape.lanes; l++)
        free_lane(b, &b->lanes[l]);
    for (unsigned i = 0; b->scratch && i < plan_fillers(&b->options, &b->shape); i++)
        free(b->scratch[i]);
    free(b->closed.deliveries);
    free(b->scratch);
    free(b->order);
    free(b->entered);
    free(b->lane_of);
    free(b->by_lane);
    free(b->runs);
    free(b->chunks);
    free(b->starts);
    free(b->turn_of);
    free(b->gone);
    free(b->past.deliveries);
    free(b->delays);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->idle);
    free(b);
}

/* ------------------------------------------------------------------------------------------- beginning */

/* Who has claimed work of the epoch before is soon done with it; from here on nobody claims any. */
static void wait_for_helpers(struct bins *b)
{
    pthread_mutex_lock(&b->lock);
    b->next_chunk = b->chunk_count = 0;
    for (unsigned l = 0; l < b->shape.lanes; l++)
        b->lanes[l].turns = b->lanes[l].begun = b->lanes[l].ripe = 0;
    while (b->helping)
        pthread_cond_wait(&b->idle, &b->lock);
    b->filled = 0;
    pthread_mutex_unlock(&b->lock);
}

static void begin_lane(struct bins *b, unsigned l)
{
    struct lane *lane = &b->lanes[l];
    for (unsigned i = 0; i < b->slots; i++) {
        lane->bins[i].count = 0;
        lane->gates[i].done = 0;
        lane->gates[i].turn = i;
    }
    lane->left = lane->standing = lane->first = 0;
    lane->at = 0;
    lane->next = l;
    lane->draining = lane->ending = false;
}

/* Deals the blocks to the lanes. */
static void deal_blocks(struct bins *b)
{
    for (uint32_t i = 0; i < b->subset->blocks; i++) {
        unsigned l = i % b->shape.lanes;
        b->lanes[l].left += bins_of_block(b, b->order[i]);
        if (b->lane_of)
            b->lane_of[b->order[i]] = (uint16_t)l;
    }
}

static void take_keys(struct bins *b, uint64_t epoch)
{
    uint64_t seed = b->options.seed;
    b->place = random_epoch_key(seed, epoch, RANDOM_PLACE);
    b->shuffle = random_epoch_key(seed, epoch, RANDOM_SHUFFLE);
    b->spread = random_epoch_key(seed, epoch, RANDOM_SPREAD);
    b->end = random_epoch_key(seed, epoch, RANDOM_END);
    b->late = random_epoch_key(seed, epoch, RANDOM_LATE);
}

void bins_begin(struct bins *b, uint64_t epoch)
{
    wait_for_helpers(b);
    b->epoch = epoch;
    b->position = 0;
    b->entered_count = b->past.count = 0;
    b->lane = 0;
    if (b->gone)
        memset(b->gone, 0, b->subset->blocks * sizeof *b->gone);
    entering_order(b->options.seed, epoch, b->options.sequential, b->subset->blocks, b->order);
    if (b->options.sequential)
        return;
    if (b->options.sampler) {
        sampler_draw(b->options.sampler, epoch);
        b->cumulative = sampler_cumulative(b->options.sampler, epoch);
    }
    take_keys(b, epoch);
    for (unsigned l = 0; l < b->shape.lanes; l++)
        begin_lane(b, l);
    deal_blocks(b);
    if (b->options.arriving)
        bins_begin_arriving(b);
    else if (b->shape.whole)
        bins_cut(b);
}

/* ---------------------------------------------------------------------------------------------- taking */

/* The first bin of an epoch is gathered by a pass over all hashes, rather than filled with all others, where its deliveries are waited for:
 * when the reader has just been opened, or gone to a place, or there are many. */
static bool comes_early(const struct bins *b, const struct lane *lane, uint64_t turn)
{
    return turn == lane->first && (lane->first > 0 || b->shape.deliveries >= (b->cold ? EARLY_COLD : EARLY));
}

/* whole: all blocks enter, and all bins are filled, unless this one comes first. */
static void fill_whole(struct bins *b, const struct lane *lane, uint64_t turn)
{
    if (!b->entered_count)
        memcpy(b->entered, b->order, b->subset->blocks * sizeof *b->entered);
    b->entered_count = b->subset->blocks;
    if (comes_early(b, lane, turn))
        return;
    bins_fill_all(b);
    b->cold = false;
}

/* Begins to drain the bin of a lane's next turn. False: out of memory, and the turn has not begun. */
static bool drain_next(struct bins *b, unsigned l)
{
    struct lane *lane = &b->lanes[l];
    uint64_t turn = lane->turns;
    if (b->shape.whole)
        fill_whole(b, lane, turn);
    bins_help_until(b, l, turn);
    if (!bins_ready(b, l, turn))
        return false;
    pthread_mutex_lock(&b->lock);
    lane->turns = turn + 1;
    lane->ripe = !b->shape.whole ? turn + 2 : b->filled == b->chunk_count ? b->shape.bins : 0;
    pthread_mutex_unlock(&b->lock);
    lane->at = 0;
    lane->draining = true;
    return true;
}

bool bins_skip(struct bins *b, unsigned l, uint32_t skip)
{
    struct lane *lane = &b->lanes[l];
    if (!drain_next(b, l))
        return false;
    lane->at = skip;
    lane->left -= skip;
    return true;
}

/* The bin of a lane that has deliveries left: the one that is drained, or the first after it that is not empty. NULL: out of memory. */
static struct bin *bin_to_drain(struct bins *b, unsigned l)
{
    struct lane *lane = &b->lanes[l];
    for (;;) {
        struct bin *bin = lane->draining ? bins_at(b, lane, lane->turns - 1) : NULL;
        if (bin && lane->at < bin->count)
            return bin;
        if (bin) {
            lane->standing -= b->shape.whole ? 0 : bin->count;
            bin->count = lane->at = 0;
        }
        if ((!b->shape.whole && !bins_enter(b, l)) || !drain_next(b, l))
            return NULL;
    }
}

/* The lane of the current position: the next in turn that has something left. */
static unsigned next_lane(struct bins *b)
{
    while (b->lanes[b->lane].left == 0)
        b->lane = (b->lane + 1) % b->shape.lanes;
    unsigned l = b->lane;
    b->lane = (b->lane + 1) % b->shape.lanes;
    return l;
}

/* Takes from the bins: with one lane as many as a bin has, or one after the other from lane to lane. */
static size_t take_drained(struct bins *b, uint32_t *deliveries, size_t n)
{
    size_t taken = 0;
    while (taken < n) {
        unsigned l = b->shape.lanes > 1 ? next_lane(b) : 0;
        struct lane *lane = &b->lanes[l];
        struct bin *bin = bin_to_drain(b, l);
        if (!bin)
            break;
        size_t some = b->shape.lanes > 1 ? 1 : bin->count - lane->at;
        some = some < n - taken ? some : n - taken;
        memcpy(deliveries + taken, bin->deliveries + lane->at, some * sizeof *deliveries);
        lane->at += (uint32_t)some;
        lane->left -= some;
        taken += some;
        b->position += some;
    }
    return taken;
}

/* When nothing is drawn: blocks enter one by one. */
static size_t take_in_order(struct bins *b, uint32_t *deliveries, size_t n)
{
    uint64_t reuse = b->options.reuse;
    for (size_t k = 0; k < n; k++, b->position++) {
        const struct subset_block *block = b->entered_count ? &b->subset->block[b->entered_count - 1] : NULL;
        if (!block || b->position == (block->before + block->count) * reuse) {
            b->entered[b->entered_count] = b->entered_count;
            block = &b->subset->block[b->entered_count++];
        }
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a subset with records has blocks */
        uint64_t within = b->position - block->before * reuse;
        deliveries[k] = (b->entered_count - 1) * b->subset->stride * (uint32_t)reuse + (uint32_t)within;
    }
    return n;
}

size_t bins_take(struct bins *b, uint32_t *deliveries, size_t n, bool *failed)
{
    uint64_t left = bins_length(b) - b->position;
    n = n < left ? n : (size_t)left;
    *failed = false;
    if (b->options.sequential)
        return take_in_order(b, deliveries, n);
    if (b->options.arriving)
        return bins_take_arrived(b, deliveries, n);
    size_t taken = take_drained(b, deliveries, n);
    *failed = taken < n;
    return taken;
}

/* ---------------------------------------------------------------------------------------------- asking */

const uint32_t *bins_order(const struct bins *b)
{
    return b->order;
}

const uint32_t *bins_entered(const struct bins *b, uint32_t *count)
{
    *count = b->entered_count;
    return b->entered;
}

unsigned bins_lane(const struct bins *b, uint32_t block)
{
    return b->lane_of ? b->lane_of[block] : 0;
}

uint64_t bins_position(const struct bins *b)
{
    return b->position;
}

uint64_t bins_length(const struct bins *b)
{
    return b->cumulative ? b->cumulative[b->subset->records] : b->shape.deliveries;
}
