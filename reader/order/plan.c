/* Planning an epoch: see plan.h. */
#include "plan.h"

#include "plan_bin.h"
#include "random.h"

#include <stdlib.h>

struct lane {
    uint32_t next;           /* its next block's place in the order */
    uint64_t standing, left; /* deliveries in the bins, and in all that has not been drawn */
    int64_t enter_at;        /* the next block enters when no more than this many stand; -1: none */
    struct random_stream draws;
    struct plan_bins bins;
};

struct plan {
    struct plan_options options;
    const struct subset *subset;
    uint32_t *order, *entered;
    uint16_t *lane_of; /* each block's lane; NULL: there is one */
    uint32_t entered_count;
    unsigned lane;              /* that is drawn from next */
    const uint32_t *cumulative; /* of the sample of the epoch; NULL: none */
    uint32_t expected;          /* deliveries in a full bin, and some more; 0: unknown */
    uint64_t position, bin_key;
    struct lane lanes[];
};

/* ------------------------------------------------------------------------------------------- beginning */

static bool allocate_plan(struct plan *p)
{
    bool ok = p->order && p->entered && (p->lane_of || p->options.lanes == 1);
    for (unsigned l = 0; ok && l < p->options.lanes; l++)
        ok = plan_bins_make(&p->lanes[l].bins, p->options.bins);
    return ok;
}

/* What a bin holds when the window is full: by chance some bins get more, rarely as much as this. */
static uint32_t expected_in_bin(const struct plan_options *o, const struct subset *subset, unsigned lanes)
{
    uint64_t window = o->window < subset->records ? o->window : subset->records;
    uint64_t each = o->sampler ? 0 : window * o->reuse / lanes / o->bins;
    return each ? (uint32_t)(each + each / 16 + 64) : 0;
}

apl_status plan_new(const struct plan_options *options, const struct subset *subset, struct plan **plan,
                    apl_error *err)
{
    if ((uint64_t)subset->blocks * subset->stride > UINT32_MAX / options->reuse)
        return fail(err, APL_E_UNSUPPORTED, "more than 2^32 deliveries an epoch");
    unsigned lanes = options->lanes ? options->lanes : 1;
    struct plan *p = calloc(1, sizeof *p + lanes * sizeof p->lanes[0]);
    if (!p)
        return fail_nomem(err);
    p->options = *options;
    p->options.lanes = lanes;
    p->subset = subset;
    p->expected = expected_in_bin(options, subset, lanes);
    p->order = calloc(subset->blocks, sizeof *p->order);
    p->entered = calloc(subset->blocks, sizeof *p->entered);
    p->lane_of = lanes > 1 ? calloc(subset->blocks, sizeof *p->lane_of) : NULL;
    if (!allocate_plan(p)) {
        plan_free(p);
        return fail_nomem(err);
    }
    *plan = p;
    plan_begin(p, 0);
    return APL_OK;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    for (unsigned l = 0; l < p->options.lanes; l++)
        plan_bins_free(&p->lanes[l].bins);
    free(p->order);
    free(p->entered);
    free(p->lane_of);
    free(p);
}

void plan_peek(const struct plan *p, uint64_t epoch, uint32_t *order)
{
    struct random_stream stream;
    for (uint32_t i = 0; i < p->subset->blocks; i++)
        order[i] = i;
    if (p->options.sequential)
        return;
    random_stream_init(&stream, random_epoch_key(p->options.seed, epoch, RANDOM_BLOCKS));
    for (uint32_t i = p->subset->blocks; i > 1; i--) { /* Fisher and Yates, in Durstenfeld's form */
        uint32_t k = random_below(&stream, i), t = order[k];
        order[k] = order[i - 1];
        order[i - 1] = t;
    }
}

/* The key of a lane's draws: lane 0 has the one that a plan without lanes has. */
static struct random_key lane_key(const struct plan *p, uint64_t epoch, unsigned lane)
{
    struct random_key key = random_epoch_key(p->options.seed, epoch, RANDOM_DRAWS);
    if (lane == 0)
        return key;
    uint64_t low[2] = {lane, 0}, high[2] = {lane, 1};
    return (struct random_key){siphash(key, low, 2), siphash(key, high, 2)};
}

/* Deliveries of a block in this epoch. */
static uint32_t block_deliveries(const struct plan *p, uint32_t number)
{
    return deliveries_of_block(p->cumulative, &p->subset->block[number], p->options.reuse);
}

/* Finds out when the lane's next block may enter. */
static void find_entry(const struct plan *p, struct lane *lane)
{
    uint64_t window = p->options.window / p->options.lanes * (p->cumulative ? 1 : p->options.reuse), all;
    lane->enter_at = -1;
    if (lane->next >= p->subset->blocks)
        return;
    all = block_deliveries(p, p->order[lane->next]);
    if (p->options.window >= p->subset->records) /* lanes differ in size: it covers each of them */
        lane->enter_at = INT64_MAX;
    else
        lane->enter_at = window > all ? (int64_t)(window - all) : 0;
}

static void begin_lane(struct plan *p, uint64_t epoch, unsigned l)
{
    struct lane *lane = &p->lanes[l];
    lane->next = l;
    lane->standing = lane->left = 0;
    for (uint32_t i = l; i < p->subset->blocks; i += p->options.lanes) {
        lane->left += block_deliveries(p, p->order[i]);
        if (p->lane_of)
            p->lane_of[p->order[i]] = (uint16_t)l;
    }
    find_entry(p, lane);
    random_stream_init(&lane->draws, lane_key(p, epoch, l));
    plan_bins_clear(&lane->bins);
}

void plan_begin(struct plan *p, uint64_t epoch)
{
    p->entered_count = 0;
    p->position = 0;
    p->lane = 0;
    plan_peek(p, epoch, p->order);
    if (p->options.sequential)
        return;
    if (p->options.sampler) {
        sampler_draw(p->options.sampler, epoch);
        p->cumulative = sampler_cumulative(p->options.sampler, epoch);
    }
    p->bin_key = random_epoch_key(p->options.seed, epoch, RANDOM_BINS).low;
    for (unsigned l = 0; l < p->options.lanes; l++)
        begin_lane(p, epoch, l);
}

/* -------------------------------------------------------------------------------------------- entering */

/* Scatters the records of a lane's next block over its bins. */
static bool enter(struct plan *p, struct lane *lane)
{
    uint32_t number = p->order[lane->next];
    lane->next += p->options.lanes;
    p->entered[p->entered_count++] = number;
    const struct subset_block *block = &p->subset->block[number];
    uint32_t reference = number * p->subset->stride;
    for (uint32_t i = 0; i < block->count; i++, reference++) {
        uint32_t copies = deliveries_of_record(p->cumulative, block->before + i, p->options.reuse);
        uint64_t id = block->first_id + (block->chosen ? block->chosen[i] : i);
        unsigned b = (unsigned)((random_mix(p->bin_key, id) >> 32) * p->options.bins >> 32);
        for (unsigned copy = 0; copy < copies; copy++)
            if (!bin_put(plan_bins_at(&lane->bins, b), reference * p->options.reuse + copy, p->expected))
                return false;
    }
    lane->standing += block_deliveries(p, number);
    find_entry(p, lane);
    return true;
}

static bool fits(const struct lane *lane)
{
    return (int64_t)lane->standing <= lane->enter_at;
}

/* Lets in every block of the lane that its window has room for. */
static bool refill_random(struct plan *p, struct lane *lane)
{
    if (!fits(lane))
        return true;
    do {
        if (!enter(p, lane))
            return false;
    } while (fits(lane));
    plan_bins_sum(&lane->bins);
    return true;
}

/* --------------------------------------------------------------------------------------------- drawing */

/* Draws from a lane's bins: bin and place in it from one uniform number below what stands. */
static struct pick draw_pick(struct lane *lane)
{
    uint32_t r = random_below(&lane->draws, (uint32_t)lane->standing);
    lane->standing--;
    lane->left--;
    return plan_bins_draw(&lane->bins, r);
}

/* The lane of the current position: the next in turn that has something left. */
static struct lane *next_lane(struct plan *p)
{
    if (p->options.lanes == 1)
        return &p->lanes[0];
    while (p->lanes[p->lane].left == 0)
        p->lane = (p->lane + 1) % p->options.lanes;
    struct lane *lane = &p->lanes[p->lane];
    p->lane = (p->lane + 1) % p->options.lanes;
    return lane;
}

/* The delivery at the current position when nothing is drawn: blocks enter one by one. */
static uint32_t next_in_order(struct plan *p)
{
    unsigned reuse = p->options.reuse;
    const struct subset_block *block = p->entered_count ? &p->subset->block[p->entered_count - 1] : NULL;
    if (!block || p->position == (block->before + block->count) * reuse) {
        p->entered[p->entered_count] = p->entered_count;
        block = &p->subset->block[p->entered_count++];
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a subset with records has blocks */
    uint64_t within = p->position - block->before * reuse;
    return (p->entered_count - 1) * p->subset->stride * reuse + (uint32_t)within;
}

/* Draws that wait to be taken, so that memory has time to bring what they are about. */
#define AHEAD 16u

static size_t next_drawn(struct plan *p, uint32_t *deliveries, size_t n)
{
    struct pick ahead[AHEAD];
    size_t drawn = 0, taken = 0;
    for (; drawn < n; drawn++, p->position++) {
        struct lane *lane = next_lane(p);
        if (fits(lane)) {
            for (; taken < drawn; taken++)
                deliveries[taken] = bin_take(&ahead[taken % AHEAD]); /* before its bin gets more */
            if (!refill_random(p, lane))
                break;
        }
        if (drawn - taken == AHEAD) {
            deliveries[taken] = bin_take(&ahead[taken % AHEAD]);
            taken++;
        }
        ahead[drawn % AHEAD] = draw_pick(lane);
    }
    for (; taken < drawn; taken++)
        deliveries[taken] = bin_take(&ahead[taken % AHEAD]);
    return drawn;
}

size_t plan_next(struct plan *p, uint32_t *deliveries, size_t n, bool *failed)
{
    uint64_t left = plan_length(p) - p->position;
    size_t k = 0;
    n = n < left ? n : (size_t)left;
    if (p->options.sequential)
        for (; k < n; k++, p->position++)
            deliveries[k] = next_in_order(p);
    else
        k = next_drawn(p, deliveries, n);
    *failed = k < n;
    return k;
}

/* ---------------------------------------------------------------------------------------------- asking */

const uint32_t *plan_order(const struct plan *p)
{
    return p->order;
}

const uint32_t *plan_entered(const struct plan *p, uint32_t *count)
{
    *count = p->entered_count;
    return p->entered;
}

unsigned plan_lane(const struct plan *p, uint32_t block)
{
    return p->lane_of ? p->lane_of[block] : 0;
}

uint64_t plan_position(const struct plan *p)
{
    return p->position;
}

uint64_t plan_length(const struct plan *p)
{
    return p->options.sampler ? sampler_records(p->options.sampler) : p->subset->records * p->options.reuse;
}

/* The most deliveries of a sample that stand at once. */
static uint64_t sampled_standing(const struct plan_options *o, const struct subset *subset)
{
    uint64_t all = sampler_records(o->sampler), block = 0;
    for (uint32_t i = 0; i < subset->blocks; i++)
        block = subset->block[i].count > block ? subset->block[i].count : block;
    uint64_t standing = o->window + o->lanes * block * sampler_limit(o->sampler);
    return o->window < subset->records && standing < all ? standing : all;
}

size_t plan_bytes(const struct plan_options *o, const struct subset *subset)
{
    uint64_t standing = (o->window < subset->records ? o->window : subset->records) * o->reuse;
    if (o->sampler)
        standing = sampled_standing(o, subset);
    uint64_t bins = (uint64_t)o->bins * o->lanes;
    size_t bytes = sizeof(struct plan) + o->lanes * sizeof(struct lane) +
                   subset->blocks * (2 * sizeof(uint32_t)) + o->lanes * plan_bins_bytes(o->bins);
    /* Bins differ in size, grow by halves, and are copied while they grow. */
    bytes += o->sampler ? (size_t)sampler_bytes(o->sampler) : 0;
    return o->sequential ? bytes : bytes + (size_t)(standing + standing / 2 + 256 * bins) * sizeof(uint32_t);
}
