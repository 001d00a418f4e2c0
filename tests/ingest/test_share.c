/* Which records are a part's own: all parts together have each once, in order, and equally many. */
#include "share.h"

#include <criterion/criterion.h>

/* Goes through a split in steps of `step` records, and adds up what is the part's. */
static uint64_t own_records(struct share *s, const char *split, uint64_t total, uint64_t *first)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < total; i++) {
        bool own = share_peek(s, split, 1);
        cr_assert_eq(share_pass(s, split, 1), own);
        if (own && count == 0)
            *first = i;
        cr_assert(!own || i == *first + count);
        count += own;
    }
    return count;
}

static void check_parts_of(uint64_t train, uint64_t test, unsigned parts)
{
    uint64_t next[2] = {0, 0}, totals[2] = {train, test};
    static const char *const names[2] = {"train", "test"};
    for (unsigned part = 1; part <= parts; part++) {
        struct share s = {.part = part, .parts = parts};
        apl_error err;
        cr_assert_eq(share_count(&s, "train", 0, train / 2, &err), APL_OK);
        cr_assert_eq(share_count(&s, "test", 1 << 16, test, &err), APL_OK);
        cr_assert_eq(share_count(&s, "train", 0, train - train / 2, &err), APL_OK);
        for (unsigned i = 0; i < 2; i++) {
            uint64_t first = 0, begin, count;
            share_range(&s, names[i], &begin, &count);
            cr_assert_eq(own_records(&s, names[i], totals[i], &first), count);
            cr_assert(count == 0 || first == begin);
            cr_assert_eq(begin, next[i]);
            cr_assert(count == totals[i] / parts || count == totals[i] / parts + 1);
            next[i] += count;
        }
        cr_assert(share_ended(&s));
        share_free(&s);
    }
    cr_assert_eq(next[0], train);
    cr_assert_eq(next[1], test);
}

Test(share, parts_have_all_records_once)
{
    check_parts_of(1000, 7, 1);
    check_parts_of(1000, 7, 3);
    check_parts_of(1001, 64, 64);
    check_parts_of(99, 0, 100);
    check_parts_of(3, 1, 16);
}

Test(share, sums_do_not_overflow)
{
    struct share s = {.part = 99999, .parts = 99999};
    uint64_t first, count;
    cr_assert_eq(share_count(&s, "train", 0, UINT64_MAX / 2, NULL), APL_OK);
    share_range(&s, "train", &first, &count);
    cr_assert_eq(first + count, UINT64_MAX / 2);
    cr_assert_eq(count, UINT64_MAX / 2 / 99999 + 1);
    share_free(&s);
}

Test(share, of_many_records_at_once)
{
    struct share s = {.part = 2, .parts = 3}; /* 10 ... 19 of 30 */
    cr_assert_eq(share_count(&s, "train", 0, 30, NULL), APL_OK);
    cr_assert(!share_peek(&s, "train", 10));
    cr_assert(share_peek(&s, "train", 11));
    cr_assert(!share_pass(&s, "train", 10));
    cr_assert(!share_ended(&s));
    cr_assert(share_pass(&s, "train", 5));
    cr_assert(share_pass(&s, "train", 15));
    cr_assert(share_ended(&s));
    cr_assert(!share_peek(&s, "train", INT64_MAX));
    cr_assert(!share_pass(&s, "other", 1));
    share_free(&s);
}

/* Where it would have them, if it had any, does not matter. */
Test(share, of_none_of_few_records)
{
    struct share s = {.part = 3, .parts = 5}; /* of 3: none, between the first and the second */
    uint64_t first, count;
    cr_assert_eq(share_count(&s, "val", 0, 3, NULL), APL_OK);
    share_range(&s, "val", &first, &count);
    cr_assert(first == 1 && count == 0);
    cr_assert(!share_peek(&s, "val", 3) && !share_pass(&s, "val", 2) && !share_pass(&s, "val", 1));
    share_free(&s);
}

Test(share, what_is_no_part_has_everything)
{
    struct share s = {.part = 0};
    uint64_t first, count;
    cr_assert_eq(share_count(&s, "train", 0, 3, NULL), APL_OK);
    share_range(&s, "train", &first, &count);
    cr_assert(first == 0 && count == UINT64_MAX);
    cr_assert(share_pass(&s, "train", 1) && share_peek(&s, "any", 1) && !share_ended(&s));
    share_free(&s);
}

Test(share, refuses_a_long_name)
{
    struct share s = {.part = 1, .parts = 2};
    char name[APL_MAX_NAME + 2];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    cr_assert_eq(share_count(&s, name, 0, 3, NULL), APL_E_SOURCE);
    name[sizeof name - 2] = 0;
    cr_assert_eq(share_count(&s, name, 0, 3, NULL), APL_OK);
    share_free(&s);
}
