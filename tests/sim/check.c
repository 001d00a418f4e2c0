/* What must hold of every run: see run.h. */
#include "run.h"

#include "plan.h"

struct tally_of_runs run_tally;

/* ----------------------------------------------------------------------------------------------------- the order */

static uint64_t reuse_of(const struct run *t)
{
    return t->scenario.order.reuse;
}

void check_expect(struct run *t, const apl_reader *reader)
{
    uint32_t deliveries[MOST_DELIVERIES];
    struct plan *plan;
    bool failed = false;
    apl_error err;
    uint64_t reuse = reuse_of(t);
    t->length = shapes[t->scenario.store].records * reuse;
    HOLDS(t->length <= MOST_DELIVERIES);
    if (plan_new(&reader->options.plan, &reader->subset, &plan, &err) != APL_OK)
        sim_fail("%s", err.message);
    plan_begin(plan, t->epoch);
    HOLDS(plan_next(plan, deliveries, t->length, &failed) == t->length && !failed);
    for (uint64_t i = 0; i < t->length; i++) {
        uint64_t id = subset_id(&reader->subset, deliveries[i] / (uint32_t)reuse);
        t->order[i] =
            (uint32_t)((id - shapes[t->scenario.store].first) * reuse) + deliveries[i] % (uint32_t)reuse;
    }
    plan_free(plan);
}

static bool is_bad(const struct run *t, uint64_t record)
{
    return t->scenario.bad >> record / shapes[t->scenario.store].block & 1;
}

/* A delivery, or (free order) some copy of a record that was left out. */
static void count(struct run *t, uint64_t delivery, bool skipped)
{
    uint64_t reuse = reuse_of(t), record = delivery / reuse;
    HOLDS(record < shapes[t->scenario.store].records);
    while (skipped && t->scenario.order.order == APL_FREE && delivery % reuse + 1 < reuse &&
           t->seen[delivery])
        delivery++;
    HOLDS(t->seen[delivery] == 0);
    HOLDS(!is_bad(t, record) || skipped);
    HOLDS(!skipped || is_bad(t, record));
    t->seen[delivery] = 1;
    t->total++;
}

/* Row after row, what is there and what was left out, by the plan. */
static void check_strict(struct run *t, const apl_batch *batch, const uint64_t *left_out, size_t skips)
{
    const uint64_t *ids = apl_batch_ids(batch);
    const uint32_t *copies = apl_batch_copies(batch);
    size_t rows = apl_batch_rows(batch), i = 0, k = 0;
    uint64_t first = shapes[t->scenario.store].first, reuse = reuse_of(t);
    uint64_t position = apl_batch_position(batch), stride = t->scenario.order.lanes > 1 ? t->part.world : 1;
    for (; i + k < rows + skips; position += stride) {
        HOLDS(position < t->length);
        uint64_t expected = t->order[position], id = first + expected / reuse;
        if (i < rows && ids[i] == id && copies[i] == expected % reuse) {
            count(t, expected, false);
            i++;
        } else {
            HOLDS(k < skips && left_out[k] == id);
            count(t, expected, true);
            k++;
        }
    }
}

static void check_free(struct run *t, const apl_batch *batch, const uint64_t *left_out, size_t skips)
{
    uint64_t first = shapes[t->scenario.store].first, reuse = reuse_of(t);
    for (size_t i = 0; i < apl_batch_rows(batch); i++)
        count(t, (apl_batch_ids(batch)[i] - first) * reuse + apl_batch_copies(batch)[i], false);
    for (size_t k = 0; k < skips; k++)
        count(t, (left_out[k] - first) * reuse, true);
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
        check_strict(t, batch, left_out, skips);
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

/* Is there anything that a caller could have to wait for? */
static bool anything_slow(const struct run *t)
{
    const struct scenario *s = &t->scenario;
    return sim_tick() || s->faults.delay || s->faults.hang || s->slow_load || s->slow_batch || s->slow_memory;
}

static void check_timeout(const struct run *t, uint64_t took)
{
    uint64_t patience = t->part.options.timeout_ms * (uint64_t)1000000;
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
        HOLDS(s->bad && s->order.skip_corrupt < 1u << 30);
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

void check_receipts(struct run *t)
{
    uint64_t sum = 0, span = 0;
    bool all_ended = true;
    for (unsigned i = 0; i < t->part.world; i++) {
        struct rank *rank = &t->ranks[i];
        apl_receipt receipt;
        HOLDS(apl_reader_receipt(rank->reader, &receipt, sizeof receipt, NULL) == APL_OK);
        HOLDS(receipt.epoch == t->epoch && receipt.missing == 0 && receipt.repeated == 0);
        HOLDS(receipt.delivered == rank->rows && receipt.skipped == rank->skipped);
        HOLDS(receipt.dropped == 0 || t->scenario.order.drop_last);
        HOLDS(receipt.dropped == 0 || receipt.dropped < t->part.world * t->part.options.batch_size);
        HOLDS(!rank->ended || receipt.last + receipt.dropped == t->length);
        sum += receipt.delivered + receipt.skipped;
        span = receipt.last - receipt.first;
        all_ended = all_ended && rank->ended;
    }
    HOLDS(!all_ended || sum == span);
}

/* Nothing is missing of an epoch that was read to its end. */
void check_epoch(struct run *t)
{
    apl_receipt receipt;
    HOLDS(apl_reader_receipt(t->ranks[0].reader, &receipt, sizeof receipt, NULL) == APL_OK);
    HOLDS(t->total == receipt.last);
    for (uint64_t i = 0; t->scenario.order.order == APL_STRICT && i < t->length; i++)
        HOLDS(t->seen[t->order[i]] == (i < receipt.last));
}
