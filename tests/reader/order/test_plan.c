/* Plans of made-up splits: each delivery once, blocks in time, and within the window. */
#include "plan.h"
#include "plan_bin.h"

#include "order_case.h"

static struct plan *new_plan(const struct plan_options *o, const struct subset *s)
{
    struct plan *p = NULL;
    apl_error err = {0};
    cr_assert_eq(plan_new(o, s, &p, &err), APL_OK, "%s", err.message);
    return p;
}

static size_t next(struct plan *p, uint32_t *deliveries, size_t n)
{
    bool failed;
    size_t k = plan_next(p, deliveries, n, &failed);
    cr_assert_not(failed);
    return k;
}

static uint32_t reference_of(const struct plan_options *o, uint32_t delivery)
{
    return delivery / o->reuse;
}

/* Every delivery of the epoch once; nothing of a block before it has entered. */
static void check_epoch(struct plan *p, const struct plan_options *o, const struct subset *s, size_t step)
{
    size_t all = (size_t)s->blocks * s->stride * o->reuse, n, at = 0;
    uint8_t *seen = calloc(all, 1), *in = calloc(s->blocks, 1);
    uint32_t deliveries[64];
    while ((n = next(p, deliveries, step)) > 0) {
        uint32_t entered;
        const uint32_t *blocks = plan_entered(p, &entered);
        uint64_t stand = 0;
        memset(in, 0, s->blocks);
        for (uint32_t i = 0; i < entered; i++) {
            in[blocks[i]]++;
            stand += s->block[blocks[i]].count;
        }
        for (size_t k = 0; k < n; k++) {
            uint32_t reference = reference_of(o, deliveries[k]), block = reference / s->stride;
            cr_assert_lt(deliveries[k], all);
            cr_assert_eq(seen[deliveries[k]]++, 0);
            cr_assert_eq(in[block], 1, "a block enters once, before its records come");
            cr_assert_lt(reference % s->stride, s->block[block].count);
        }
        at += n;
        cr_assert_eq(plan_position(p), at);
        if (!o->sequential && o->lanes <= 1)
            cr_assert_leq(stand * o->reuse, o->window * o->reuse + at, "more stand than the window holds");
    }
    cr_assert_eq(at, plan_length(p));
    cr_assert_eq(at, s->records * o->reuse);
    free(seen);
    free(in);
}

Test(plan, brings_each_delivery_once)
{
    uint32_t state = 12345;
    for (unsigned i = 0; i < 400; i++) {
        struct random_stream r;
        random_stream_init(&r, random_key(i, RANDOM_DRAWS));
        uint32_t block = 1 + random_below(&r, 20), records = block + random_below(&r, 300);
        struct subset s = made_subset(records, block);
        struct plan_options o = {.seed = state + i,
                                 .window = block + random_below(&r, records - block + 1),
                                 .bins = 1 + random_below(&r, i % 10 ? 64 : PLAN_MAX_BINS),
                                 .lanes = 1,
                                 .reuse = 1 + random_below(&r, 3),
                                 .sequential = i % 7 == 0};
        struct plan *p = new_plan(&o, &s);
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            plan_begin(p, epoch * 1000);
            check_epoch(p, &o, &s, 1 + random_below(&r, 64));
        }
        plan_free(p);
        free(s.block);
    }
}

Test(plan, begins_anew_from_anywhere)
{
    struct subset s = made_subset(100, 8);
    struct plan_options o = {.seed = 1, .window = 30, .bins = 7, .lanes = 1, .reuse = 2};
    struct plan *p = new_plan(&o, &s), *q = new_plan(&o, &s);
    uint32_t a[200], b[200];
    plan_begin(p, 5);
    cr_assert_eq(next(p, a, 200), 200);
    for (size_t left = 0; left < 200; left += 13) {
        plan_begin(q, 4);
        next(q, b, left);
        plan_begin(q, 5);
        for (size_t at = 0, n; (n = next(q, b + at, 1 + left)) > 0;)
            at += n;
        cr_assert(memcmp(a, b, sizeof a) == 0, "the order hangs on what came before");
    }
    plan_free(p);
    plan_free(q);
    free(s.block);
}

Test(plan, without_shuffling_is_the_order_of_ids)
{
    struct subset s = made_subset(50, 8);
    struct plan_options o = {.window = 50, .bins = 1, .lanes = 1, .reuse = 3, .sequential = true};
    struct plan *p = new_plan(&o, &s);
    uint32_t deliveries[150];
    cr_assert_eq(next(p, deliveries, 200), 150);
    for (unsigned i = 0; i < 150; i++) {
        cr_assert_eq(subset_id(&s, deliveries[i] / 3), i / 3);
        cr_assert_eq(deliveries[i] % 3, i % 3);
    }
    plan_free(p);
    free(s.block);
}

/* A record cannot come before its block has entered: with the smallest window, blocks come one after another
 * but for what mixes at their borders. */
Test(plan, small_windows_keep_blocks_together)
{
    struct subset s = made_subset(800, 8);
    struct plan_options o = {.seed = 9, .window = 8, .bins = 3, .lanes = 1, .reuse = 1};
    struct plan *p = new_plan(&o, &s);
    uint32_t d[800];
    cr_assert_eq(next(p, d, 800), 800);
    for (unsigned i = 0; i < 800; i++)
        cr_assert_eq(d[i] / 8, d[i / 8 * 8] / 8);
    plan_free(p);
    free(s.block);
}

/* From 4 MiB on, a bin is in huge pages; it keeps what it has while it grows into them, or has room from the first on. */
Test(plan, large_bins_keep_what_is_put)
{
    const uint32_t many = 3000000, expected[2] = {0, many / 2};
    for (unsigned k = 0; k < 2; k++) {
        struct bin bin = {0};
        uint32_t i = 0;
        cr_assert(bin_put(&bin, 0, expected[k]));
        cr_assert_geq(bin.capacity, expected[k]);
        while (++i < many)
            cr_assert(bin_put(&bin, i, expected[k]));
        for (i = 0; i < many && bin.deliveries[i] == i;)
            i++;
        cr_assert_eq(i, many);
        cr_assert_leq(bin.capacity, many + many / 2);
        free(bin.deliveries);
    }
}

Test(plan, refuses_more_deliveries_than_have_numbers)
{
    struct subset_block one = {.records = 65536, .count = 65536};
    struct subset s = {.records = 1u << 31, .stride = 65536, .blocks = 1u << 15, .block = &one};
    struct plan_options o = {.window = 65536, .bins = 1, .lanes = 1, .reuse = 3};
    struct plan *p = NULL;
    apl_error err;
    cr_assert_eq(plan_new(&o, &s, &p, &err), APL_E_UNSUPPORTED);
    cr_assert_null(p);
}

Test(plan, tells_how_much_memory_it_may_take)
{
    struct subset s = made_subset(10000, 100);
    struct plan_options o = {.window = 1000, .bins = 64, .lanes = 1, .reuse = 1};
    size_t small = plan_bytes(&o, &s);
    o.window = 10000;
    cr_assert_gt(plan_bytes(&o, &s), small + 9000 * sizeof(uint32_t) - 1);
    o.sequential = true;
    cr_assert_lt(plan_bytes(&o, &s), small);
    plan_free(NULL);
    free(s.block);
}
