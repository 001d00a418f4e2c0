/* Planning rows of tokens: see packed_plan.h. */
#include "packed_plan.h"

#include "packing.h"

#include <stdlib.h>

apl_status packed_plan_open(apl_reader *r, apl_error *err)
{
    struct packed_plan *p = &r->planner.packed;
    if (!r->spec.options.pack.row)
        return APL_OK;
    p->deliveries = malloc(r->spec.options.pack.most_of_all * sizeof *p->deliveries);
    return p->deliveries ? APL_OK : fail_nomem(err);
}

void packed_plan_free(struct packed_plan *p)
{
    free(p->deliveries);
}

void packed_plan_begin(apl_reader *r)
{
    r->planner.packed.count = 0;
    r->planner.packed.pending = false;
}

/* What is left of the last delivery begins the next batch. */
static void begin_with_rest(struct packed_plan *p)
{
    p->skip = p->pending ? p->used : 0;
    if (p->pending)
        p->deliveries[0] = p->deliveries[p->count - 1];
    p->count = p->pending;
    p->pending = false;
}

/* Does the end of an epoch take along all that is empty? That of a sample is where its tokens are there. */
static bool takes_empty(const apl_reader *r, uint64_t n)
{
    return r->planner.position + n == r->planner.length && !r->spec.options.plan.sampler;
}

bool packed_plan_draw(apl_reader *r, uint64_t n)
{
    struct packed_plan *p = &r->planner.packed;
    bool last = takes_empty(r, n), failed = false;
    begin_with_rest(p);
    uint64_t drawn = p->count ? packing_tokens(&r->spec, p->deliveries[0]) - p->skip : 0;
    while (drawn < n || last) {
        if (bins_take(r->planner.bins, &p->deliveries[p->count], 1, &failed) == 0)
            break;
        drawn += packing_tokens(&r->spec, p->deliveries[p->count++]);
    }
    p->pending = drawn > n;
    if (p->pending)
        p->used = packing_tokens(&r->spec, p->deliveries[p->count - 1]) - (drawn - n);
    return !failed;
}

/* Tokens from ... to-1 of the n that were drawn are a rank's: whole rows, but for the epoch's last. */
struct token_range {
    int64_t from, to, n;
};

/* --------------------------------------------------------------------------------------------- sharing */

static struct token_range find_range(const apl_reader *r, uint64_t rank, uint64_t n)
{
    const struct reader_options *o = &r->spec.options;
    uint64_t row = o->pack.row, rows = (n + row - 1) / row;
    bool full = n == options_global_batch(o);
    uint64_t from = (full ? rank * o->batch_size : rows * rank / o->world) * row;
    uint64_t to = (full ? (rank + 1) * o->batch_size : rows * (rank + 1) / o->world) * row;
    return (struct token_range){
        .from = (int64_t)(from < n ? from : n), .to = (int64_t)(to < n ? to : n), .n = (int64_t)n};
}

/* A delivery is at begin ... end-1 of what was drawn. Has the rank any of it; of an empty one, its place? */
static bool is_shared(const struct reader_options *o, unsigned rank, const struct token_range *range,
                      int64_t begin, int64_t end)
{
    if (begin == end)
        return begin < range->n ? begin >= range->from && begin < range->to : rank == o->world - 1;
    return begin < range->to && end > range->from;
}

/* Gives a batch its part of a delivery, if it has any. Returns whether the delivery ends in it. */
static bool share_delivery(apl_reader *r, struct job *job, uint32_t delivery, struct token_range range,
                           int64_t begin, int64_t end)
{
    if (!is_shared(&r->spec.options, job->outlet->rank, &range, begin, end))
        return false;
    if (job->rows == 0)
        job->skip = begin < range.from ? (uint64_t)(range.from - begin) : 0;
    job->deliveries[job->rows++] = delivery;
    if (end <= range.to)
        return true;
    job->more = true;
    cache_hold(r, delivery); /* before it may be passed */
    return false;
}

static void begin_shares(apl_reader *r, uint64_t position, uint64_t n)
{
    for (unsigned i = 0; i < r->outlet_count; i++) {
        struct job *job = r->outlets[i].planning;
        if (!job)
            continue;
        struct token_range range = find_range(r, r->outlets[i].rank, n);
        job->skip = 0;
        job->more = false;
        job->tokens = (uint64_t)(range.to - range.from);
        job->position = position + (uint64_t)range.from;
    }
}

/* That of a batch whose share has been begun. */
static struct token_range range_of(const struct job *job, uint64_t position, uint64_t n)
{
    int64_t from = (int64_t)(job->position - position);
    return (struct token_range){.from = from, .to = from + (int64_t)job->tokens, .n = (int64_t)n};
}

void packed_plan_share(apl_reader *r, uint64_t position, uint64_t n)
{
    const struct packed_plan *p = &r->planner.packed;
    int64_t begin = -(int64_t)p->skip, end;
    begin_shares(r, position, n);
    for (size_t i = 0; i < p->count; i++, begin = end) {
        bool ends = false;
        end = begin + packing_tokens(&r->spec, p->deliveries[i]);
        for (unsigned k = 0; k < r->outlet_count; k++) {
            struct job *job = r->outlets[k].planning;
            if (job)
                ends |= share_delivery(r, job, p->deliveries[i], range_of(job, position, n), begin, end);
        }
        if (end <= (int64_t)n && !ends)
            cache_pass(r, &p->deliveries[i], 1);
    }
}

void packed_plan_pass(apl_reader *r)
{
    const struct packed_plan *p = &r->planner.packed;
    cache_pass(r, p->deliveries, p->count - p->pending);
}

size_t packed_plan_draw_rest(apl_reader *r, bool *failed)
{
    struct packed_plan *p = &r->planner.packed;
    begin_with_rest(p);
    if (p->count == 0)
        p->count = bins_take(r->planner.bins, p->deliveries, r->spec.options.pack.most_of_all, failed);
    return p->count;
}
