/* What follows from what is asked of an order, before anything is drawn. */
#include "plan.h"

#include "order_case.h"

static struct plan_shape shape_of(uint32_t records, uint32_t block, uint64_t window, unsigned lanes)
{
    struct subset s = made_subset(records, block);
    struct plan_options o = {.window = window, .lanes = lanes, .reuse = 1};
    struct plan_shape shape = plan_shape(&o, &s);
    free(s.block);
    return shape;
}

Test(plan, as_many_bins_as_suit)
{
    cr_expect_eq(shape_of(1, 1, 1, 1).bins, 16);
    cr_expect_eq(shape_of(50000, 128, 50000, 1).bins, 16);
    cr_expect_eq(shape_of(1300000, 128, 1300000, 1).bins, 128);
    cr_expect_eq(shape_of(10000000, 1000, 10000000, 1).bins, 256);
    cr_expect_eq(shape_of(100000000, 10000, 100000000, 1).bins, 512);
    cr_expect_eq(shape_of(1300000, 128, 1300000, 4).bins, 32);
    cr_expect_eq(shape_of(1300000, 128, 130000, 1).bins, 256);
    cr_expect_eq(shape_of(1300000, 128, 1300, 1).bins, 64);
    cr_expect_eq(shape_of(1300000, 128, 130000, 100).bins, 64);
    cr_expect_eq(shape_of(1000, 10, 15, 1).bins, 1);
    cr_expect_eq(shape_of(1000, 10, 16, 1).bins, 1);
    cr_expect(shape_of(1000, 10, 1000, 1).whole);
    cr_expect_not(shape_of(1000, 10, 999, 1).whole);
}

Test(plan, bins_that_are_asked_for)
{
    struct subset s = made_subset(100000, 128);
    struct plan_options o = {.window = 100000, .bins = 3, .reuse = 1};
    cr_expect_eq(plan_shape(&o, &s).bins, 3);
    o.window = 1000;
    o.bins = PLAN_MAX_BINS;
    cr_expect_eq(plan_shape(&o, &s).bins, PLAN_MAX_BINS);
    free(s.block);
}

Test(plan, tells_how_much_memory_it_may_take)
{
    struct subset s = made_subset(100000, 100);
    struct plan_options o = {.window = 1000, .reuse = 1};
    size_t small = plan_bytes(&o, &s);
    o.window = 100000;
    cr_assert_gt(plan_bytes(&o, &s), small + 90000 * sizeof(uint32_t));
    o.sequential = true;
    cr_assert_lt(plan_bytes(&o, &s), small);
    free(s.block);
}
