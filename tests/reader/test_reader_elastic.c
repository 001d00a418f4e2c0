/*
 * Ranks that leave and come: of an epoch that is read by one world after another, each of which dies with work that was not saved,
 * what counts is each record once, in the order of a single reader.
 */
#include "counts.h"
#include "reader_fixture.h"

#define TRAIN  203
#define BLOCK  4
#define EPOCHS 2u
#define MOST   6

static void set_up(void)
{
    fixture_make(TRAIN, 9, BLOCK);
}

TestSuite(reader_elastic, .init = set_up, .fini = fixture_free, .timeout = 120);

static uint32_t random_state;

static uint32_t below(uint32_t n)
{
    return (sample_random(&random_state) >> 8) % n;
}

/* Some processes, each a rank; or one that serves them all. */
struct world {
    unsigned count;
    bool grouped;
    apl_reader *readers[MOST];
};

/* What has been saved: where to go on, and what became of the epoch up to there. */
struct saved {
    uint8_t state[APL_STATE_BYTES];
    size_t size;
    uint64_t epoch, position, delivered, sum[2];
};

/* The order of a single reader, and where each record is in it. */
struct expected {
    uint64_t at[EPOCHS][TRAIN], sum[EPOCHS][2];
    uint8_t seen[TRAIN]; /* in the epoch that is read */
};

static void expect(apl_reader_options o, struct expected *e)
{
    apl_receipt receipt;
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        struct sequence s = {0};
        read_epoch(r, &s);
        cr_assert_eq(s.count, TRAIN);
        for (size_t i = 0; i < s.count; i++)
            e->at[epoch][s.ids[i]] = i;
        cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_OK);
        memcpy(e->sum[epoch], receipt.sum, sizeof receipt.sum);
        fixture_next_epoch(r);
        sequence_free(&s);
    }
    apl_reader_close(r);
}

static void start(struct world *w, apl_reader_options o, unsigned count, const struct saved *saved)
{
    static const unsigned threads[] = {APL_NO_THREADS, 1, 3}, list[MOST] = {0, 1, 2, 3, 4, 5};
    *w = (struct world){.count = count, .grouped = count > 1 && below(3) == 0};
    o.batch_size = 1 + below(9);
    o.threads = threads[below(3)];
    o.ranks.world = count;
    o.ranks.list = w->grouped ? list : NULL;
    o.ranks.count = w->grouped ? count : 0;
    o.state = saved->size ? saved->state : NULL;
    o.state_size = saved->size;
    for (unsigned i = 0; i < count; i++) {
        o.ranks.rank = w->grouped ? 0 : i;
        w->readers[i] = w->grouped && i ? w->readers[0] : fixture_reader(&o);
    }
}

static void die(struct world *w)
{
    for (unsigned i = 0; i < (w->grouped ? 1 : w->count); i++)
        apl_reader_close(w->readers[i]);
}

static apl_batch *take(struct world *w, unsigned rank)
{
    apl_batch *batch = NULL;
    apl_error err = {0};
    if (!w->grouped)
        return fixture_next(w->readers[rank]);
    apl_status status = apl_reader_next_of(w->readers[0], rank, &batch, &err);
    cr_assert(status == APL_OK || status == APL_END, "%s", err.message);
    return batch;
}

/* The rows are where the batch says, and ascend from there. */
static void check_rows(const apl_batch *batch, struct expected *e, uint8_t *seen)
{
    uint64_t epoch = apl_batch_epoch(batch), before = apl_batch_position(batch);
    const uint64_t *ids = apl_batch_ids(batch);
    check_values(batch);
    for (size_t i = 0; i < apl_batch_rows(batch); i++) {
        uint64_t at = e->at[epoch][ids[i]];
        cr_assert(i ? at > before : at == before);
        cr_assert_eq(seen[ids[i]]++, 0, "a record came twice");
        before = at;
    }
}

/* A step of all ranks; false: the epoch is over, for all of them. */
static bool step(struct world *w, struct expected *e)
{
    unsigned over = 0;
    for (unsigned i = 0; i < w->count; i++) {
        apl_batch *batch = take(w, i);
        over += !batch;
        if (batch)
            check_rows(batch, e, e->seen);
        apl_batch_release(batch);
    }
    cr_assert(over == 0 || over == w->count);
    return over == 0;
}

/* All ranks save the same state. What each has to show is added to what was saved before. */
static void save(struct world *w, struct saved *saved, uint64_t first)
{
    for (unsigned i = 0; i < w->count; i++) {
        uint8_t state[APL_STATE_BYTES];
        size_t size = sizeof state;
        apl_receipt receipt;
        apl_reader *r = w->readers[i];
        cr_assert_eq(w->grouped ? apl_reader_state_of(r, i, state, &size, NULL)
                                : apl_reader_state(r, state, &size, NULL),
                     APL_OK);
        cr_assert_eq(w->grouped ? apl_reader_receipt_of(r, i, &receipt, sizeof receipt, NULL)
                                : apl_reader_receipt(r, &receipt, sizeof receipt, NULL),
                     APL_OK);
        cr_assert(i == 0 || memcmp(state, saved->state, size) == 0, "ranks must stand at one place");
        memcpy(saved->state, state, size);
        saved->size = size;
        cr_assert(receipt.first == first && receipt.missing == 0 && receipt.repeated == 0);
        saved->delivered += receipt.delivered;
        saved->sum[0] += receipt.sum[0];
        saved->sum[1] += receipt.sum[1] + (saved->sum[0] < receipt.sum[0]);
    }
    cr_assert_eq(apl_state_position(saved->state, saved->size, &saved->epoch, &saved->position, NULL),
                 APL_OK);
    cr_assert_eq(saved->delivered, saved->position, "what was saved is all that came before");
}

/* Work that was not saved: each rank takes another number of batches, before all are killed. */
static void lose(struct world *w, struct expected *e)
{
    for (unsigned i = 0; i < w->count; i++)
        for (unsigned n = below(3); n > 0; n--) {
            uint8_t seen[TRAIN];
            memcpy(seen, e->seen, sizeof seen);
            apl_batch *batch = take(w, i);
            if (batch)
                check_rows(batch, e, seen);
            apl_batch_release(batch);
        }
}

static void end_epoch(struct world *w, struct saved *saved, struct expected *e)
{
    cr_assert_eq(saved->delivered, TRAIN);
    cr_assert(memcmp(saved->sum, e->sum[saved->epoch], sizeof saved->sum) == 0);
    memset(e->seen, 0, sizeof e->seen);
    saved->delivered = saved->position = saved->sum[0] = saved->sum[1] = 0;
    for (unsigned i = 0; i < w->count; i++)
        if (w->grouped)
            cr_assert_eq(apl_reader_next_epoch_of(w->readers[0], i, NULL), APL_OK);
        else
            fixture_next_epoch(w->readers[i]);
    save(w, saved, 0); /* of the next */
}

/* One world after another reads on from what the one before has saved, until the epochs are over. */
static unsigned run(apl_reader_options o, const unsigned *worlds, unsigned count)
{
    static struct expected e;
    struct saved saved = {0};
    unsigned deaths = 0;
    memset(&e, 0, sizeof e);
    expect(o, &e);
    while (saved.epoch < EPOCHS) {
        struct world w;
        start(&w, o, worlds[deaths % count], &saved);
        uint64_t first = saved.position;
        bool more = true;
        for (unsigned n = 1 + below(5); n > 0 && more; n--)
            more = step(&w, &e);
        save(&w, &saved, first);
        if (more)
            lose(&w, &e);
        else
            end_epoch(&w, &saved, &e);
        die(&w);
        deaths++;
    }
    return deaths;
}

static apl_reader_options draw_options(uint32_t seed)
{
    static const unsigned lanes[] = {1, 0, 2, 4, 12, 5, 7, 1};
    apl_reader_options o = fixture_options();
    random_state = seed * 2654435761u + 1;
    o.seed = seed;
    o.ranks.lanes = lanes[seed % 8];
    o.window = below(3) ? 0 : BLOCK * 12 + below(100);
    o.sequential = o.ranks.lanes <= 1 && below(4) == 0;
    return o;
}

Test(reader_elastic, each_record_once_whoever_leaves)
{
    static const unsigned worlds[] = {4, 2, 3, 1};
    unsigned deaths = 0;
    for (uint32_t seed = 0; seed < 32; seed++)
        deaths += run(draw_options(seed), worlds, 4);
    counted("%u worlds left in the middle of an epoch", deaths);
}

Test(reader_elastic, each_record_once_whoever_comes)
{
    for (uint32_t seed = 100; seed < 132; seed++) {
        apl_reader_options o = draw_options(seed);
        unsigned worlds[7];
        for (unsigned i = 0; i < 7; i++)
            worlds[i] = 1 + below(MOST);
        run(o, worlds, 7);
    }
}

/* Blocks that a rank loads in an epoch when the lanes cannot be dealt evenly: its share, and a little of its neighbours'. */
Test(reader_elastic, lanes_stay_with_their_ranks)
{
    apl_reader_options o = fixture_options();
    o.batch_size = 12;
    o.ranks.lanes = 4;
    o.ranks.world = 3;
    for (o.ranks.rank = 0; o.ranks.rank < 3; o.ranks.rank++) {
        struct sequence s = {0};
        apl_stats stats;
        apl_reader *r = fixture_reader(&o);
        read_epoch(r, &s);
        cr_assert_eq(apl_reader_stats(r, &stats, sizeof stats), APL_OK);
        /* Of 52 blocks, 13 to a lane: all of one lane and a third of another, of which nearly every block has a record. */
        cr_assert(stats.blocks >= 20 && stats.blocks <= 34, "%llu blocks", (unsigned long long)stats.blocks);
        apl_reader_close(r);
        sequence_free(&s);
    }
}
