/* Fields: types, shapes, names, classes, and every refusal. */
#include "schema.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static apl_status add(struct schema *s, const char *name, apl_dtype dtype, apl_role role, unsigned ndim,
                      const int64_t *shape, apl_error *err)
{
    return schema_add(s, name, name ? strlen(name) : 0, dtype, role, ndim, shape, err);
}

Test(schema, dtypes)
{
    static const struct {
        apl_dtype dtype;
        size_t size;
        const char *name;
    } all[] = {{APL_U8, 1, "u8"},     {APL_I8, 1, "i8"},   {APL_U16, 2, "u16"},   {APL_I16, 2, "i16"},
               {APL_U32, 4, "u32"},   {APL_I32, 4, "i32"}, {APL_U64, 8, "u64"},   {APL_I64, 8, "i64"},
               {APL_F16, 2, "f16"},   {APL_F32, 4, "f32"}, {APL_F64, 8, "f64"},   {APL_BF16, 2, "bf16"},
               {APL_BOOL, 1, "bool"}, {15, 0, "?"},        {APL_UTF8, 1, "utf8"}, {0, 0, "?"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cr_assert_eq(apl_dtype_size(all[i].dtype), all[i].size);
        cr_assert_str_eq(apl_dtype_name(all[i].dtype), all[i].name);
    }
    cr_assert_eq(apl_dtype_size((apl_dtype)-1), 0);
    cr_assert_str_eq(apl_dtype_name((apl_dtype)-1), "?");
}

Test(schema, adds_and_finds)
{
    struct schema s = {0};
    char name[] = "imageXYZ";
    const int64_t shape[] = {3, 32, 32}, varies[] = {-1, 4, -1};
    apl_error err;
    cr_assert_eq(schema_add(&s, name, 5, APL_U8, APL_INPUT, 3, shape, &err), APL_OK);
    memset(name, '?', sizeof name - 1);
    cr_assert_eq(add(&s, "label", APL_I64, APL_TARGET, 0, NULL, &err), APL_OK);
    cr_assert_eq(add(&s, "boxes", APL_F32, APL_TARGET, 3, varies, &err), APL_OK);
    cr_assert_eq(s.count, 3);
    cr_assert_str_eq(s.fields[0].name, "image", "the name is a copy");
    cr_assert(s.fields[0].value_bytes == 3072 && s.fields[1].value_bytes == 8 && !s.fields[2].value_bytes);
    cr_assert(memcmp(s.fields[0].shape, shape, sizeof shape) == 0);
    cr_assert_str_eq(s.fields[0].codec, "raw");
    cr_assert(schema_find(&s, "image") == 0 && schema_find(&s, "boxes") == 2);
    cr_assert(schema_find(&s, "imageXYZ") == -1 && schema_find(&s, "") == -1 && schema_find(&s, NULL) == -1);
    cr_assert(field_varying(&s.fields[0]) == 0 && field_varying(&s.fields[2]) == 2);
    schema_free(&s);
    cr_assert_eq(s.count, 0);
    schema_free(&s);
}

static void refused(const char *name, apl_dtype dtype, apl_role role, unsigned ndim, const int64_t *shape,
                    const char *why)
{
    struct schema s = {0};
    apl_error err;
    cr_assert_eq(add(&s, "there", APL_U8, APL_INPUT, 0, NULL, &err), APL_OK);
    cr_assert_eq(add(&s, name, dtype, role, ndim, shape, &err), APL_E_INVALID, "%s", why);
    cr_assert_not_null(strstr(err.message, why), "\"%s\" does not say \"%s\"", err.message, why);
    cr_assert_eq(add(&s, name, dtype, role, ndim, shape, NULL), APL_E_INVALID);
    cr_assert_eq(s.count, 1);
    schema_free(&s);
}
#define SHAPE(...)                                                  \
    sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]) \
    {                                                               \
        __VA_ARGS__                                                 \
    }

Test(schema, refusals)
{
    char longest[APL_MAX_NAME + 2];
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    refused(NULL, APL_U8, APL_INPUT, 0, NULL, "needs a name");
    refused("x", APL_U8, APL_INPUT, 1, NULL, "needs a name and a shape");
    refused("", APL_U8, APL_INPUT, 0, NULL, "printable UTF-8");
    refused(longest, APL_U8, APL_INPUT, 0, NULL, "1 to 255 bytes");
    refused("a\nb", APL_U8, APL_INPUT, 0, NULL, "a\\x0ab");
    refused("\xc3", APL_U8, APL_INPUT, 0, NULL, "\\xc3");
    refused("there", APL_U8, APL_INPUT, 0, NULL, "is taken already");
    refused("x", (apl_dtype)0, APL_INPUT, 0, NULL, "0 is not a dtype");
    refused("x", (apl_dtype)15, APL_INPUT, 0, NULL, "15 is not a dtype");
    refused("x", APL_U8, (apl_role)0, 0, NULL, "0 is not a role");
    refused("x", APL_U8, (apl_role)5, 0, NULL, "5 is not a role");
    refused("x", APL_U8, APL_INPUT, 9, (int64_t[9]){1, 1, 1, 1, 1, 1, 1, 1, 1}, "9 dimensions");
    refused("x", APL_U8, APL_INPUT, SHAPE(3, 0), "dimension 1 is 0");
    refused("x", APL_U8, APL_INPUT, SHAPE(-2), "dimension 0 is -2");
    refused("x", APL_U8, APL_INPUT, SHAPE(INT64_MIN), "dimension 0");
    refused("x", APL_U8, APL_INPUT, SHAPE(APL_MAX_VALUE + 1ll), "dimension 0");
    refused("x", APL_F64, APL_INPUT, SHAPE(APL_MAX_VALUE / 8, 2), "more than");
    refused("x", APL_U16, APL_INPUT, SHAPE(APL_MAX_VALUE), "more than");
    refused("x", APL_U8, APL_INPUT, SHAPE(1 << 22, 1 << 22, 1 << 22), "more than");
    refused("x", APL_UTF8, APL_NAME, 0, NULL, "utf8");
    refused("x", APL_UTF8, APL_NAME, SHAPE(8), "utf8");
    refused("x", APL_UTF8, APL_NAME, SHAPE(-1, 8), "utf8");
    refused("x", APL_U32, APL_POSITION, 0, NULL, "scalar u64");
    refused("x", APL_U64, APL_POSITION, SHAPE(1), "scalar u64");
}

Test(schema, the_most_that_is_allowed)
{
    struct schema s = {0};
    char name[APL_MAX_NAME + 1];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    apl_error err;
    const int64_t big[] = {APL_MAX_VALUE}, ones[8] = {1, 1, 1, 1, 1, 1, 1, -1};
    cr_assert_eq(add(&s, name, APL_U8, APL_INPUT, 1, big, &err), APL_OK);
    cr_assert_eq(s.fields[0].value_bytes, APL_MAX_VALUE);
    cr_assert_eq(add(&s, "ones", APL_BOOL, APL_NAME, 8, ones, &err), APL_OK);
    cr_assert_eq(add(&s, "position", APL_U64, APL_POSITION, 0, NULL, &err), APL_OK);
    while (s.count < APL_MAX_FIELDS) {
        snprintf(name, sizeof name, "f%u", s.count);
        cr_assert_eq(add(&s, name, APL_U8, APL_INPUT, 0, NULL, &err), APL_OK);
    }
    cr_assert_eq(add(&s, "more", APL_U8, APL_INPUT, 0, NULL, &err), APL_E_INVALID);
    cr_assert_not_null(strstr(err.message, "more than 64"));
    schema_free(&s);
}

Test(schema, names)
{
    cr_assert(name_ok("a", 1) && name_ok("caf\xc3\xa9 au lait", 13));
    cr_assert(!name_ok(NULL, 1) && !name_ok("", 0) && !name_ok("a\0b", 3) && !name_ok("a\x7f", 2));
    cr_assert(!name_ok("\xc2\x85", 2) && !name_ok("caf\xc3\xa9", 4), "C1 and cut UTF-8");
    char longest[APL_MAX_NAME + 1];
    memset(longest, 'x', sizeof longest);
    cr_assert(name_ok(longest, APL_MAX_NAME) && !name_ok(longest, APL_MAX_NAME + 1));
    memset(longest, 1, sizeof longest);
    cr_assert(!name_ok(longest, APL_MAX_NAME));
}

/* ------------------------------------------------------------------------------------------------ values */

static void expect_bytes(apl_dtype dtype, unsigned ndim, const int64_t *shape, const uint32_t *dims,
                         bool fits, size_t bytes)
{
    apl_field f = {.dtype = dtype, .ndim = ndim};
    for (unsigned i = 0; i < ndim; i++)
        f.shape[i] = shape[i];
    size_t got;
    cr_assert_eq(field_value_bytes(&f, dims, &got), fits);
    cr_assert(!fits || got == bytes, "%zu, not %zu", got, bytes);
}

Test(schema, bytes_of_values)
{
    const int64_t one[] = {-1}, three[] = {-1, 5, -1}, all[] = {-1, -1, -1, -1};
    const uint32_t huge[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    expect_bytes(APL_F64, 0, NULL, NULL, true, 8);
    expect_bytes(APL_U16, 3, three, (uint32_t[]){7, 2}, true, 140);
    expect_bytes(APL_U8, 1, one, (uint32_t[]){0}, true, 0);
    expect_bytes(APL_U8, 1, one, (uint32_t[]){APL_MAX_VALUE}, true, APL_MAX_VALUE);
    expect_bytes(APL_U8, 1, one, (uint32_t[]){APL_MAX_VALUE + 1}, false, 0);
    expect_bytes(APL_F64, 1, one, (uint32_t[]){APL_MAX_VALUE / 8}, true, APL_MAX_VALUE);
    expect_bytes(APL_F64, 1, one, (uint32_t[]){APL_MAX_VALUE / 8 + 1}, false, 0);
    expect_bytes(APL_U8, 4, all, huge, false, 0);
    expect_bytes(APL_U8, 4, all, (uint32_t[]){1u << 31, 1u << 31, 4, 1}, false, 0);
    expect_bytes(APL_U8, 4, all, (uint32_t[]){0, UINT32_MAX, UINT32_MAX, 1}, true, 0);
    expect_bytes(APL_U8, 4, all, (uint32_t[]){1, UINT32_MAX, UINT32_MAX, 0}, true, 0);
    expect_bytes(APL_U8, 4, all, (uint32_t[]){0, 3, 3, 3}, true, 0);
    expect_bytes(APL_U8, 4, all, (uint32_t[]){3, 3, 3, 0}, true, 0);
}

Test(schema, channels)
{
    struct {
        apl_field field;
        unsigned channels;
    } cases[] = {{{.dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {3, 32, 32}}, 3},
                 {{.dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {64, 2, 2}}, 64},
                 {{.dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {65, 2, 2}}, 1},
                 {{.dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {3, -1, -1}}, 3},
                 {{.dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {-1, 4, 4}}, 1},
                 {{.dtype = APL_U8, .role = APL_INPUT, .ndim = 2, .shape = {28, 28}}, 1},
                 {{.dtype = APL_U8, .role = APL_INPUT, .ndim = 0}, 1},
                 {{.dtype = APL_U8, .role = APL_TARGET, .ndim = 0}, 0},
                 {{.dtype = APL_F32, .role = APL_INPUT, .ndim = 3, .shape = {3, 2, 2}}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(field_channels(&cases[i].field), cases[i].channels, "case %zu", i);
}

/* ------------------------------------------------------------------------------------------------ classes */

Test(schema, classes)
{
    struct schema s = {0};
    apl_error err;
    cr_assert_eq(add(&s, "label", APL_U8, APL_TARGET, 0, NULL, &err), APL_OK);
    const char *names[] = {"cat", "dogs"};
    const size_t lengths[] = {3, 3};
    cr_assert_eq(schema_set_classes(&s, 0, names, NULL, 2, &err), APL_OK);
    cr_assert(s.fields[0].class_count == 2 && strcmp(s.fields[0].classes[1], "dogs") == 0);
    cr_assert_eq(schema_set_classes(&s, 0, names, lengths, 2, &err), APL_OK, "set again");
    cr_assert_str_eq(s.fields[0].classes[1], "dog");
    const char *bad[] = {"cat", "d\tg"};
    cr_assert_eq(schema_set_classes(&s, 0, bad, NULL, 2, &err), APL_E_INVALID);
    cr_assert_not_null(strstr(err.message, "class 1"));
    cr_assert(s.fields[0].class_count == 2 && strcmp(s.fields[0].classes[1], "dog") == 0, "as it was");
    const char *none[] = {NULL};
    cr_assert_eq(schema_set_classes(&s, 0, none, NULL, 1, &err), APL_E_INVALID);
    cr_assert_eq(schema_set_classes(&s, 0, names, NULL, 0, &err), APL_E_INVALID);
    const char *twice[] = {"cat", "dog", "cat"};
    cr_assert_eq(schema_set_new_classes(&s, 0, twice, 3, &err), APL_E_INVALID);
    cr_assert_not_null(strstr(err.message, "field label: two classes are called cat"));
    cr_assert(s.fields[0].class_count == 2, "as it was");
    cr_assert_eq(schema_set_classes(&s, 0, twice, NULL, 3, &err), APL_OK, "of a store that has them");
    cr_assert_eq(schema_set_new_classes(&s, 0, names, 2, &err), APL_OK);
    cr_assert_eq(schema_set_classes(&s, 0, names, NULL, 257, &err), APL_E_INVALID, "more than a u8 can name");
    const char *all[256];
    for (int i = 0; i < 256; i++)
        all[i] = "any";
    cr_assert_eq(schema_set_classes(&s, 0, all, NULL, 256, &err), APL_OK, "as many as a u8 can name");
    schema_free(&s);
}

Test(schema, classes_of_what_has_none)
{
    struct schema s = {0};
    apl_error err;
    const char *names[] = {"cat"};
    const int64_t shape[] = {1};
    cr_assert_eq(add(&s, "input", APL_U8, APL_INPUT, 0, NULL, &err), APL_OK);
    cr_assert_eq(add(&s, "signed", APL_I32, APL_TARGET, 0, NULL, &err), APL_OK);
    cr_assert_eq(add(&s, "array", APL_U8, APL_TARGET, 1, shape, &err), APL_OK);
    cr_assert_eq(add(&s, "u64", APL_U64, APL_TARGET, 0, NULL, &err), APL_OK);
    for (unsigned f = 0; f < s.count; f++)
        cr_assert_eq(schema_set_classes(&s, f, names, NULL, 1, &err), APL_E_INVALID);
    cr_assert_eq(add(&s, "u32", APL_U32, APL_TARGET, 0, NULL, &err), APL_OK);
    cr_assert_eq(schema_set_classes(&s, 4, names, NULL, (1u << 20) + 1, &err), APL_E_INVALID);
    schema_free(&s);
}
