/* Memory of batches: few buffers, within their bytes, given back once. */
#include "pool.h"

#include <criterion/criterion.h>
#include <stdint.h>

static const size_t widths[3] = {10, 0, 100};
#define ROWS 7u

static struct pool *new_pool(unsigned buffers)
{
    struct pool *p = pool_new(ROWS, 3, widths, NULL, buffers * pool_buffer_bytes(ROWS, 3, widths));
    cr_assert_not_null(p);
    return p;
}

Test(pool, brings_as_many_buffers_as_fit)
{
    struct pool *p = new_pool(3);
    struct batch_buffer *b[3];
    for (unsigned i = 0; i < 3; i++) {
        cr_assert(pool_can_take(p));
        cr_assert_not_null(b[i] = pool_take(p));
        for (unsigned k = 0; k < i; k++)
            cr_assert_neq(b[i], b[k]);
        cr_assert_eq((uintptr_t)b[i]->batch.columns[0].data % 64, 0);
        cr_assert_eq((uintptr_t)b[i]->batch.columns[2].data % 64, 0);
        cr_assert_null(b[i]->batch.columns[1].data);
    }
    cr_assert_not(pool_can_take(p));
    cr_assert_null(pool_take(p));
    cr_assert_eq(pool_bytes(p), 3 * pool_buffer_bytes(ROWS, 3, widths));
    pool_give(b[1]);
    cr_assert_eq(pool_take(p), b[1], "used again and again");
    for (unsigned i = 0; i < 3; i++)
        pool_give(b[i]);
    pool_close(p);
}

Test(pool, always_brings_one)
{
    struct pool *p = pool_new(ROWS, 3, widths, NULL, 0);
    struct batch_buffer *b = pool_take(p);
    cr_assert_not_null(b);
    cr_assert_null(pool_take(p));
    pool_give(b);
    pool_close(p);
    pool_close(NULL);
}

Test(pool, counts_what_is_lent)
{
    struct pool *p = new_pool(2);
    struct batch_buffer *a = pool_take(p), *b = pool_take(p);
    cr_assert_eq(pool_lent(p), 0);
    pool_lend(a);
    pool_lend(b);
    cr_assert_eq(pool_lent(p), 2);
    apl_batch_release(&a->batch);
    cr_assert_eq(pool_lent(p), 1);
    apl_batch_release(&a->batch); /* again: nothing */
    cr_assert_eq(pool_lent(p), 1);
    cr_assert_eq(pool_take(p), a);
    apl_batch_release(&a->batch); /* again, while the reader is at work on it: nothing */
    cr_assert_null(pool_take(p));
    pool_give(a);
    apl_batch_release(&b->batch);
    cr_assert_eq(pool_lent(p), 0);
    pool_close(p);
}

Test(pool, outlives_its_close_while_something_is_lent)
{
    struct pool *p = new_pool(2);
    struct batch_buffer *a = pool_take(p), *b = pool_take(p);
    pool_lend(a);
    pool_give(b);
    pool_close(p);
    memset((void *)a->batch.columns[2].data, 1, ROWS * widths[2]);
    apl_batch_release(&a->batch);
}

Test(pool, grows_columns)
{
    struct pool *p = new_pool(1);
    struct batch_buffer *b = pool_take(p);
    uint64_t before = pool_bytes(p);
    cr_assert(pool_grow(b, 1, 1000));
    memset((void *)b->batch.columns[1].data, 1, 1000);
    cr_assert_geq(pool_bytes(p), before + 1000);
    const void *data = b->batch.columns[1].data;
    cr_assert(pool_grow(b, 1, 500));
    cr_assert_eq(b->batch.columns[1].data, data, "large enough as it is");
    cr_assert(pool_grow(b, 1, 5000));
    memset((void *)b->batch.columns[1].data, 1, 5000);
    pool_give(b);
    pool_close(p);
}

/* ------------------------------------------------------------------------------------------------- bound */

#define NEED(bytes) \
    ((size_t[3]){1000000, (bytes), 1000000}) /* what is said of columns that do not grow means nothing */

/* Buffers of a pool with room for `bytes` more, in columns that grow. */
static struct pool *bound_pool(unsigned buffers, size_t bytes, struct batch_buffer **b)
{
    uint64_t fixed = buffers * pool_buffer_bytes(ROWS, 3, widths);
    struct pool *p = pool_new(ROWS, 3, widths, NULL, fixed + bytes);
    cr_assert_not_null(p);
    pool_bound(p);
    for (unsigned i = 0; i < buffers; i++)
        cr_assert_not_null(b[i] = pool_take(p));
    cr_assert_eq(pool_bytes(p), fixed);
    return p;
}

static void fill(struct batch_buffer *b, size_t bytes)
{
    cr_assert(pool_grow(b, 1, bytes));
    memset((void *)b->batch.columns[1].data, 1, bytes);
    pool_settle(b);
}

static void give_all(struct pool *p, struct batch_buffer **b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        pool_give(b[i]);
    pool_close(p);
}

Test(pool, reserves_what_there_is_room_for)
{
    struct batch_buffer *b[3];
    struct pool *p = bound_pool(3, 10000, b);
    uint64_t fixed = pool_bytes(p);
    cr_assert_eq(pool_reserve(b[0], NEED(6000), false), 0);
    cr_assert_eq(pool_reserve(b[1], NEED(6000), false), 6000, "two want it at once");
    cr_assert(pool_has_room(p, 4000));
    cr_assert_not(pool_has_room(p, 4001));
    fill(b[0], 6000);
    cr_assert_eq(pool_bytes(p), fixed + 6000, "as much as was asked for, and no more");
    cr_assert(pool_has_room(p, 4000));
    cr_assert_eq(pool_reserve(b[1], NEED(6000), true), 0, "regardless");
    cr_assert_not(pool_has_room(p, 0));
    fill(b[1], 5000);
    cr_assert_eq(pool_bytes(p), fixed + 11000);
    cr_assert_eq(pool_reserve(b[2], NEED(1), false), 1);
    cr_assert_eq(pool_reserve(b[0], NEED(6000), false), 0, "it has them");
    pool_settle(b[0]);
    give_all(p, b, 3);
}

/* Else a caller that holds the first batch while it asks for the second would be told to release it. */
Test(pool, brings_what_is_assured_however_large_the_first_has_grown)
{
    struct batch_buffer *b[2];
    struct pool *p = pool_new(ROWS, 3, widths, NULL, 2 * pool_buffer_bytes(ROWS, 3, widths));
    pool_assure(p, 2);
    pool_bound(p);
    cr_assert_not_null(b[0] = pool_take(p));
    cr_assert_eq(pool_reserve(b[0], NEED(1000000), true), 0);
    fill(b[0], 1000000);
    pool_lend(b[0]);
    cr_assert(pool_can_take(p));
    cr_assert_not_null(b[1] = pool_take(p));
    cr_assert_not(pool_can_take(p), "two are assured");
    apl_batch_release(&b[0]->batch);
    pool_give(b[1]);
    pool_close(p);
}

Test(pool, makes_no_buffer_of_what_is_reserved)
{
    struct pool *p = new_pool(2);
    pool_bound(p);
    struct batch_buffer *b = pool_take(p);
    cr_assert(pool_can_take(p));
    cr_assert_eq(pool_reserve(b, NEED(1), false), 0);
    cr_assert_not(pool_can_take(p));
    cr_assert_null(pool_take(p));
    pool_settle(b);
    cr_assert(pool_can_take(p));
    give_all(p, &b, 1);
}

Test(pool, gives_back_what_was_reserved_in_vain)
{
    struct batch_buffer *b[2];
    struct pool *p = bound_pool(2, 10000, b);
    cr_assert_eq(pool_reserve(b[0], NEED(10000), false), 0);
    cr_assert_not(pool_has_room(p, 1));
    pool_settle(b[0]); /* its batch has failed */
    cr_assert(pool_has_room(p, 10000));
    give_all(p, b, 2);
}

Test(pool, keeps_nothing_idle_when_it_is_short)
{
    struct batch_buffer *b[2];
    struct pool *p = bound_pool(2, 10000, b);
    uint64_t fixed = pool_bytes(p);
    cr_assert_eq(pool_reserve(b[0], NEED(9000), false), 0);
    fill(b[0], 9000);
    pool_lend(b[0]);
    cr_assert_eq(pool_reserve(b[1], NEED(2000), false), 2000);
    apl_batch_release(&b[0]->batch);
    cr_assert_eq(pool_bytes(p), fixed);
    cr_assert_eq(pool_reserve(b[1], NEED(2000), false), 0);
    fill(b[1], 2000);
    pool_give(b[1]);
    pool_close(p);
}

Test(pool, shrinks_what_is_far_too_large_when_it_is_short)
{
    struct batch_buffer *b[2];
    struct pool *p = bound_pool(2, 10000, b);
    uint64_t fixed = pool_bytes(p);
    cr_assert_eq(pool_reserve(b[0], NEED(9000), false), 0);
    fill(b[0], 9000);
    cr_assert_eq(pool_reserve(b[0], NEED(5000), false), 0);
    fill(b[0], 5000);
    cr_assert_eq(pool_bytes(p), fixed + 9000, "not far");
    cr_assert_eq(pool_reserve(b[0], NEED(100), false), 0);
    fill(b[0], 100);
    cr_assert_eq(pool_bytes(p), fixed + 100);
    give_all(p, b, 2);
}
