/* Lanes: one order whatever the number of ranks, each of which loads little more than its own lanes' blocks. */
#include "reader_fixture.h"

#define TRAIN 403
#define BLOCK 4
#define LANES 12
#define WORLD 6

static void set_up(void)
{
    fixture_make(TRAIN, 9, BLOCK);
}

TestSuite(reader_lanes, .init = set_up, .fini = fixture_free, .timeout = 120);

static apl_reader_options lane_options(unsigned lanes, uint64_t window)
{
    apl_reader_options o = fixture_options();
    o.batch_size = 7;
    o.seed = 5;
    o.ranks.lanes = lanes;
    o.window = window;
    return o;
}

/* What that many ranks read in an epoch: position p of the order goes to rank p mod world. */
static void read_world(apl_reader **readers, unsigned world, uint64_t *order)
{
    for (unsigned k = 0; k < world; k++) {
        struct sequence s = {0};
        uint64_t at = k;
        read_epoch(readers[k], &s);
        for (size_t i = 0; i < s.count; i++, at += world) {
            cr_assert_lt(at, TRAIN);
            order[at] = s.ids[i];
        }
        cr_assert(at >= TRAIN && at < TRAIN + world, "rank %u of %u read %zu", k, world, s.count);
        cr_assert_eq(s.batches, apl_reader_batches(readers[k]));
        sequence_free(&s);
    }
}

/* Two epochs of the order, read by that many ranks; *loads: the most blocks that one of them loaded. */
static void read_orders(const apl_reader_options *options, unsigned world, uint64_t (*orders)[TRAIN],
                        uint64_t *loads)
{
    apl_reader *readers[WORLD];
    apl_reader_options o = *options;
    *loads = 0;
    for (unsigned k = 0; k < world; k++) {
        o.ranks.rank = k;
        o.ranks.world = world;
        readers[k] = fixture_reader(&o);
    }
    for (unsigned epoch = 0; epoch < 2; epoch++) {
        read_world(readers, world, orders[epoch]);
        for (unsigned k = 0; k < world && epoch == 0; k++) {
            apl_stats stats;
            cr_assert_eq(apl_reader_stats(readers[k], &stats, sizeof stats), APL_OK);
            *loads = stats.blocks > *loads ? stats.blocks : *loads;
        }
        for (unsigned k = 0; k < world; k++)
            fixture_next_epoch(readers[k]);
    }
    for (unsigned k = 0; k < world; k++)
        apl_reader_close(readers[k]);
}

static void check_order(const uint64_t *order)
{
    struct sequence s = {.ids = (uint64_t *)order, .count = TRAIN};
    check_once(&s, 0, TRAIN, 1, false);
}

Test(reader_lanes, one_order_for_every_world)
{
    const uint64_t windows[] = {0, 8 * LANES, 200};
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        apl_reader_options o = lane_options(LANES, windows[w]);
        uint64_t alone[2][TRAIN], shared[2][TRAIN], loads;
        read_orders(&o, 1, alone, &loads);
        check_order(alone[0]);
        check_order(alone[1]);
        cr_assert(memcmp(alone[0], alone[1], sizeof alone[0]) != 0, "two epochs are the same");
        for (unsigned world = 2; world <= WORLD; world++) {
            if (LANES % world)
                continue;
            read_orders(&o, world, shared, &loads);
            cr_assert(memcmp(alone, shared, sizeof alone) == 0, "window %zu, world %u", (size_t)windows[w],
                      world);
        }
    }
}

/* Of 101 blocks a rank of three has 34 in its lanes; without lanes it meets nearly all. */
Test(reader_lanes, a_rank_loads_its_own_blocks)
{
    apl_reader_options o = lane_options(3, 0);
    uint64_t orders[2][TRAIN], loads;
    o.threads = APL_NO_THREADS; /* nothing is loaded that no batch needs */
    read_orders(&o, 3, orders, &loads);
    cr_assert(loads >= 33 && loads <= 60, "%llu blocks", (unsigned long long)loads);
}

Test(reader_lanes, one_lane_is_none)
{
    apl_reader_options none = lane_options(0, 60), one = lane_options(1, 60);
    uint64_t a[2][TRAIN], b[2][TRAIN], loads;
    read_orders(&none, 1, a, &loads);
    read_orders(&one, 1, b, &loads);
    cr_assert(memcmp(a, b, sizeof a) == 0);
}

/* From two ranks to one to three, in the middle of an epoch; test_reader_elastic.c has worlds that do not divide the lanes. */
Test(reader_lanes, world_changes_on_resume)
{
    apl_reader_options o = lane_options(LANES, 200);
    uint64_t orders[2][TRAIN], loads;
    read_orders(&o, 1, orders, &loads);
    const unsigned worlds[] = {2, 1, 3};
    uint8_t state[APL_STATE_BYTES];
    uint64_t position = 0;
    for (size_t w = 0; w < 3; w++) {
        uint64_t step = 0;
        for (unsigned k = 0; k < worlds[w]; k++) {
            struct sequence s = {0};
            size_t size = sizeof state;
            uint8_t after[APL_STATE_BYTES];
            o.ranks.rank = k;
            o.ranks.world = worlds[w];
            o.state = w ? state : NULL;
            o.state_size = w ? sizeof state : 0;
            apl_reader *r = fixture_reader(&o);
            cr_assert(read_batches(r, &s, 5));
            for (size_t i = 0, at = position + (k + worlds[w] - position % worlds[w]) % worlds[w];
                 i < s.count; i++, at += worlds[w])
                cr_assert_eq(s.ids[i], orders[0][at], "world %u, rank %u, row %zu", worlds[w], k, i);
            cr_assert_eq(apl_reader_state(r, after, &size, NULL), APL_OK);
            step = 5 * (uint64_t)o.batch_size * worlds[w];
            apl_reader_close(r);
            sequence_free(&s);
            if (k + 1 == worlds[w])
                memcpy(state, after, sizeof state);
        }
        position += step;
    }
}

Test(reader_lanes, refusals)
{
    apl_reader_options o = lane_options(1000, 0);
    cr_assert_not_null(strstr(fixture_refused(&o, APL_E_INVALID), "lanes"));
    o = lane_options(2, 0);
    o.sequential = 1;
    cr_assert_not_null(strstr(fixture_refused(&o, APL_E_INVALID), "lanes"));
    o = lane_options(2, 0);
    o.order = APL_FREE;
    cr_assert_not_null(strstr(fixture_refused(&o, APL_E_INVALID), "lanes"));
    o = lane_options(20, 60); /* a lane's share of three records is less than a block */
    cr_assert_not_null(strstr(fixture_refused(&o, APL_E_INVALID), "window"));
}
