/* NumPy's arrays into stores: the header's grammar, both orders of bytes and of dimensions, structured types, archives of arrays, and
 * everything that can be wrong with them. */
#include "ingest_fixture.h"

#include "npy_header.h"

#include <math.h>
#include <sys/stat.h>

TestSuite(format_npy, .init = ix_set_up, .fini = fx_tear_down, .timeout = 60);

/* --------------------------------------------------------------------------------------------------- the header */

/* A .npy file of version 1.0 with that dict, padded as NumPy pads it. */
static struct buffer npy(const char *dict, const void *data, size_t size)
{
    struct buffer b = {0};
    size_t length = (10 + strlen(dict) + 1 + 63) / 64 * 64 - 10;
    buffer_put(&b, "\x93NUMPY\1\0", 8);
    buffer_le(&b, length, 2);
    buffer_put(&b, dict, strlen(dict));
    for (size_t i = strlen(dict); i + 1 < length; i++)
        buffer_put(&b, " ", 1);
    buffer_put(&b, "\n", 1);
    buffer_put(&b, data, size);
    return b;
}

static apl_status parse(const char *dict, struct npy_header *h)
{
    struct buffer b = npy(dict, "", 0);
    struct cursor c = cursor_over(b.data, b.size);
    memset(&fx_err, 0, sizeof fx_err);
    apl_status status = npy_header_read(&c, h, &fx_err);
    if (status == APL_OK)
        cr_assert(h->size == b.size && cursor_at_end(&c), "%s", dict);
    buffer_free(&b);
    return status;
}

Test(format_npy, headers_that_numpy_writes)
{
    struct npy_header h;
    OK(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 28, 28), }", &h));
    cr_assert(h.ndim == 3 && h.shape[0] == 3 && h.shape[2] == 28 && !h.fortran && h.item == 4);
    cr_assert(h.fields[0].dtype == APL_F32 && !h.fields[0].swap && !h.structured);
    OK(parse("{'descr': '>i8', 'fortran_order': True, 'shape': (7,), }", &h));
    cr_assert(h.fortran && h.fields[0].swap && h.ndim == 1 && h.shape[0] == 7);
    OK(parse("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", &h));
    cr_assert_eq(h.ndim, 0);
    OK(parse("{\"shape\":(2L,3L),'fortran_order':False,'descr':'|u1'}", &h));
    OK(parse("{'descr': [('a', '<f4'), ('', '|V4'), ('b', '>i2', (2, 3))], 'fortran_order': False, 'shape': "
             "(5,), }",
             &h));
    cr_assert(h.structured && h.field_count == 2 && h.item == 20);
    cr_assert(h.fields[1].offset == 8 && h.fields[1].ndim == 2 && h.fields[1].shape[1] == 3);
}

Test(format_npy, headers_that_it_does_not)
{
    static const struct {
        const char *dict, *words;
    } bad[] = {
        {"", "'{' is missing"},
        {"{'descr': '<f4', 'fortran_order': False, }", "is missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3), }", "lacks its comma"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }", "a number is missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1), }", "more dimensions"},
        {"{'descr': '<f4', 'fortran_order': None, 'shape': (3,), }", "True or False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}", "unknown key"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "twice"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} or evil()", "something follows"},
        {"{'descr': 'a\\x00', 'fortran_order': False, 'shape': (3,)}", "escapes"},
        {"{'descr': [], 'fortran_order': False, 'shape': (3,)}", "no fields"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", "Python objects"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (3,), }", "texts"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }", "complex"},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3,), }", "points in time"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (3,), }", "no field of a store"},
        {"{'descr': [('a', [('b', '<f4')])], 'fortran_order': False, 'shape': (3,)}", "within another"},
        {"{'descr': [(('t', 'a'), '<f4')], 'fortran_order': False, 'shape': (3,)}", "titles"},
        {"{'descr': [('a', '<f8', (9999999, 9999999))], 'fortran_order': False, 'shape': (3,)}",
         "too many bytes"},
    };
    struct npy_header h;
    for (size_t i = 0; i < COUNT(bad); i++) {
        apl_status status = parse(bad[i].dict, &h);
        cr_assert(status == APL_E_SOURCE || status == APL_E_UNSUPPORTED, "%s: %d", bad[i].dict, status);
        cr_assert(strstr(fx_err.message, bad[i].words), "%s: %s", bad[i].dict, fx_err.message);
    }
}

/* Versions 1 to 3 are known; from 2 on, the length takes 4 bytes. */
Test(format_npy, versions_of_headers)
{
    static const char dict[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n";
    for (unsigned major = 0; major <= 5; major++) {
        struct buffer b = {0};
        struct npy_header h;
        buffer_put(&b, "\x93NUMPY", 6);
        buffer_le(&b, major, 2);
        buffer_le(&b, sizeof dict - 1, major >= 2 ? 4 : 2);
        buffer_put(&b, dict, sizeof dict - 1);
        struct cursor c = cursor_over(b.data, b.size);
        cr_assert_eq(npy_header_read(&c, &h, &fx_err) == APL_OK, major >= 1 && major <= 3, "version %u",
                     major);
        buffer_free(&b);
    }
}

/* ----------------------------------------------------------------------------------------------------- records */

static void put_npy(const char *name, const char *dict, const void *data, size_t size)
{
    struct buffer b = npy(dict, data, size);
    ix_put_buffer(name, &b);
}

static void check_values(apl_store *s, const char *field, apl_dtype dtype, const void *values, size_t size)
{
    apl_batch *all = fx_get_all(s);
    const apl_column *column = ix_column(s, all, field);
    cr_assert_eq(column->dtype, dtype);
    cr_assert(memcmp(column->data, values, size) == 0, "%s", field);
    apl_batch_release(all);
}

/* NaNs with their bits, -0, and infinities are kept as they are. */
Test(format_npy, files_side_by_side)
{
    const uint32_t bits[6] = {0x7fc00001, 0xffc12345, 0x80000000, 0x7f800000, 0x3f800000, 1};
    const int64_t labels[3] = {2, 0, 1};
    const uint8_t big[6] = {1, 2, 3, 4, 5, 6};
    const uint16_t little[3] = {0x0102, 0x0304, 0x0506};
    cr_assert_eq(mkdir(fx_path("set"), 0755), 0);
    put_npy("set/images.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", bits,
            sizeof bits);
    put_npy("set/labels.npy", "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", labels,
            sizeof labels);
    put_npy("set/big.npy", "{'descr': '>u2', 'fortran_order': False, 'shape': (3,), }", big, sizeof big);
    apl_store *s = IX_STORE("set");
    cr_assert_str_eq(ix_sum.format, "npy");
    check_values(s, "images", APL_F32, bits, sizeof bits);
    check_values(s, "labels", APL_I64, labels, sizeof labels);
    check_values(s, "big", APL_U16, little, sizeof little);
    cr_assert_eq(apl_store_field(s, 2)->role, APL_TARGET);
    apl_store_close(s);
    ix_options.classes = (const char *const[]){"a", "b", "c"};
    ix_options.class_count = 3;
    s = IX_STORE("set");
    check_values(s, "labels", APL_U8, (const uint8_t[]){2, 0, 1}, 3);
    apl_store_close(s);
}

Test(format_npy, labels_outside_the_classes)
{
    const int32_t labels[3] = {2, -1, 1};
    put_npy("labels.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", labels, sizeof labels);
    ix_options.classes = (const char *const[]){"a", "b", "c"};
    ix_options.class_count = 3;
    IX_REFUSED(APL_E_SOURCE, "labels.npy: row 1: label -1 is not of 0 to 2", "labels.npy");
    ix_options.skip_bad = 1;
    apl_store_close(IX_STORE("labels.npy"));
    cr_assert_eq(ix_sum.records, 2);
}

/* Rows of an array in Fortran order are spread over the file; the store is the one of the same array in C order. */
Test(format_npy, fortran_order)
{
    enum { N = 37, A = 3, B = 4 };
    static uint16_t c[N][A][B], f[B][A][N];
    uint8_t digest[32];
    for (unsigned n = 0; n < N; n++)
        for (unsigned a = 0; a < A; a++)
            for (unsigned b = 0; b < B; b++)
                c[n][a][b] = f[b][a][n] = (uint16_t)(n * 100 + a * 10 + b);
    put_npy("x.npy", "{'descr': '<u2', 'fortran_order': False, 'shape': (37, 3, 4), }", c, sizeof c);
    apl_store *s = IX_STORE("x.npy");
    check_values(s, "x", APL_U16, c, sizeof c);
    memcpy(digest, apl_store_info(s)->content_digest, 32);
    apl_store_close(s);
    struct buffer b = npy("{'descr': '<u2', 'fortran_order': True, 'shape': (37, 3, 4), }", f, sizeof f);
    ix_put("x.npy", b.data, b.size);
    s = IX_STORE("x.npy");
    cr_assert(memcmp(digest, apl_store_info(s)->content_digest, 32) == 0);
    apl_store_close(s);
    unlink(fx_path("x.npy"));
    ix_put_gzip("x.npy.gz", b.data, b.size);
    buffer_free(&b);
    s = IX_STORE("x.npy.gz");
    cr_assert(memcmp(digest, apl_store_info(s)->content_digest, 32) == 0);
    apl_store_close(s);
}

Test(format_npy, structured_types_are_fields)
{
    uint8_t data[2 * 11];
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;
    put_npy(
        "train.npy",
        "{'descr': [('x', '<u4'), ('', '|V3'), ('y', '>u2'), ('z', '|u1', (2,))], 'fortran_order': False, "
        "'shape': (2,), }",
        data, sizeof data);
    apl_store *s = IX_STORE("train.npy");
    check_values(s, "x", APL_U32, (const uint32_t[]){0x03020100, 0x0e0d0c0b}, 8);
    check_values(s, "y", APL_U16, (const uint16_t[]){0x0708, 0x1213}, 4);
    check_values(s, "z", APL_U8, (const uint8_t[]){9, 10, 20, 21}, 4);
    apl_store_close(s);
}

Test(format_npy, what_is_wrong_is_named)
{
    const uint8_t data[12] = {0, 1, 2};
    put_npy("a.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (12,), }", data, 11);
    IX_REFUSED(APL_E_INCOMPLETE, "a.npy: has 139 bytes, but its shape and type say 140: it is truncated",
               "a.npy");
    put_npy("a.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (11,), }", data, 12);
    IX_REFUSED(APL_E_SOURCE, "a.npy: has 140 bytes, but its shape and type say 139", "a.npy");
    put_npy("a.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", data, 1);
    IX_REFUSED(APL_E_SOURCE, "single number", "a.npy");
    put_npy("a.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }", data, 0);
    IX_REFUSED(APL_E_SOURCE, "no records", "a.npy");
    cr_assert_eq(mkdir(fx_path("set"), 0777), 0);
    put_npy("set/a.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }", data, 0);
    IX_REFUSED(APL_E_SOURCE, "/set: has no records", "set");
    put_npy("a.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000), }", data,
            12);
    IX_REFUSED(APL_E_SOURCE, "more bytes than any file", "a.npy");
    put_npy("a.npy", "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", data, 12);
    IX_REFUSED(APL_E_UNSUPPORTED, "a.npy: has the type '|O': its elements are Python objects", "a.npy");
    put_npy("a.npy", "{'descr': [('x', '|u1'), ('y', '|u1')], 'fortran_order': False, 'shape': (2, 3), }",
            data, 12);
    IX_REFUSED(APL_E_UNSUPPORTED, "a.npy: has a structured type and more than one dimension", "a.npy");
    put_npy("a.npy", "{'descr': '|b1', 'fortran_order': False, 'shape': (12,), }", data, 12);
    IX_REFUSED(APL_E_SOURCE, "a.npy: row 2: a bool is 2", "a.npy");
    put_npy("a.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (12,), }", data, 12);
    put_npy("b.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 3), }", data, 12);
    IX_REFUSED(APL_E_SOURCE, "has 12 rows, but", "a.npy", "b.npy");
}

Test(format_npy, names_that_leave_the_split_open_are_worth_a_line)
{
    static const char *const names[] = {"x.npy", "x_test.npy", "x_train.npy", "x_train_val.npy"};
    for (size_t i = 0; i < COUNT(names); i++)
        put_npy(names[i], "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "ab", 2);
    is_said_of(IX_STORE("x.npy"), NULL);
    is_said_of(IX_STORE("x_train.npy", "x_test.npy"), NULL);
    is_said_of(IX_STORE("x.npy", "x_test.npy"),
               "x.npy: in the split 'train', as its name tells no split, and those of others do\n");
    is_said_of(IX_STORE("x_train_val.npy"),
               "x_train_val.npy: in the split 'train', though its name tells 'val' too\n");
}

/* The list that an export has beside its arrays, where their names do not tell the splits. */
Test(format_npy, splits_of_an_export)
{
    const uint8_t data[6] = {0, 1, 2, 3, 4, 5};
    static const char list[] = "{\"format\": \"apldata-arrays\", \"version\": 1, \"files\": ["
                               "{\"file\": \"a_x.npy\", \"split\": \"a\", \"field\": \"x\"},"
                               "{\"file\": \"val_x.npy\", \"split\": \"val-train\", \"field\": \"x\"}, 5]}";
    put_npy("a_x.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", data, 2);
    put_npy("val_x.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }", data + 2, 4);
    ix_put("splits.json", list, strlen(list) - 1);
    IX_REFUSED(APL_E_SOURCE, "splits.json: is not JSON: line 1", "a_x.npy");
    put_npy("b_x.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", data, 2);
    ix_put("splits.json", list, strlen(list));
    IX_REFUSED(APL_E_SOURCE, "b_x.npy: is not in the splits.json beside it", "a_x.npy", "b_x.npy");
    apl_store *s = IX_STORE("val_x.npy", "a_x.npy");
    check_values(s, "x", APL_U8, data, sizeof data);
    cr_assert_str_eq(apl_store_split(s, 0)->name, "a");
    cr_assert_str_eq(apl_store_split(s, 1)->name, "val-train");
    is_said_of(s, NULL);
}

/* Nor the fields, whose order and roles it has too. */
Test(format_npy, fields_of_an_export)
{
    static const char list[] =
        "{\"format\": \"apldata-arrays\", \"version\": 1, \"files\": ["
        "{\"file\": \"b.npy\", \"split\": \"a\", \"field\": \"z\", \"role\": \"target\"},"
        "{\"file\": \"a.npy\", \"split\": \"a\", \"field\": \"y\", \"role\": \"input\"},"
        "{\"file\": \"c.npy\", \"split\": \"a\", \"field\": \"label\"},"
        "{\"file\": \"d.npy\", \"split\": \"a\", \"field\": \"x\", \"role\": \"none\"},"
        "{\"file\": \"e.npy\", \"split\": \"a\", \"field\": \"x\", \"role\": 1}]}";
    static const char *const names[] = {"a.npy", "b.npy", "c.npy", "d.npy", "e.npy"};
    static const apl_role roles[] = {APL_TARGET, APL_INPUT, APL_TARGET};
    static const char *const fields[] = {"z", "y", "label"};
    for (size_t i = 0; i < COUNT(names); i++)
        put_npy(names[i], "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "ab", 2);
    ix_put("splits.json", list, strlen(list));
    apl_store *s = IX_STORE("c.npy", "a.npy", "b.npy");
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_str_eq(apl_store_field(s, i)->name, fields[i]);
        cr_assert_eq(apl_store_field(s, i)->role, roles[i]);
    }
    apl_store_close(s);
    fx_shell("rm -r '%s'%s", ix_db, "");
    IX_REFUSED(APL_E_SOURCE, "d.npy: the splits.json beside it names no split, no field or no role", "d.npy");
    IX_REFUSED(APL_E_SOURCE, "e.npy: the splits.json beside it names no split, no field or no role", "e.npy");
}

/* -------------------------------------------------------------------------------------------------- series */

static void put_row(const char *name, const char *type)
{
    char dict[96];
    snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }", type);
    struct buffer b = npy(dict, "\1\0\0\0\0\0\0\0", type[2] == '4' ? 4 : 8);
    ix_put_buffer(name, &b);
}

Test(format_npy, names_that_differ_in_a_number_are_worth_a_line)
{
    put_row("emb_0.npy", "<f4");
    put_row("emb_1.npy", "<f4");
    put_row("emb_10.npy", "<f4");
    put_row("id_0.npy", "<i8");
    is_said_of(
        IX_STORE("emb_0.npy", "emb_1.npy"),
        "/emb_0.npy: and emb_1.npy become fields side by side; if they are parts of one array, join them "
        "first, as np.concatenate() does\n");
    is_said_of(IX_STORE("id_0.npy", "emb_0.npy", "emb_1.npy", "emb_10.npy"),
               "/emb_0.npy: and emb_1.npy (and 1 more) become fields");
    is_said_of(IX_STORE("id_0.npy", "emb_0.npy"), NULL);
    put_row("emb_1.npy", "<i4");
    is_said_of(IX_STORE("emb_0.npy", "emb_1.npy"), NULL);
    put_row("train_emb_0.npy", "<f4");
    put_row("test_emb_0.npy", "<f4");
    is_said_of(IX_STORE("train_emb_0.npy", "test_emb_0.npy"), NULL);
}

Test(format_npy, arrays_of_several_folders_are_worth_a_line)
{
    cr_assert_eq(mkdir(fx_path("in"), 0777) | mkdir(fx_path("in/cat"), 0777) | mkdir(fx_path("in/dog"), 0777),
                 0);
    put_row("in/cat/a.npy", "<f4");
    put_row("in/dog/b.npy", "<f4");
    is_said_of(IX_STORE("in"), "/in/dog/b.npy: becomes a field beside that of another folder, ");
    is_said_of(IX_STORE("in/cat/a.npy", "in/dog/b.npy"), NULL);
}
