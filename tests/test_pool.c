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
