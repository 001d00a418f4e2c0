/* Planning an epoch: see plan.h. */
#include "plan.h"

#include "random.h"

#include <stdlib.h>

/* Bins stand in rows of ROW, so that finding the bin of a number takes a few comparisons of running sums and
 * no branches. */
#define ROW      8u
#define MAX_ROWS (PLAN_MAX_BINS / ROW)

struct bin {
    uint32_t *deliveries;
    uint32_t count, capacity;
};

struct plan {
    struct plan_options options;
    const struct subset *subset;
    uint32_t *order;
    uint32_t entered;
    uint64_t position, standing;
    uint64_t bin_key;
    struct random_stream draws;
    unsigned rows;
    uint32_t row_sums[MAX_ROWS];      /* running sums of the rows' counts */
    uint32_t bin_sums[MAX_ROWS][ROW]; /* running sums of the bins' counts within each row */
    struct bin bins[PLAN_MAX_BINS];
};

/* ---------------------------------------------------------------------------------------------- beginning */

apl_status plan_new(const struct plan_options *options, const struct subset *subset, struct plan **plan,
                    apl_error *err)
{
    if ((uint64_t)subset->blocks * subset->stride > UINT32_MAX / options->reuse)
        return fail(err, APL_E_UNSUPPORTED, "more than 2^32 deliveries an epoch");
    struct plan *p = calloc(1, sizeof *p);
    uint32_t *order = calloc(subset->blocks, sizeof *order);
    if (!p || !order) {
        free(p);
        free(order);
        return fail_nomem(err);
    }
    p->options = *options;
    p->subset = subset;
    p->order = order;
    p->rows = (options->bins + ROW - 1) / ROW;
    *plan = p;
    plan_begin(p, 0);
    return APL_OK;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    for (unsigned b = 0; b < PLAN_MAX_BINS; b++)
        free(p->bins[b].deliveries);
    free(p->order);
    free(p);
}

static void shuffle_blocks(struct plan *p, uint64_t epoch)
{
    struct random_stream stream;
    random_stream_init(&stream, random_epoch_key(p->options.seed, epoch, RANDOM_BLOCKS));
    for (uint32_t i = p->subset->blocks; i > 1; i--) { /* Fisher and Yates, in Durstenfeld's form */
        uint32_t k = random_below(&stream, i), t = p->order[k];
        p->order[k] = p->order[i - 1];
        p->order[i - 1] = t;
    }
}

void plan_begin(struct plan *p, uint64_t epoch)
{
    p->entered = 0;
    p->position = p->standing = 0;
    for (uint32_t i = 0; i < p->subset->blocks; i++)
        p->order[i] = i;
    if (p->options.sequential)
        return;
    shuffle_blocks(p, epoch);
    p->bin_key = random_epoch_key(p->options.seed, epoch, RANDOM_BINS).low;
    random_stream_init(&p->draws, random_epoch_key(p->options.seed, epoch, RANDOM_DRAWS));
    for (unsigned b = 0; b < p->options.bins; b++)
        p->bins[b].count = 0;
    memset(p->row_sums, 0, sizeof p->row_sums);
    memset(p->bin_sums, 0, sizeof p->bin_sums);
}

/* ----------------------------------------------------------------------------------------------- entering */

static bool bin_put(struct bin *bin, uint32_t delivery)
{
    if (bin->count == bin->capacity) {
        uint32_t capacity = bin->capacity ? bin->capacity + bin->capacity / 2 : 64;
        uint32_t *grown = realloc(bin->deliveries, capacity * sizeof *grown);
        if (!grown)
            return false;
        bin->deliveries = grown;
        bin->capacity = capacity;
    }
    bin->deliveries[bin->count++] = delivery;
    return true;
}

static void take_sums(struct plan *p)
{
    uint32_t all = 0;
    for (unsigned r = 0; r < p->rows; r++) {
        uint32_t row = 0;
        for (unsigned i = 0; i < ROW; i++)
            p->bin_sums[r][i] = row += p->bins[r * ROW + i].count;
        p->row_sums[r] = all += row;
    }
}

/* Scatters the records of the next block over the bins. */
static bool enter(struct plan *p)
{
    uint32_t number = p->order[p->entered++];
    const struct subset_block *block = &p->subset->block[number];
    uint32_t reference = number * p->subset->stride;
    for (uint32_t i = 0; i < block->count; i++, reference++) {
        uint64_t id = block->first_id + (block->members ? block->members[i] : i);
        unsigned b = (unsigned)((random_mix(p->bin_key, id) >> 32) * p->options.bins >> 32);
        for (unsigned copy = 0; copy < p->options.reuse; copy++)
            if (!bin_put(&p->bins[b], reference * p->options.reuse + copy))
                return false;
    }
    p->standing += (uint64_t)block->count * p->options.reuse;
    return true;
}

static bool fits(const struct plan *p)
{
    return p->entered < p->subset->blocks &&
           p->standing + (uint64_t)p->subset->block[p->order[p->entered]].count * p->options.reuse <=
               p->options.window * p->options.reuse;
}

/* Lets in every block that the window has room for. */
static bool refill(struct plan *p)
{
    if (!fits(p))
        return true;
    do {
        if (!enter(p))
            return false;
    } while (fits(p));
    take_sums(p);
    return true;
}

/* ------------------------------------------------------------------------------------------------- drawing
 */

/* Takes one delivery out of the bins: bin and place in it from one uniform number below what stands. */
static uint32_t draw(struct plan *p)
{
    uint32_t r = random_below(&p->draws, (uint32_t)p->standing);
    unsigned row = 0, i = 0;
    for (unsigned k = 0; k < p->rows; k++)
        row += p->row_sums[k] <= r;
    r -= row ? p->row_sums[row - 1] : 0;
    uint32_t *sums = p->bin_sums[row];
    for (unsigned k = 0; k < ROW; k++)
        i += sums[k] <= r;
    r -= i ? sums[i - 1] : 0;
    struct bin *bin = &p->bins[row * ROW + i];
    uint32_t delivery = bin->deliveries[r];
    bin->deliveries[r] = bin->deliveries[--bin->count]; /* its order within the bin means nothing */
    for (unsigned k = 0; k < p->rows; k++)
        p->row_sums[k] -= k >= row;
    for (unsigned k = 0; k < ROW; k++)
        sums[k] -= k >= i;
    p->standing--;
    return delivery;
}

/* The delivery at the current position when nothing is drawn: blocks enter one by one. */
static uint32_t next_in_order(struct plan *p)
{
    const struct subset_block *block = p->entered ? &p->subset->block[p->entered - 1] : NULL;
    unsigned reuse = p->options.reuse;
    if (!block || p->position == (block->first + block->count) * reuse) {
        p->entered++;
        block = &p->subset->block[p->entered - 1];
    }
    uint64_t within = p->position - block->first * reuse;
    return (p->entered - 1) * p->subset->stride * reuse + (uint32_t)within;
}

size_t plan_next(struct plan *p, uint32_t *deliveries, size_t n, bool *failed)
{
    uint64_t left = plan_length(p) - p->position;
    size_t k = 0;
    *failed = false;
    n = n < left ? n : (size_t)left;
    for (; k < n; k++, p->position++) {
        if (p->options.sequential)
            deliveries[k] = next_in_order(p);
        else if (refill(p))
            deliveries[k] = draw(p);
        else
            break;
    }
    *failed = k < n;
    return k;
}

/* ------------------------------------------------------------------------------------------------- asking */

const uint32_t *plan_order(const struct plan *p)
{
    return p->order;
}

uint32_t plan_entered(const struct plan *p)
{
    return p->entered;
}

uint64_t plan_position(const struct plan *p)
{
    return p->position;
}

uint64_t plan_length(const struct plan *p)
{
    return p->subset->records * p->options.reuse;
}

size_t plan_bytes(const struct plan_options *o, const struct subset *subset)
{
    uint64_t standing = (o->window < subset->records ? o->window : subset->records) * o->reuse;
    size_t bytes = sizeof(struct plan) + subset->blocks * sizeof(uint32_t);
    /* Bins differ in size, grow by halves, and are copied while they grow. */
    return o->sequential
               ? bytes
               : bytes + (size_t)(standing + standing / 2 + 256 * (uint64_t)o->bins) * sizeof(uint32_t);
}
