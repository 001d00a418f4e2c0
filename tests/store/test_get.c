/* Records by their ids: in any order, again and again, some of the fields, on any number of threads. */
#include "store_fixture.h"

static void set_up(void)
{
    fx_set_up();
    apl_writer_options o = fx_options(2, 32);
    fx_make(fx_path("db"), &fx_small, &o);
}

TestSuite(get, .init = set_up, .fini = fx_tear_down, .timeout = 60);

#define RECORDS 510

/* Row `row` of the batch is record `id` of the store, in every field that it has. */
static void check_row(const apl_store *s, const apl_batch *b, size_t row, uint64_t id)
{
    static struct fx_value v;
    uint32_t member = 0;
    uint64_t record = 0;
    cr_assert_eq(apl_batch_ids(b)[row], id);
    fx_origin(s, b, id, &member, &record);
    for (unsigned f = 0; f < fx_small.field_count; f++) {
        const apl_column *c = apl_batch_column(b, f);
        if (!c)
            continue;
        fx_draw(&fx_fields[f], f, member, record, &v);
        cr_assert(fx_row_is(c, row, &fx_fields[f], &v), "record %llu, field %u", (unsigned long long)id, f);
        cr_assert_eq(c->dims, c->offsets ? 1 : fx_fields[f].ndim + 1);
        cr_assert(c->offsets || c->dim[0] == (int64_t)apl_batch_rows(b));
    }
}

Test(get, one_by_one)
{
    apl_store *s = fx_open(fx_path("db"));
    for (uint64_t id = 0; id < RECORDS; id += 7) {
        apl_batch *b = NULL;
        OK(apl_store_get(s, id, &b, &fx_err));
        cr_assert_eq(apl_batch_rows(b), 1);
        check_row(s, b, 0, id);
        apl_batch_release(b);
    }
    apl_store_close(s);
}

Test(get, any_order_with_repeats)
{
    static uint64_t ids[3000];
    uint32_t x = 1;
    for (size_t i = 0; i < COUNT(ids); i++) {
        x = x * 1664525 + 1013904223;
        ids[i] = (x >> 8) % RECORDS;
    }
    apl_store *s = fx_open(fx_path("db"));
    for (unsigned threads = 0; threads <= 5; threads++) {
        apl_get_options o = APL_GET_OPTIONS_INIT;
        apl_batch *b = NULL;
        o.threads = threads;
        OK(apl_store_get_batch(s, ids, COUNT(ids), &o, &b, &fx_err));
        for (size_t i = 0; i < COUNT(ids); i++)
            check_row(s, b, i, ids[i]);
        apl_batch_release(b);
    }
    apl_store_close(s);
}

Test(get, some_fields)
{
    static const char *const names[] = {"track", "label"};
    const uint64_t ids[] = {300, 2, 509, 2};
    apl_get_options o = APL_GET_OPTIONS_INIT;
    apl_store *s = fx_open(fx_path("db"));
    apl_batch *b = NULL;
    o.fields = names;
    o.field_count = 2;
    OK(apl_store_get_batch(s, ids, COUNT(ids), &o, &b, &fx_err));
    cr_assert_null(apl_batch_column(b, 0));
    cr_assert_null(apl_batch_column(b, 2));
    cr_assert_null(apl_batch_column(b, 99));
    cr_assert_not_null(apl_batch_column(b, 1));
    const apl_column *track = apl_batch_column(b, 3);
    cr_assert(track && track->dtype == APL_F32 && track->ndim == 2 && track->shape[0] == -1 &&
              track->shape[1] == 2);
    cr_assert_eq((uintptr_t)track->data % 64, 0);
    for (size_t i = 0; i < COUNT(ids); i++)
        check_row(s, b, i, ids[i]);
    apl_store_close(s); /* before its batch */
    cr_assert_eq(apl_batch_rows(b), COUNT(ids));
    cr_assert_eq(apl_batch_ids(b)[2], 509);
    apl_batch_release(b);
    apl_batch_release(NULL);
}

Test(get, nothing_and_wrong)
{
    static const char *const unknown[] = {"colour"};
    const uint64_t beyond[] = {3, RECORDS};
    apl_get_options o = APL_GET_OPTIONS_INIT;
    apl_store *s = fx_open(fx_path("db"));
    apl_batch *b = NULL;
    OK(apl_store_get_batch(s, NULL, 0, NULL, &b, &fx_err));
    cr_assert_eq(apl_batch_rows(b), 0);
    apl_batch_release(b);
    b = NULL;
    FAILS(APL_E_NOTFOUND, apl_store_get(s, RECORDS, &b, &fx_err));
    SAYS("ids are 0 to 509");
    cr_assert(fx_err.first_record == RECORDS && fx_err.records == 1);
    FAILS(APL_E_NOTFOUND, apl_store_get(s, UINT64_MAX, &b, &fx_err));
    FAILS(APL_E_NOTFOUND, apl_store_get_batch(s, beyond, 2, NULL, &b, &fx_err));
    FAILS(APL_E_INVALID, apl_store_get_batch(s, NULL, 1, NULL, &b, &fx_err));
    FAILS(APL_E_INVALID, apl_store_get_batch(NULL, beyond, 1, NULL, &b, &fx_err));
    FAILS(APL_E_INVALID, apl_store_get_batch(s, beyond, 1, NULL, NULL, &fx_err));
    o.field_count = 1;
    FAILS(APL_E_INVALID, apl_store_get_batch(s, beyond, 1, &o, &b, &fx_err));
    SAYS("fields is NULL, but field_count is 1");
    o.fields = unknown;
    FAILS(APL_E_NOTFOUND, apl_store_get_batch(s, beyond, 1, &o, &b, &fx_err));
    SAYS("colour");
    cr_assert_eq(fx_err.records, 0);
    o.size = 1;
    FAILS(APL_E_INVALID, apl_store_get_batch(s, beyond, 1, &o, &b, &fx_err));
    cr_assert_eq(apl_store_get(s, RECORDS, &b, NULL), APL_E_NOTFOUND); /* an error need not be asked for */
    cr_assert_null(b);
    apl_store_close(s);
}

Test(get, more_than_memory_can_hold)
{
    const uint64_t id = 0;
    apl_batch *batch;
    apl_store *store = fx_open(fx_path("db"));
    FAILS(APL_E_NOMEM, apl_store_get_batch(store, &id, SIZE_MAX, NULL, &batch, &fx_err));
    FAILS(APL_E_NOMEM, apl_store_get_batch(store, &id, SIZE_MAX / 16, NULL, &batch, &fx_err));
    apl_store_close(store);
}
