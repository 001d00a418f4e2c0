/* Planning rows of tokens: see packing.h. */
#include "packing.h"

#include "delivery.h"
#include "lengths.h"

#include <stdlib.h>

#define BINS (1u << 16) /* of lengths; the last is of all that are longer */

/* --------------------------------------------------------------------------------------------- opening */

/* At most so many deliveries have a token among any n in a row, or are empty: the shortest are counted first. */
static uint64_t most_deliveries(const struct packing *pack, uint64_t records, unsigned reuse, uint64_t n,
                                uint32_t *bins)
{
    uint64_t most = 2; /* that begin before, and end after */
    memset(bins, 0, BINS * sizeof *bins);
    for (uint64_t i = 0; i < records; i++)
        bins[pack->lengths[i] < BINS ? pack->lengths[i] : BINS - 1]++;
    most += (uint64_t)bins[0] * reuse;
    for (uint64_t length = 1, left = n; length < BINS && left >= length; length++) {
        uint64_t all = (uint64_t)bins[length] * reuse, fit = left / length, take = all < fit ? all : fit;
        most += take;
        left -= take * length;
    }
    return most;
}

static apl_status count_tokens(apl_reader *r, apl_error *err)
{
    struct reader_options *o = &r->options;
    struct packing *pack = &o->pack;
    uint32_t *bins = malloc(BINS * sizeof *bins);
    if (!bins)
        return fail_nomem(err);
    for (uint64_t i = 0; i < r->subset.records; i++)
        pack->tokens += (uint64_t)pack->lengths[i] * o->plan.reuse;
    uint64_t own = o->batch_size * pack->row;
    pack->most = most_deliveries(pack, r->subset.records, o->plan.reuse, own, bins);
    pack->most_of_all = most_deliveries(pack, r->subset.records, o->plan.reuse, o->world * own, bins);
    free(bins);
    if (pack->tokens == 0)
        return fail(err, APL_E_INVALID, "field %s: all values are empty: there is nothing to pack",
                    r->schema->fields[pack->field].name);
    return APL_OK;
}

apl_status packing_open(apl_reader *r, const bool *packed, apl_error *err)
{
    struct packing *pack = &r->options.pack;
    pack->lengths = malloc(r->subset.records * sizeof *pack->lengths);
    if (!pack->lengths)
        return fail_nomem(err);
    TRY(lengths_read(r, pack->field, pack->lengths, err));
    for (unsigned f = 0; f < r->schema->count; f++)
        if (packed[f] && f != pack->field)
            TRY(lengths_check_alike(r, pack->field, pack->lengths, f, err));
    lengths_forget_unknown(pack->lengths, r->subset.records);
    return count_tokens(r, err);
}

void packing_free(struct packing *pack)
{
    free(pack->lengths);
}

apl_status packing_plan_open(apl_reader *r, apl_error *err)
{
    struct packed_plan *p = &r->planner.packed;
    if (!r->options.pack.row)
        return APL_OK;
    p->deliveries = malloc(r->options.pack.most_of_all * sizeof *p->deliveries);
    return p->deliveries ? APL_OK : fail_nomem(err);
}

void packing_plan_free(struct packed_plan *p)
{
    free(p->deliveries);
}

uint64_t packing_bytes(const apl_reader *r)
{
    const struct packing *pack = &r->options.pack;
    return pack->row ? r->subset.records * sizeof *pack->lengths + pack->most_of_all * sizeof(uint32_t) : 0;
}

/* --------------------------------------------------------------------------------------------- drawing */

uint32_t packing_tokens(const apl_reader *r, uint32_t delivery)
{
    uint32_t nth, copy, index = delivery_block(r, delivery, &nth, &copy);
    return r->options.pack.lengths[r->subset.block[index].before + nth];
}

void packing_begin(apl_reader *r)
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

bool packing_draw(apl_reader *r, uint64_t n)
{
    struct packed_plan *p = &r->planner.packed;
    bool last = r->planner.position + n == r->planner.length, failed = false;
    begin_with_rest(p);
    uint64_t drawn = p->count ? packing_tokens(r, p->deliveries[0]) - p->skip : 0;
    while (drawn < n || last) { /* the end takes along all that is empty */
        if (plan_next(r->planner.plan, &p->deliveries[p->count], 1, &failed) == 0)
            break;
        drawn += packing_tokens(r, p->deliveries[p->count++]);
    }
    p->pending = drawn > n;
    if (p->pending)
        p->used = packing_tokens(r, p->deliveries[p->count - 1]) - (drawn - n);
    return !failed;
}

/* --------------------------------------------------------------------------------------------- sharing */

/* Tokens from ... to-1 of the n that were drawn are a rank's: whole rows, but for the epoch's last. */
struct token_range {
    int64_t from, to, n;
};

static struct token_range find_range(const apl_reader *r, uint64_t rank, uint64_t n)
{
    const struct reader_options *o = &r->options;
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
    if (!is_shared(&r->options, job->outlet->rank, &range, begin, end))
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

void packing_share(apl_reader *r, uint64_t position, uint64_t n)
{
    const struct packed_plan *p = &r->planner.packed;
    int64_t begin = -(int64_t)p->skip, end;
    begin_shares(r, position, n);
    for (size_t i = 0; i < p->count; i++, begin = end) {
        bool ends = false;
        end = begin + packing_tokens(r, p->deliveries[i]);
        for (unsigned k = 0; k < r->outlet_count; k++) {
            struct job *job = r->outlets[k].planning;
            if (job)
                ends |= share_delivery(r, job, p->deliveries[i], range_of(job, position, n), begin, end);
        }
        if (end <= (int64_t)n && !ends)
            cache_pass(r, &p->deliveries[i], 1);
    }
}

void packing_pass(apl_reader *r)
{
    const struct packed_plan *p = &r->planner.packed;
    cache_pass(r, p->deliveries, p->count - p->pending);
}
