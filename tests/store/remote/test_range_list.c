/* What has been asked for ahead: neighbours become one range, and nothing else does. */
#include "range_list.h"

#include <criterion/criterion.h>

TestSuite(range_list);

static struct ranges all;
static struct ahead *const one = (void *)&all, *const other = (void *)&all.first;

static void drop_all(void)
{
    while (all.all)
        ranges_drop(&all, all.all);
    cr_assert(all.waiting == 0 && all.held == 0 && !all.first && !all.last);
}

/* After 1,000 bytes at 100,000: is what is asked for then part of the same range? */
static bool joins(struct ahead *of, uint64_t offset, size_t n)
{
    cr_assert(ranges_add(&all, one, 100000, 1000));
    cr_assert(ranges_add(&all, of, offset, n));
    bool joined = all.waiting == 1;
    const struct unit *u = ranges_find(&all, of, offset, n);
    cr_assert_not_null(u);
    cr_assert(u->range == all.last);
    cr_assert_eq(u->range->offset, joined ? 100000 : offset);
    cr_assert_eq(u->range->n, joined ? offset + n - 100000 : n);
    drop_all();
    return joined;
}

Test(range_list, neighbours_are_fetched_together)
{
    cr_assert(joins(one, 101000, 500));
    cr_assert(joins(one, 101000 + RANGE_GAP, 500));
    cr_assert(joins(one, 101000, RANGE_JOIN - 1000));
    cr_assert(joins(one, 101010, RANGE_JOIN - 1010));
}

Test(range_list, others_are_not)
{
    cr_assert(!joins(one, 101000 + RANGE_GAP + 1, 500));
    cr_assert(!joins(one, 101000, RANGE_JOIN - 999));
    cr_assert(!joins(one, 101010, RANGE_JOIN - 1009));
    cr_assert(!joins(one, 100999, 500), "it overlaps");
    cr_assert(!joins(one, 100000, 500));
    cr_assert(!joins(one, 99000, 500), "it comes before");
    cr_assert(!joins(other, 101000, 500), "of another file");
}

Test(range_list, a_unit_that_is_read_is_not_found)
{
    cr_assert(ranges_add(&all, one, 0, 10) && ranges_add(&all, one, 10, 20) && ranges_add(&all, one, 40, 5));
    cr_assert_eq(all.waiting, 1);
    cr_assert_null(ranges_find(&all, one, 10, 19));
    cr_assert_null(ranges_find(&all, other, 10, 20));
    ranges_read_unit(&all, ranges_find(&all, one, 10, 20));
    cr_assert_null(ranges_find(&all, one, 10, 20));
    cr_assert(ranges_find(&all, one, 0, 10) && ranges_find(&all, one, 40, 5));
    drop_all();
}
