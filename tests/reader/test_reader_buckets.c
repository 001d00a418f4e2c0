/* Batches of like lengths: each record once, less padding, and an order whose law is the one that is documented. */
#include "order_case.h"
#include "tokens_fixture.h"

#define TRAIN   150
#define BLOCK   8
#define BATCH   5
#define BATCHES 4

static void set_up(void)
{
    tokens_make(TRAIN, BLOCK);
}

TestSuite(reader_buckets, .init = set_up, .fini = fixture_free, .timeout = 60);

static const unsigned counts[] = {APL_NO_THREADS, 1, 3};
static apl_collation pad;

static apl_reader_options bucketed(unsigned threads)
{
    apl_reader_options o = fixture_options();
    pad = tokens_collation("tokens", APL_COLLATE_PAD);
    pad.bucket = BATCHES;
    o.collations = &pad;
    o.collation_count = 1;
    o.batch_size = BATCH;
    o.threads = threads;
    o.seed = 5;
    return o;
}

struct told {
    unsigned seen[TRAIN];
    uint64_t order[2 * TRAIN];
    size_t rows, padding;
};

static void tell(struct told *t, const apl_batch *b)
{
    const apl_column *c = apl_batch_column(b, TOKENS_TOKENS);
    const uint16_t *tokens = c->data;
    size_t width = (size_t)c->dim[1];
    for (size_t row = 0; row < apl_batch_rows(b); row++) {
        uint64_t id = apl_batch_ids(b)[row];
        for (size_t i = 0; i < width; i++)
            cr_assert_eq(tokens[row * width + i], i < tokens_length(id) ? tokens_at(id, i) : 0);
        t->padding += width - tokens_length(id);
        t->seen[id]++;
        t->order[t->rows++] = id;
    }
}

static void read_all(apl_reader *r, struct told *t)
{
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
        tell(t, b);
}

static void check_all(const struct told *t)
{
    for (uint64_t id = 0; id < TRAIN; id++)
        cr_assert_eq(t->seen[id], 1, "record %d", (int)id);
}

static struct told told_of(const apl_reader_options *o)
{
    struct told t = {0};
    apl_receipt receipt;
    apl_reader *r = fixture_reader(o);
    read_all(r, &t);
    cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_OK);
    cr_assert(receipt.delivered == t.rows && receipt.missing == 0 && receipt.repeated == 0);
    apl_reader_close(r);
    return t;
}

/* ------------------------------------------------------------------------------------------------ whole */

Test(reader_buckets, each_record_once_in_an_order_that_threads_do_not_change)
{
    for (unsigned window = 0; window <= 24; window += 24) {
        struct told first = {0};
        for (unsigned i = 0; i < 3; i++) {
            apl_reader_options o = bucketed(counts[i]);
            o.window = window;
            struct told t = told_of(&o);
            check_all(&t);
            first = i ? first : t;
            cr_assert(memcmp(&first, &t, sizeof t) == 0);
            pad.bucket = 0;
            struct told plain = told_of(&o);
            cr_assert_lt(t.padding, plain.padding, "%zu instead of %zu", t.padding, plain.padding);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* The order without buckets, pool by pool: the same records, of which each full batch has a run of the sorted lengths, in the
 * order of the draws; what is left over ends the epoch as it was drawn. */
Test(reader_buckets, pools_of_the_plain_order_are_sorted_cut_and_shuffled)
{
    apl_reader_options o = bucketed(1);
    struct told t = told_of(&o), plain;
    size_t place[TRAIN], moved = 0;
    pad.bucket = 0;
    plain = told_of(&o);
    for (size_t i = 0; i < TRAIN; i++)
        place[plain.order[i]] = i;
    for (size_t pool = 0; pool < TRAIN; pool += BATCH * BATCHES) {
        size_t count = TRAIN - pool < BATCH * BATCHES ? TRAIN - pool : BATCH * BATCHES,
               sorted[BATCH * BATCHES];
        for (size_t i = 0; i < count; i++) {
            cr_assert(place[t.order[pool + i]] >= pool && place[t.order[pool + i]] < pool + count);
            sorted[i] = tokens_length(plain.order[pool + i]);
        }
        qsort(sorted, count, sizeof *sorted, by_value);
        for (size_t batch = 0, last = SIZE_MAX; batch < count; batch += BATCH) {
            size_t lengths[BATCH], at = 0;
            for (size_t i = 0; i < BATCH; i++) {
                lengths[i] = tokens_length(t.order[pool + batch + i]);
                cr_assert(i == 0 || place[t.order[pool + batch + i]] > place[t.order[pool + batch + i - 1]]);
            }
            qsort(lengths, BATCH, sizeof *lengths, by_value);
            while (at < count && memcmp(sorted + at, lengths, sizeof lengths) != 0)
                at += BATCH;
            cr_assert_lt(at, count, "a batch is a run of its pool");
            moved += at < last && batch > 0;
            last = at;
        }
    }
    cr_assert_gt(moved, 0, "batches are shuffled");
}

/* Each record is at each step of the epoch with the same probability, be it short or long. */
Test(reader_buckets, every_record_is_as_likely_at_every_step)
{
    enum { EPOCHS = 400, STEPS = TRAIN / BATCH, KINDS = 5 };
    static uint32_t seen[KINDS][STEPS];
    apl_reader_options o = bucketed(1);
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        size_t step = 0;
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b), step++)
            for (size_t i = 0; i < apl_batch_rows(b); i++) {
                size_t n = tokens_length(apl_batch_ids(b)[i]);
                seen[n == 0 ? 0 : n < 20 ? 1 : n < 40 ? 2 : n < 100 ? 3 : 4][step]++;
            }
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        double all = 0, sum = 0;
        for (unsigned s = 0; s < STEPS; s++)
            all += seen[kind][s];
        for (unsigned s = 0; s < STEPS; s++)
            sum += (seen[kind][s] - all / STEPS) * (seen[kind][s] - all / STEPS) / (all / STEPS);
        /* of like lengths many stand in one batch: the statistic is at most BATCH times a chi-square of STEPS - 1 */
        cr_assert_lt(sum, BATCH * CHI_119 / 2, "kind %u: %g", kind, sum);
    }
}

/* -------------------------------------------------------------------------------------- resuming, ranks */

Test(reader_buckets, resumes_at_every_batch)
{
    apl_reader_options o = bucketed(1);
    struct told whole = told_of(&o);
    for (size_t cut = 0; cut <= TRAIN / BATCH; cut++) {
        struct told t = {0};
        uint8_t state[APL_STATE_BYTES];
        size_t size = sizeof state;
        o = bucketed(counts[cut % 3]);
        apl_reader *r = fixture_reader(&o);
        for (size_t k = 0; k < cut; k++) {
            apl_batch *b = fixture_next(r);
            tell(&t, b);
            apl_batch_release(b);
        }
        cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
        apl_reader_close(r);
        o = bucketed(counts[(cut + 1) % 3]);
        o.state = state;
        o.state_size = size;
        r = fixture_reader(&o);
        read_all(r, &t);
        cr_assert(memcmp(t.order, whole.order, sizeof t.order) == 0, "after %zu batches", cut);
        apl_reader_close(r);
        o.batch_size = BATCH + 1;
        fixture_refused(&o, APL_E_MISMATCH);
    }
}

Test(reader_buckets, ranks_share_batches_of_like_lengths)
{
    for (unsigned window = 0; window <= 24; window += 24) {
        struct told t = {0};
        for (unsigned rank = 0; rank < 2; rank++) {
            apl_reader_options o = bucketed(counts[1 + rank]);
            o.window = window;
            o.ranks.rank = rank;
            o.ranks.world = 2;
            apl_reader *r = fixture_reader(&o);
            read_all(r, &t);
            apl_reader_close(r);
        }
        check_all(&t);
    }
}

Test(reader_buckets, copies_and_dropped_batches)
{
    apl_reader_options o = bucketed(2);
    o.reuse = 2;
    o.batch_size = 7;
    struct told t = told_of(&o);
    for (uint64_t id = 0; id < TRAIN; id++)
        cr_assert_eq(t.seen[id], 2);
    o = bucketed(2);
    o.batch_size = 7;
    o.drop_last = 1;
    cr_assert_eq(told_of(&o).rows, TRAIN / 7 * 7);
}

/* --------------------------------------------------------------------------------------------- refusals */

Test(reader_buckets, refuses_what_makes_no_sense)
{
    static const char message[] =
        "field tokens: buckets are for strict order that is shuffled, without lanes, pack or windows";
    apl_reader_options o = bucketed(1);
    o.order = APL_FREE;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID), message);
    o = bucketed(1);
    o.sequential = 1;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID), message);
    o = bucketed(1);
    pad.how = APL_COLLATE_PACK;
    pad.length = 9;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID), "field tokens: bucket has no meaning for pack");
}

/* Of each batch of a pool, how many have records that are shorter on the whole: which of the shuffled ones it is. */
static void ranks_of(const struct told *t, size_t pool, unsigned ranks[BATCHES])
{
    size_t sums[BATCHES] = {0};
    for (size_t i = 0; i < BATCH * BATCHES; i++)
        sums[i / BATCH] += tokens_length(t->order[pool + i]);
    for (unsigned b = 0; b < BATCHES; b++) {
        ranks[b] = 0;
        for (unsigned k = 0; k < BATCHES; k++)
            ranks[b] += sums[k] < sums[b];
    }
}

Test(reader_buckets, each_pool_is_shuffled_anew)
{
    apl_reader_options o = bucketed(1);
    struct told t = told_of(&o);
    unsigned first[BATCHES], other[BATCHES], same = 0, pools = TRAIN / (BATCH * BATCHES);
    ranks_of(&t, 0, first);
    for (unsigned pool = 1; pool < pools; pool++) {
        ranks_of(&t, pool * BATCH * BATCHES, other);
        same += memcmp(first, other, sizeof first) == 0;
    }
    cr_assert_lt(same, 3, "%u of %u pools are in the order of the first", same, pools - 1);
}
