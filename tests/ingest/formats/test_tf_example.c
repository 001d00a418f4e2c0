/* The protobuf of tf.train.Example, byte by byte. */
#include "tf_example.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(tf_example);

static struct tf_example example;

/* A message within another: its number, and that many bytes. */
static void put_message(struct buffer *b, unsigned number, const void *data, size_t size)
{
    buffer_le(b, number << 3 | 2, 1);
    buffer_le(b, size, 1);
    buffer_put(b, data, size);
}

/* Appends a feature to the features of an example. */
static void put_feature(struct buffer *features, const char *name, unsigned kind, const void *list,
                        size_t size)
{
    struct buffer feature = {0}, entry = {0};
    put_message(&feature, kind, list, size);
    put_message(&entry, 1, name, strlen(name));
    put_message(&entry, 2, feature.data, feature.size);
    put_message(features, 1, entry.data, entry.size);
    buffer_free(&feature);
    buffer_free(&entry);
}

static apl_status parse(struct buffer *features, apl_error *err)
{
    struct buffer b = {0};
    put_message(&b, 1, features->data, features->size);
    cr_assert_lt(features->size, 128);
    apl_status status = tf_example_parse(b.data, b.size, &example, err);
    buffer_free(&b);
    buffer_free(features);
    *features = (struct buffer){0};
    return status;
}

static apl_status parse_one(unsigned kind, const void *list, size_t size, apl_error *err)
{
    struct buffer features = {0};
    put_feature(&features, "x", kind, list, size);
    return parse(&features, err);
}

/* A list of packed values: those bytes. */
static apl_status parse_packed(unsigned kind, const char *bytes, size_t size, apl_error *err)
{
    struct buffer list = {0};
    put_message(&list, 1, bytes, size);
    apl_status status = parse_one(kind, list.data, list.size, err);
    buffer_free(&list);
    return status;
}

Test(tf_example, varints_have_64_bits)
{
    apl_error err = {0};
    static const struct {
        const char *bytes;
        size_t size;
        bool is;
    } cases[] = {{"\x7f", 1, true},
                 {"\x80\x01", 2, true},
                 {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, true},
                 {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, false},
                 {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, false},
                 {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11, false},
                 {"\x80", 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        apl_status status = parse_packed(TF_INTS, cases[i].bytes, cases[i].size, &err);
        cr_assert_eq(status, cases[i].is ? APL_OK : APL_E_SOURCE, "case %zu", i);
        cr_assert(!cases[i].is || example.features[0].count == 1);
        cr_assert(cases[i].is || strstr(err.message, "malformed"));
    }
}

Test(tf_example, packed_floats_take_4_bytes)
{
    apl_error err = {0};
    for (size_t size = 0; size <= 12; size++) {
        cr_assert_eq(parse_packed(TF_FLOATS, "abcdefghijkl", size, &err), size % 4 ? APL_E_SOURCE : APL_OK);
        cr_assert(size % 4 || example.features[0].count == size / 4);
    }
}

Test(tf_example, a_name_comes_once)
{
    struct buffer features = {0};
    apl_error err = {0};
    put_feature(&features, "x", TF_INTS, "", 0);
    put_feature(&features, "xy", TF_INTS, "", 0);
    put_feature(&features, "y", TF_INTS, "", 0);
    cr_assert_eq(parse(&features, &err), APL_OK);
    cr_assert_eq(example.count, 3);
    put_feature(&features, "x", TF_INTS, "", 0);
    put_feature(&features, "y", TF_INTS, "", 0);
    put_feature(&features, "x", TF_BYTES, "", 0);
    cr_assert_eq(parse(&features, &err), APL_E_SOURCE);
    cr_assert_str_eq(err.message, "has two features of one name");
    put_feature(&features, "", TF_BYTES, "", 0);
    cr_assert_eq(parse(&features, &err), APL_E_SOURCE);
}
