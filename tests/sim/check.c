/* What must hold of every run: see run.h. */
#include "run.h"

#include "deal.h"
#include "delivery.h"

struct tally_of_runs run_tally;

/* ----------------------------------------------------------------------------------------------------- the order */

/* A reader that nobody reads, whose plan can be asked. */
static apl_reader *open_reference(struct run *t)
{
    apl_reader_options o = t->scenario.order;
    apl_source source = t->scenario.source;
    apl_reader *reader = NULL;
    apl_error err;
    apl_store *store = store_open(&t->scenario, t->scenario.store);
    source.store = store_open(&t->scenario, t->scenario.other);
    o.mix.sources = o.mix.sources ? &source : NULL;
    o.threads = APL_NO_THREADS;
    o.ranks.world = 1;
    o.first_epoch = t->epoch;
    sim_sound(true);
    apl_status status = apl_reader_open(store, &o, &reader, &err);
    sim_sound(false);
    if (status != APL_OK && status != APL_E_INVALID)
        sim_fail("%s", err.message);
    apl_store_close(store);
    apl_store_close(source.store);
    return status == APL_OK ? reader : NULL;
}

/* Delivery `first`...: that many of each record, in the order of ids. */
static void list_deliveries(struct run *t, const apl_reader *reader)
{
    const struct subset *subset = &reader->spec.subset;
    const uint32_t *first = delivery_sample(&reader->spec, t->epoch);
    uint64_t n = 0;
    for (uint32_t b = 0; b < subset->blocks; b++)
        for (uint32_t i = 0; i < subset->block[b].count; i++) {
            uint32_t times =
                deliveries_of_record(first, subset->block[b].before + i, reader->spec.options.plan.reuse);
            for (uint32_t copy = 0; copy < times; copy++, n++) {
                HOLDS(n < MOST_DELIVERIES);
                t->ids[n] = subset_id(subset, b * subset->stride + i);
                t->copies[n] = copy;
            }
        }
    t->length = n;
}

static uint64_t find(const struct run *t, uint64_t id, uint32_t copy)
{
    uint64_t i = 0;
    while (i < t->length && (t->ids[i] != id || t->copies[i] != copy))
        i++;
    HOLDS(i < t->length);
    return i;
}

bool check_expect(struct run *t)
{
    static uint32_t deliveries[MOST_DELIVERIES];
    bool failed = false;
    apl_reader *reader = open_reference(t);
    if (!reader)
        return false;
    list_deliveries(t, reader);
    struct plan_options alone =
        reader->spec.options.plan; /* in free order, any order is as good as this one */
    struct bins *bins;
    alone.arriving = false;
    HOLDS(bins_new(&alone, &reader->spec.subset, &bins, NULL) == APL_OK);
    HOLDS(bins_length(bins) == t->length);
    bins_begin(bins, t->epoch);
    HOLDS(bins_take(bins, deliveries, t->length, &failed) == t->length && !failed);
    bins_free(bins);
    uint32_t radix = reader->spec.options.plan.reuse;
    for (uint64_t i = 0; i < t->length; i++)
        t->order[i] =
            (uint32_t)find(t, subset_id(&reader->spec.subset, deliveries[i] / radix), deliveries[i] % radix);
    apl_reader_close(reader);
    return true;
}

static bool is_bad(const struct run *t, uint64_t id)
{
    const struct shape *shape = &shapes[t->scenario.store];
    return t->scenario.bad && t->scenario.bad >> (id - shape->first) / shape->block & 1;
}

static void count(struct run *t, uint64_t delivery, bool skipped)
{
    HOLDS(t->seen[delivery] == 0);
    HOLDS(is_bad(t, t->ids[delivery]) == skipped);
    t->seen[delivery] = 1;
    t->total++;
}

/* The position of a rank's row that follows the one at `position`; past the end of its step if that has no more. */
static uint64_t next_position(const struct run *t, const struct rank *rank, uint64_t position)
{
    struct reader_options o = {.world = t->part.world};
    uint64_t whole = t->part.world * t->part.options.batch_size;
    uint64_t step = t->first + (position - t->first) / whole * whole, left = t->length - step;
    o.plan.lanes = t->scenario.order.ranks.lanes;
    struct deal deal = deal_begin(&o, step, left < whole ? left : whole);
    do
        position++;
    while (position < step + deal.n && deal_rank(&deal, position - step) != rank->number);
    return position;
}

/* Row after row, what is there and what was left out, by the plan. */
static void check_strict(struct run *t, const struct rank *rank, const apl_batch *batch,
                         const uint64_t *left_out, size_t skips)
{
    const uint64_t *ids = apl_batch_ids(batch);
    const uint32_t *copies = apl_batch_copies(batch);
    size_t rows = apl_batch_rows(batch), i = 0, k = 0;
    uint64_t position = apl_batch_position(batch);
    for (; i + k < rows + skips; position = next_position(t, rank, position)) {
        HOLDS(position < t->length);
        uint32_t expected = t->order[position];
        bool there = i < rows && ids[i] == t->ids[expected] && copies[i] == t->copies[expected];
        HOLDS(there || (k < skips && left_out[k] == t->ids[expected]));
        count(t, expected, !there);
        i += there;
        k += !there;
    }
}

/* Some copy of a record that was left out, which has not been accounted for. */
static uint64_t find_left_out(const struct run *t, uint64_t id)
{
    uint64_t i = find(t, id, 0);
    while (i + 1 < t->length && t->ids[i + 1] == id && t->seen[i])
        i++;
    return i;
}

static void check_free(struct run *t, const apl_batch *batch, const uint64_t *left_out, size_t skips)
{
    for (size_t i = 0; i < apl_batch_rows(batch); i++)
        count(t, find(t, apl_batch_ids(batch)[i], apl_batch_copies(batch)[i]), false);
    for (size_t k = 0; k < skips; k++)
        count(t, find_left_out(t, left_out[k]), true);
}

void check_batch(struct run *t, struct rank *rank, const apl_batch *batch)
{
    size_t skips;
    const uint64_t *left_out = apl_batch_skipped(batch, &skips);
    size_t n = apl_batch_rows(batch) + skips;
    HOLDS(apl_batch_epoch(batch) == t->epoch);
    HOLDS(n <= t->part.options.batch_size);
    HOLDS(n == t->part.options.batch_size ||
          t->length - apl_batch_position(batch) < t->part.world * t->part.options.batch_size);
    if (t->scenario.order.order == APL_STRICT)
        check_strict(t, rank, batch, left_out, skips);
    else
        check_free(t, batch, left_out, skips);
    if (t->part.callers == 1 && t->scenario.order.order == APL_STRICT && n) {
        HOLDS(apl_batch_position(batch) >= rank->after);
        rank->after = apl_batch_position(batch) + 1;
    }
    rank->rows += apl_batch_rows(batch);
    rank->skipped += skips;
    run_tally.batches++;
    sim_note(apl_batch_position(batch) << 16 ^ n);
    check_values(t, batch);
}

/* --------------------------------------------------------------------------------------------------- the answers */

static bool works_alone(const struct run *t)
{
    return t->part.options.threads == APL_NO_THREADS;
}

/* Is there anything that a caller could have to wait for? A reader of several ranks waits for the slowest. */
static bool anything_slow(const struct run *t)
{
    const struct scenario *s = &t->scenario;
    if (t->part.grouped)
        return true;
    return sim_tick() || s->faults.delay || s->faults.hang || s->slow_load || s->slow_batch || s->slow_memory;
}

static void check_timeout(const struct run *t, uint64_t took)
{
    unsigned ms = t->part.options.faults.timeout_ms;
    uint64_t patience = (ms || !t->part.grouped ? ms : RANK_PATIENCE_MS) * (uint64_t)1000000;
    HOLDS(patience && took >= patience);
    HOLDS(anything_slow(t));
    /* Else something was slow while the reader's lock was held. */
    HOLDS(sim_tick() || works_alone(t) || took == patience);
}

void check_answer(struct run *t, struct rank *rank, apl_status status, uint64_t took)
{
    const struct scenario *s = &t->scenario;
    switch (status) {
    case APL_END:
        rank->ended = true;
        return;
    case APL_E_TIMEOUT:
        run_tally.timeouts++;
        check_timeout(t, took);
        return;
    case APL_E_CANCELLED:
        run_tally.cancelled++;
        HOLDS(t->cancelled);
        /* At once, or it came too late anyway. */
        HOLDS(sim_tick() || works_alone(t) || took == 0 || sim_now() == rank->cancelled_at);
        return;
    case APL_E_CORRUPT:
        run_tally.corrupt++;
        HOLDS(s->bad && s->order.faults.skip_corrupt < 1u << 30);
        break;
    case APL_E_LENT:
        run_tally.lent++;
        return;
    default:
        run_tally.failed++;
        if (!sim_faults_made)
            sim_fail("a status of %d, and nothing failed", (int)status);
    }
    rank->error = status;
    t->broken = true;
}

/* ------------------------------------------------------------------------------------------------------ the sums */

size_t rank_state(const struct rank *rank, uint8_t *state, size_t room)
{
    HOLDS((rank->grouped ? apl_reader_state_of(rank->reader, rank->number, state, &room, NULL)
                         : apl_reader_state(rank->reader, state, &room, NULL)) == APL_OK);
    return room;
}

apl_receipt rank_receipt(const struct rank *rank)
{
    apl_receipt receipt;
    HOLDS((rank->grouped ? apl_reader_receipt_of(rank->reader, rank->number, &receipt, sizeof receipt, NULL)
                         : apl_reader_receipt(rank->reader, &receipt, sizeof receipt, NULL)) == APL_OK);
    return receipt;
}

/* Where the epoch is to end because more is corrupt than is left out, if it has been read by one reader from `first` on; else
 * NEVER. It is the same whoever loads. */
static uint64_t limit_exceeded_at(const struct run *t, uint64_t first)
{
    const struct shape *shape = &shapes[t->scenario.store];
    uint64_t skipped = 0, known = 0, batch = t->part.options.batch_size;
    for (uint64_t i = first; i < t->length; i++) {
        uint64_t id = t->ids[t->order[i]], block = (id - shape->first) / shape->block;
        if (!is_bad(t, id) || known >> block & 1)
            continue;
        uint64_t left = shape->records - block * shape->block;
        skipped += left < shape->block ? left : shape->block;
        known |= (uint64_t)1 << block;
        if (skipped > t->scenario.order.faults.skip_corrupt)
            return i - (i - first) % batch;
    }
    return NEVER;
}

static void check_limit(const struct run *t, const struct rank *rank, const apl_receipt *receipt)
{
    const apl_reader_options *o = &t->scenario.order;
    if (!t->fresh || t->part.world > 1 || o->order != APL_STRICT || o->ids || !t->scenario.bad)
        return;
    uint64_t at = limit_exceeded_at(t, receipt->first);
    if (rank->error == APL_E_CORRUPT)
        HOLDS(receipt->last == at);
    else
        HOLDS(receipt->last <= at);
}

void check_receipts(struct run *t)
{
    uint64_t sum = 0, span = 0;
    bool all_ended = true;
    for (unsigned i = 0; i < t->part.world; i++) {
        struct rank *rank = &t->ranks[i];
        apl_receipt receipt = rank_receipt(rank);
        HOLDS(receipt.epoch == t->epoch && receipt.missing == 0 && receipt.repeated == 0);
        HOLDS(receipt.delivered == rank->rows && receipt.skipped == rank->skipped);
        HOLDS(receipt.dropped == 0 || t->scenario.order.drop_last);
        HOLDS(receipt.dropped == 0 || receipt.dropped < t->part.world * t->part.options.batch_size);
        HOLDS(!rank->ended || receipt.last + receipt.dropped == t->length);
        check_limit(t, rank, &receipt);
        sum += receipt.delivered + receipt.skipped;
        span = receipt.last - receipt.first;
        all_ended = all_ended && rank->ended;
    }
    HOLDS(!all_ended || sum == span);
}

/* Nothing is missing of an epoch that was read to its end. */
void check_epoch(struct run *t)
{
    apl_receipt receipt = rank_receipt(&t->ranks[0]);
    HOLDS(t->total == receipt.last);
    for (uint64_t i = 0; t->scenario.order.order == APL_STRICT && i < t->length; i++)
        HOLDS(t->seen[t->order[i]] == (i < receipt.last));
}
