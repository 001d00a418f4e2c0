/* Pools of batches: see bucket_plan.h. */
#include "bucket_plan.h"

#include "buckets.h"
#include "delivery.h"
#include "random.h"

#include <stdlib.h>

apl_status bucket_plan_open(apl_reader *r, apl_error *err)
{
    struct bucket_plan *p = &r->planner.bucket;
    const struct bucket *b = &r->spec.options.bucket;
    if (b->batches == 0)
        return APL_OK;
    p->drawn = malloc(b->pool * sizeof *p->drawn);
    p->keys = malloc(b->pool * sizeof *p->keys);
    p->order = malloc((b->pool / options_global_batch(&r->spec.options) + 1) * sizeof *p->order);
    return p->drawn && p->keys && p->order ? APL_OK : fail_nomem(err);
}

void bucket_plan_free(struct bucket_plan *p)
{
    free(p->drawn);
    free(p->keys);
    free(p->order);
}

void bucket_plan_begin(struct bucket_plan *p)
{
    p->count = p->next = 0;
    p->number = 0;
}

void bucket_plan_jump(apl_reader *r, uint64_t position)
{
    if (r->spec.options.bucket.batches)
        r->planner.bucket.number = position / r->spec.options.bucket.pool;
}

/* --------------------------------------------------------------------------------------------- a pool */

static int order_of_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t length_of(const apl_reader *r, uint32_t delivery)
{
    uint32_t nth, copy, index = delivery_block(&r->spec, delivery, &nth, &copy);
    return r->spec.options.bucket.lengths[r->spec.subset.block[index].before + nth];
}

/* The batches of a pool in random order, drawn for this pool of this epoch. */
static void shuffle_batches(const apl_reader *r, struct bucket_plan *p, uint32_t batches)
{
    struct random_stream stream;
    struct random_key key = random_epoch_key(r->spec.options.plan.seed, r->planner.epoch, RANDOM_BUCKETS);
    uint64_t low[2] = {p->number, 0}, high[2] = {p->number, 1};
    random_stream_init(&stream, (struct random_key){siphash(key, low, 2), siphash(key, high, 2)});
    for (uint32_t i = 0; i < batches; i++)
        p->order[i] = i;
    for (uint32_t i = batches; i > 1; i--) {
        uint32_t k = random_below(&stream, i), t = p->order[k];
        p->order[k] = p->order[i - 1];
        p->order[i - 1] = t;
    }
}

/* Sorts a pool by length, of equal ones by the order of the draws; within a batch the draws keep their order, so that ranks have
 * no part of the lengths. What fills no batch stays at the end, as it was drawn. */
static void arrange(const apl_reader *r, struct bucket_plan *p)
{
    size_t batch = (size_t)options_global_batch(&r->spec.options), batches = p->count / batch;
    for (size_t i = 0; i < batches * batch; i++)
        p->keys[i] = (uint64_t)length_of(r, p->drawn[i]) << 32 | i;
    qsort(p->keys, batches * batch, sizeof *p->keys, order_of_keys);
    shuffle_batches(r, p, (uint32_t)batches);
    for (size_t i = 0; i < batches * batch; i++)
        p->keys[i] &= UINT32_MAX;
    for (size_t b = 0; b < batches; b++)
        qsort(p->keys + b * batch, batch, sizeof *p->keys, order_of_keys);
}

/* Draws the next pool; false: out of memory, or (the pool is empty) the epoch is over. */
static bool draw_pool(apl_reader *r, struct bucket_plan *p, bool *failed)
{
    p->next = 0;
    p->count = bins_take(r->planner.bins, p->drawn, (size_t)r->spec.options.bucket.pool, failed);
    if (*failed || p->count == 0)
        return false;
    arrange(r, p);
    p->number++;
    return true;
}

size_t bucket_plan_draw(apl_reader *r, uint32_t *deliveries, size_t n, bool *failed)
{
    struct bucket_plan *p = &r->planner.bucket;
    size_t batch = (size_t)options_global_batch(&r->spec.options), k = 0;
    for (; k < n; k++) {
        if (p->next == p->count && !draw_pool(r, p, failed))
            break;
        size_t at = p->next++;
        bool whole = at < p->count / batch * batch;
        deliveries[k] = p->drawn[whole ? p->keys[p->order[at / batch] * batch + at % batch] : at];
    }
    return k;
}
