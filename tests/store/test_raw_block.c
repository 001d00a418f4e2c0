/* Records that are not coded: appended and found again. */
#include "records.h"

Test(raw_block, records_of_every_kind)
{
    static struct raw_block block, copy;
    struct schema s = {0};
    add_every_kind(&s);
    append_records(&block, &s, 1, 300);
    cr_assert_eq(block.records, 300);
    for (uint32_t i = 0; i < 300; i++)
        expect_record(&block, &s, i, 1 + i);
    /* What raw_block_record() gives can be appended elsewhere, in another order. */
    for (uint32_t i = 0; i < 300; i++) {
        apl_value values[RECORD_FIELDS];
        int64_t shapes[RECORD_FIELDS][APL_MAX_DIMS];
        raw_block_record(&block, &s, 299 - i, values, shapes);
        cr_assert_eq(raw_block_append(&copy, &s, values, NULL), APL_OK);
    }
    for (uint32_t i = 0; i < 300; i++)
        expect_record(&copy, &s, i, 300 - i);
    cr_assert_eq(raw_block_bytes(&block, &s), raw_block_bytes(&copy, &s));
    raw_block_free(&block);
    raw_block_free(&copy);
    schema_free(&s);
}

Test(raw_block, every_type)
{
    for (int dtype = APL_U8; dtype < APL_UTF8; dtype++)
        for (int varying = 0; varying < 8; varying++) {
            static struct raw_block block;
            struct schema s = {0};
            add_field(&s, "x", (apl_dtype)dtype, APL_INPUT,
                      SHAPE_OF(varying & 1 ? -1 : 3, varying & 2 ? -1 : 2, varying & 4 ? -1 : 4));
            append_records(&block, &s, 7, 20);
            for (uint32_t i = 0; i < 20; i++)
                expect_record(&block, &s, i, 7 + i);
            raw_block_free(&block);
            schema_free(&s);
        }
}

Test(raw_block, sizes)
{
    static struct raw_block block;
    static struct record r;
    struct schema s = {0};
    add_every_kind(&s);
    size_t bytes = 0;
    for (uint32_t i = 0; i < 50; i++) {
        make_record(&r, &s, i);
        for (unsigned f = 0; f < s.count; f++) {
            size_t one = r.bytes[f] + 4 * field_varying(&s.fields[f]);
            cr_assert_eq(raw_value_bytes(&s.fields[f], &r.values[f]), one);
            bytes += one;
        }
        cr_assert_eq(raw_block_append(&block, &s, r.values, NULL), APL_OK);
        cr_assert_eq(raw_block_bytes(&block, &s), bytes);
    }
    raw_block_clear(&block);
    cr_assert(block.records == 0 && raw_block_bytes(&block, &s) == 0);
    append_records(&block, &s, 90, 3);
    expect_record(&block, &s, 2, 92);
    raw_block_free(&block);
    cr_assert_eq(raw_block_bytes(&block, &s), 0);
    schema_free(&s);
}

Test(raw_block, values_without_bytes)
{
    static struct raw_block block;
    struct schema s = {0};
    add_field(&s, "text", APL_UTF8, APL_NAME, SHAPE_OF(-1));
    add_field(&s, "cube", APL_F64, APL_INPUT, SHAPE_OF(-1, 2, -1));
    const int64_t none[] = {0}, flat[] = {5, 2, 0}, big[] = {0, 2, APL_MAX_VALUE};
    const int64_t also[] = {APL_MAX_VALUE, 2, 0};
    const int64_t *cubes[] = {flat, big, also};
    for (uint32_t i = 0; i < 3; i++) {
        apl_value values[] = {{NULL, none}, {NULL, cubes[i]}};
        cr_assert_eq(raw_block_append(&block, &s, values, NULL), APL_OK);
    }
    cr_assert_eq(raw_block_bytes(&block, &s), 36, "dimensions alone");
    for (uint32_t i = 0; i < 3; i++) {
        apl_value values[2];
        int64_t shapes[2][APL_MAX_DIMS];
        raw_block_record(&block, &s, i, values, shapes);
        cr_assert_eq(values[0].shape[0], 0);
        cr_assert(memcmp(values[1].shape, cubes[i], sizeof flat) == 0);
    }
    raw_block_free(&block);
    schema_free(&s);
}

static void refused(struct raw_block *block, const struct schema *s, const apl_value *values, const char *why)
{
    apl_error err;
    size_t bytes = raw_block_bytes(block, s);
    uint32_t records = block->records;
    cr_assert_eq(raw_block_append(block, s, values, &err), APL_E_INVALID, "%s", why);
    cr_assert_not_null(strstr(err.message, why), "\"%s\" does not say \"%s\"", err.message, why);
    cr_assert(block->records == records && raw_block_bytes(block, s) == bytes, "nothing is appended");
}

Test(raw_block, refusals_append_nothing)
{
    static struct raw_block block;
    static uint8_t data[64];
    struct schema s = {0};
    add_field(&s, "first", APL_U8, APL_NAME, SHAPE_OF(-1));
    add_field(&s, "fixed", APL_U32, APL_INPUT, SHAPE_OF(4));
    add_field(&s, "part", APL_F64, APL_INPUT, SHAPE_OF(-1, 2, -1));
    const int64_t one[] = {1};
    apl_value values[] = {{data, one}, {data, NULL}, {data, NULL}};
#define PART(...) (values[2].shape = (int64_t[]){__VA_ARGS__}, values)
    cr_assert_eq(raw_block_append(&block, &s, PART(1, 2, 3), NULL), APL_OK);
    values[2].shape = NULL;
    refused(&block, &s, values, "field part: its shape varies, and none was given");
    refused(&block, &s, PART(1, 3, 1), "dimension 1 of a value is 3");
    refused(&block, &s, PART(1, -1, 1), "dimension 1 of a value is -1");
    refused(&block, &s, PART(-1, 2, 1), "dimension 0 of a value is -1");
    refused(&block, &s, PART(1, 2, APL_MAX_VALUE + 1ll), "dimension 2 of a value is 67108865");
    refused(&block, &s, PART(INT64_MAX, 2, 1), "dimension 0");
    refused(&block, &s, PART(1 << 13, 2, 1 << 13), "a value of more than");
    values[1].data = NULL;
    refused(&block, &s, PART(1, 2, 3), "field fixed: a value is NULL");
    values[1].data = data;
    values[2].data = NULL;
    refused(&block, &s, PART(1, 2, 3), "field part: a value is NULL");
    cr_assert_eq(raw_value_bytes(&s.fields[2], &PART(1, 3, 1)[2]), 0);
    cr_assert_eq(raw_block_append(&block, &s, PART(0, 2, 3), NULL), APL_OK);
    raw_block_free(&block);
    schema_free(&s);
}

Test(raw_block, a_bool_is_0_or_1)
{
    static struct raw_block block;
    struct schema s = {0};
    add_field(&s, "flags", APL_BOOL, APL_TARGET, SHAPE_OF(2));
    for (unsigned value = 0; value < 256; value++) {
        uint8_t data[] = {1, (uint8_t)value};
        apl_value values[] = {{data, NULL}};
        if (value <= 1)
            cr_assert_eq(raw_block_append(&block, &s, values, NULL), APL_OK);
        else
            refused(&block, &s, values, "neither 0 nor 1");
    }
    raw_block_free(&block);
    schema_free(&s);
}

Test(raw_block, refuses_text_that_is_not_utf8)
{
    static struct raw_block block;
    struct schema s = {0};
    add_field(&s, "text", APL_UTF8, APL_NAME, SHAPE_OF(-1));
#define TEXT(bytes)           \
    &(apl_value)              \
    {                         \
        bytes, (int64_t[])    \
        {                     \
            sizeof(bytes) - 1 \
        }                     \
    }
    refused(&block, &s, TEXT("\xff"), "field text: a text is not UTF-8");
    refused(&block, &s, TEXT("more than eight letters, and then \xc3"), "field text: a text is not UTF-8");
    cr_assert_eq(raw_block_append(&block, &s, TEXT("more than eight letters, and \xc3\xa4"), NULL), APL_OK);
    cr_assert_eq(raw_block_append(&block, &s, &(apl_value){NULL, (int64_t[]){0}}, NULL), APL_OK);
    raw_block_free(&block);
    schema_free(&s);
}

Test(raw_block, bounds_its_columns)
{
    static struct raw_block block;
    static uint8_t data[APL_MAX_VALUE];
    struct schema s = {0};
    add_field(&s, "x", APL_U8, APL_INPUT, SHAPE_OF(APL_MAX_VALUE));
    apl_value value = {data, NULL};
    /* The memory is not touched: only the sizes count. */
    block.columns[0].values.size = BLOCK_MAX_RAW / 2 - APL_MAX_VALUE + 1;
    refused(&block, &s, &value, "choose fewer records per block");
    raw_block_clear(&block);
    cr_assert_eq(raw_block_append(&block, &s, &value, NULL), APL_OK);
    raw_block_free(&block);
    schema_free(&s);
}
