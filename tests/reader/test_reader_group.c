/* Several ranks served by one reader: each gets what a reader of its own would give it, byte for byte. */
#include "group_case.h"

#define EPOCHS 2

TestSuite(reader_group, .init = group_set_up, .fini = fixture_free, .timeout = 60);

static void check_epochs(const apl_reader_options *o, unsigned world, unsigned count)
{
    struct group g = open_group(o, world, count);
    cr_assert_eq(apl_reader_batches(g.one), apl_reader_batches(g.own[0]));
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        for (unsigned step = 0; same_step(&g, step); step++)
            continue;
        for (unsigned i = 0; i < count; i++)
            same_begin(&g, i);
    }
    close_group(&g);
}

Test(reader_group, gives_each_rank_what_its_own_reader_would)
{
    for (unsigned i = 0; i < 24; i++) {
        apl_reader_options o = group_way(i);
        unsigned world = 1 + i % MOST;
        check_epochs(&o, world, 1 + i / 3 % world);
    }
}

Test(reader_group, deals_lanes_likewise)
{
    for (unsigned i = 0; i < 12; i++) {
        apl_reader_options o = group_way(i);
        unsigned world = 2 + i % 3;
        o.sequential = 0;
        o.ranks.lanes = world * (1 + i % 2);
        check_epochs(&o, world, 1 + i % world);
    }
}

Test(reader_group, samples_and_mixes_likewise)
{
    double weights[TRAIN];
    apl_source other = APL_SOURCE_INIT;
    for (unsigned i = 0; i < TRAIN; i++)
        weights[i] = i % 5;
    for (unsigned i = 0; i < 6; i++) {
        apl_reader_options o = group_way(i);
        apl_sampling sampling = APL_SAMPLING_INIT;
        o.reuse = 1;
        sampling.weights = weights;
        sampling.weight_count = TRAIN;
        sampling.replacement = i & 1;
        sampling.records = 150;
        other.store = fx.store;
        other.split = "test";
        if (i % 3 == 2)
            o.mix = (apl_mix){.sources = &other, .count = 1};
        else
            o.sampling = &sampling;
        check_epochs(&o, 3, 3);
    }
}

Test(reader_group, augments_and_mixes_images_likewise)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_blend blend = APL_BLEND_INIT;
    t.dtype = APL_F32;
    t.pad = 2;
    t.flip = 1;
    t.cutout = 3;
    blend.mixup_alpha = 0.5;
    blend.cutmix_alpha = 0.5;
    for (unsigned i = 0; i < 6; i++) {
        apl_reader_options o = group_way(i);
        o.transforms = &t;
        o.transform_count = 1;
        o.blend = i & 1 ? &blend : NULL;
        check_epochs(&o, 3, 2);
    }
}

/* ------------------------------------------------------------------------------------------------- resuming */

Test(reader_group, resumes_at_every_batch)
{
    uint8_t state[APL_STATE_BYTES];
    for (unsigned i = 0; i < 4; i++)
        for (unsigned steps = 0;; steps++) {
            apl_reader_options o = group_way(i);
            size_t size = sizeof state;
            struct group g = open_group(&o, 3, 3);
            bool more = true;
            for (unsigned step = 0; step < steps && more; step++)
                more = same_step(&g, step);
            cr_assert_eq(apl_reader_state_of(g.one, 1, state, &size, NULL), APL_OK);
            close_group(&g);
            o.state = state;
            o.state_size = size;
            check_epochs(&o, 3, 2);
            check_epochs(&o, 1, 1);
            if (!more || steps > 12)
                break;
        }
}

/* ---------------------------------------------------------------------------------------------------- epochs */

Test(reader_group, ranks_leave_epochs_when_they_like)
{
    for (unsigned i = 0; i < 40; i++) {
        apl_reader_options o = group_way(i);
        o.batch_size = 5;
        o.drop_last = i & 1;
        o.faults.timeout_ms = 20000;
        struct group g = open_group(&o, 3, 3);
        for (unsigned epoch = 0; epoch < 6; epoch++) {
            unsigned first = (i + epoch) % 3, steps = (i + 3 * epoch) % 7;
            for (unsigned step = 0; step < steps; step++)
                same_step(&g, step);
            same_begin(&g, first);
            if (epoch & 1) /* the others go on, as far as what waits for them goes */
                same_next(&g, (first + 1) % 3);
            same_begin(&g, (first + 1) % 3);
            same_begin(&g, (first + 2) % 3);
        }
        for (unsigned step = 0; same_step(&g, step); step++)
            continue;
        close_group(&g);
    }
}

/* One rank is two epochs ahead of another, which has left batches behind. */
Test(reader_group, a_rank_may_skip_epochs_ahead_of_the_others)
{
    for (unsigned i = 0; i < 12; i++) {
        apl_reader_options o = group_way(i);
        o.batch_size = 7;
        struct group g = open_group(&o, 2, 2);
        same_step(&g, 0);
        same_begin(&g, 0);
        same_begin(&g, 0);
        same_begin(&g, 0);
        for (unsigned epoch = 0; epoch < 3; epoch++) {
            for (unsigned k = 0; k < 1 + epoch; k++)
                same_next(&g, 1);
            same_begin(&g, 1);
        }
        for (unsigned step = 0; same_step(&g, step); step++)
            continue;
        close_group(&g);
    }
}

/* --------------------------------------------------------------------------------------------- what it costs */

static apl_stats stats_of(apl_reader *r)
{
    apl_stats s;
    cr_assert_eq(apl_reader_stats(r, &s, sizeof s), APL_OK);
    return s;
}

Test(reader_group, decodes_each_block_once)
{
    for (unsigned i = 0; i < 3; i++) {
        apl_reader_options o = fixture_options();
        o.window = 24; /* nothing is shared between readers */
        o.batch_size = 2;
        o.queue_depth = 1;
        o.threads = i ? i : APL_NO_THREADS;
        struct group g = open_group(&o, 4, 4);
        uint64_t separate = 0, blocks = (113 + BLOCK - 1) / BLOCK + (90 + BLOCK - 1) / BLOCK;
        for (unsigned step = 0; same_step(&g, step); step++)
            continue;
        apl_stats s = stats_of(g.one);
        for (unsigned k = 0; k < 4; k++)
            separate += stats_of(g.own[k]).blocks;
        cr_assert_geq(s.blocks, blocks);
        cr_assert_lt(s.blocks, 3 * blocks / 2, "but for what the next epoch begins with: %llu of %llu",
                     (unsigned long long)s.blocks, (unsigned long long)blocks);
        cr_assert_geq(separate, 3 * s.blocks);
        cr_assert_leq(s.memory, s.memory_budget);
        close_group(&g);
    }
}

/* --------------------------------------------------------------------------------------------- what is refused */

Test(reader_group, refuses_what_cannot_be)
{
    unsigned twice[] = {1, 1}, high[] = {0, 2}, two[] = {0, 1};
    apl_reader_options o = fixture_options();
    o.ranks.world = 2;
    o.ranks.count = 2;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "ranks.list is NULL"));
    o.ranks.list = twice;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "rank 1 twice"));
    o.ranks.list = high;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "rank 2 of 2"));
    o.ranks.list = two;
    o.ranks.rank = 1;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "ranks.rank is 1"));
    o.ranks.rank = 0;
    o.order = APL_FREE;
    cr_assert(strstr(fixture_refused(&o, APL_E_UNSUPPORTED), "free order is for one rank"));
    o.order = APL_STRICT;
    o.ranks.count = 5000;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "at most"));
    o.ranks.count = 0;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "ranks.count is 0"));
}

Test(reader_group, a_group_of_one_may_be_in_free_order)
{
    for (unsigned i = 0; i < 4; i++) {
        apl_reader_options o = fixture_way(i | 2);
        unsigned none = 0;
        apl_reader *plain = fixture_reader(&o);
        o.ranks.list = &none;
        o.ranks.count = 1;
        o.ranks.world = 1;
        apl_reader *r = fixture_reader(&o);
        for (apl_batch *b, *c; (b = fixture_next(plain)); apl_batch_release(b), apl_batch_release(c)) {
            cr_assert_eq(apl_reader_next_of(r, 0, &c, NULL), APL_OK);
            if (o.threads == APL_NO_THREADS)
                check_same_batch(b, c);
        }
        cr_assert_null(fixture_next(r));
        apl_reader_close(plain);
        apl_reader_close(r);
    }
}

Test(reader_group, calls_without_a_rank_ask_for_one)
{
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_receipt receipt;
    apl_error err;
    apl_batch *b;
    apl_reader_options o = fixture_options();
    struct group g = open_group(&o, 3, 2);
    cr_assert_eq(apl_reader_next(g.one, &b, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "serves 2 ranks"));
    cr_assert_eq(apl_reader_next_epoch(g.one, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_state(g.one, state, &size, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_receipt(g.one, &receipt, sizeof receipt, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_epoch(g.one), 0);
    cr_assert_eq(apl_reader_next_of(g.one, 0, &b, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "rank 0 of 3 is not served by this reader"));
    cr_assert_eq(apl_reader_next_of(g.one, 3, &b, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_next_of(g.one, 1, NULL, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_next_of(NULL, 1, &b, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_next_of(g.own[0], g.list[0], &b, &err), APL_OK, "its own rank");
    apl_batch_release(b);
    close_group(&g);
}
