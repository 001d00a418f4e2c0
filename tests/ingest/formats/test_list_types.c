/* The types that columns of tables get, or are given. */
#include "list_fixture.h"

#include <math.h>

TestSuite(list_types, .init = list_set_up, .fini = fx_tear_down, .timeout = 60);

/* The type of a column that a table of that one column, or of it and another, gets. */
static void check_type(const char *text, const char *column, apl_dtype dtype, unsigned ndim, int64_t first,
                       int64_t second)
{
    put_text("in/t.csv", text);
    apl_store *s = IX_STORE("in/t.csv");
    const apl_field *f = field_of(s, column);
    cr_assert_eq(f->dtype, dtype, "%s: %s", text, apl_dtype_name(f->dtype));
    cr_assert_eq(f->ndim, ndim, "%s", text);
    cr_assert(ndim < 1 || f->shape[0] == first, "%s: %lld", text, (long long)f->shape[0]);
    cr_assert(ndim < 2 || f->shape[1] == second, "%s: %lld", text, (long long)f->shape[1]);
    apl_store_close(s);
}

Test(list_types, types_are_told_from_all_rows)
{
    check_type("n,o\n1,2\n", "n", APL_I64, 0, 0, 0);
    check_type("n\n1\n2.5\n", "n", APL_F64, 0, 0, 0);
    check_type("n,o\n1,2\n,2\n", "n", APL_F64, 0, 0, 0);
    check_type("n\n-inf\nNAN\n", "n", APL_F64, 0, 0, 0);
    check_type("n\n0x10\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n007\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n00.5\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n2024-01-31\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n1e\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n99999999999999999999\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n1.5\n1e400\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n1.5\n1e-400\n-Infinity\n", "n", APL_F64, 0, 0, 0);
    check_type("n\nTrue\nfalse\n", "n", APL_BOOL, 0, 0, 0);
    check_type("n\ntrue\n1\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n\"[1,2]\"\n\"[3,4]\"\n", "n", APL_I64, 1, 2, 0);
    check_type("n\n\"[1,2]\"\n[]\n", "n", APL_I64, 1, -1, 0);
    check_type("n\n\"[[1,2.5]]\"\n[]\n", "n", APL_F64, 2, -1, 2);
    check_type("n\n\"[0.1,16777217]\"\n", "n", APL_F64, 1, 2, 0);
    check_type("n\n\"[9007199254740993,9223372036854775807]\"\n", "n", APL_I64, 1, 2, 0);
    check_type("n\n\"[0.5,9007199254740993]\"\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n\"[9007199254740993]\"\n[0.5]\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n\"[[1],[2,3]]\"\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n\"[[1]]\"\n\"[1]\"\n", "n", APL_UTF8, 1, -1, 0);
    check_type("n\n[\n", "n", APL_UTF8, 1, -1, 0);
    check_type("label\n7\n300\n", "label", APL_U16, 0, 0, 0);
    check_type("label\n-1\n300\n", "label", APL_I64, 0, 0, 0);
}

static void refused_as(const char *type, const char *words, const char *text)
{
    ix_options.column_types = &type;
    ix_options.column_type_count = 1;
    put_text("in/t.csv", text);
    IX_REFUSED(strstr(words, "row ") ? APL_E_SOURCE : APL_E_INVALID, words, "in/t.csv");
}

Test(list_types, types_that_are_given_are_held_to)
{
    refused_as("n=f32", "t.csv: row 4, column n: 'n/a' is not a valid f32", "n\n1\n2\nn/a\n");
    refused_as("n=u8", "row 3, column n: '256' is not a valid u8", "n\n255\n256\n");
    refused_as("n=i8", "row 2, column n: '-129' is not a valid i8", "n\n-129\n");
    refused_as("n=i64", "row 3, column n: is empty, and i64 is needed: f64 stores NaN for it",
               "n,m\n1,1\n,2\n");
    refused_as("n=i32", "row 2, column n: '1.5' is not a valid i32", "n\n1.5\n");
    refused_as("n=f32", "row 2, column n: '1e300' is not a valid f32", "n\n1e300\n");
    refused_as("n=f64", "row 3, column n: '-1e400' is not a valid f64", "n\ninf\n-1e400\n");
    refused_as("n=bool", "row 2, column n: '2' is not a valid bool", "n\n2\n");
    refused_as("n=f32[2]", "row 2, column n: is not a list of f32", "n\n[1]\n");
    refused_as("n=u8[-1]", "row 2, column n: holds 300", "n\n\"[1,300]\"\n");
    refused_as("m=f32", "has no column m, for --type; there are n", "n\n1\n");
    refused_as("n=f31", "'n=f31': tables have no such type", "n\n1\n");
    refused_as("n=f32[0]", "tables have no such type", "n\n1\n");
    refused_as("n=utf8[3]", "tables have no such type", "n\n1\n");
    refused_as("n=f16", "tables have no such type", "n\n1\n");
    refused_as("n=u64", "row 3, column n: '18446744073709551616' is not a valid u64",
               "n\n1\n18446744073709551616\n");
    refused_as("n=u64", "row 2, column n: '-9223372036854775809' is not a valid u64",
               "n\n-9223372036854775809\n");
}

Test(list_types, whole_numbers_of_u64)
{
    put_text("in/t.csv", "id\n18446744073709551615\n9223372036854775808\n0\n");
    ix_options.column_types = (const char *const[]){"id=u64"};
    ix_options.column_type_count = 1;
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const uint64_t *ids = ix_column(s, all, "id")->data;
    cr_assert(ids[0] == UINT64_MAX && ids[1] == (uint64_t)1 << 63 && ids[2] == 0);
    apl_batch_release(all);
    apl_store_close(s);
}

/* The other values of such a line are what they are in any other. */
Test(list_types, whole_numbers_of_u64_in_json)
{
    put_text("in/t.jsonl",
             "{\"id\": 18446744073709551615, \"n\": -7, \"x\": 2.0, \"v\": [ 1, 9007199254740993 ], \"big\": "
             "{\"a\": [9223372036854775808]}, \"text\": \"1\", \"list\": [18446744073709551615]}\n"
             "{\"id\": 5, \"n\": 9223372036854775807, \"x\": 1, \"v\": [2, 3], \"big\": {}, \"text\": \"2\", "
             "\"list\": [1]}\n");
    ix_options.column_types = (const char *const[]){"id=u64"};
    ix_options.column_type_count = 1;
    apl_store *s = IX_STORE("in/t.jsonl");
    apl_batch *all = fx_get_all(s);
    const uint64_t *ids = ix_column(s, all, "id")->data;
    cr_assert(ids[0] == UINT64_MAX && ids[1] == 5);
    cr_assert_arr_eq(ix_column(s, all, "n")->data, ((const int64_t[]){-7, INT64_MAX}), 16);
    cr_assert_arr_eq(ix_column(s, all, "x")->data, ((const double[]){2, 1}), 16);
    cr_assert_arr_eq(ix_column(s, all, "v")->data, ((const int64_t[]){1, 9007199254740993, 2, 3}), 32);
    cr_assert_eq(field_of(s, "v")->dtype, APL_I64);
    cr_assert_str_eq(text_at(ix_column(s, all, "big"), 0), "{\"a\":[9223372036854775808]}");
    cr_assert_str_eq(text_at(ix_column(s, all, "list"), 0), "[18446744073709551615]");
    cr_assert_eq(field_of(s, "text")->dtype, APL_UTF8);
    apl_batch_release(all);
    apl_store_close(s);
    ix_options.column_type_count = 0;
    s = IX_STORE("in/t.jsonl");
    all = fx_get_all(s);
    cr_assert_str_eq(text_at(ix_column(s, all, "id"), 0), "18446744073709551615");
    cr_assert_str_eq(text_at(ix_column(s, all, "id"), 1), "5");
    apl_batch_release(all);
    apl_store_close(s);
}

/* A type that is given takes numbers that are text otherwise: the nearest float, and whole numbers that it holds. */
Test(list_types, types_that_are_given_take_numbers_however_they_are_spelled)
{
    put_text("in/t.csv", "d,f,i,u\n9223372036854775807,9223372036854775808,007,0255\n"
                         "9223372036854775808,16777217,-08, 1\n"
                         "123456789012345678901234567890,00.5,+9,2 \n-007,1e1,0,3\n");
    ix_options.column_types = (const char *const[]){"d=f64", "f=f32", "i=i64", "u=u8"};
    ix_options.column_type_count = 4;
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const double d[] = {0x1p63, 0x1p63, 123456789012345678901234567890.0, -7};
    const float f[] = {0x1p63f, 16777216, 0.5F, 10};
    cr_assert_arr_eq(ix_column(s, all, "d")->data, d, sizeof d);
    cr_assert_arr_eq(ix_column(s, all, "f")->data, f, sizeof f);
    cr_assert_arr_eq(ix_column(s, all, "i")->data, ((const int64_t[]){7, -8, 9, 0}), 32);
    cr_assert_arr_eq(ix_column(s, all, "u")->data, ((const uint8_t[]){255, 1, 2, 3}), 4);
    apl_batch_release(all);
    apl_store_close(s);
    unlink(fx_path("in/t.csv"));
}

Test(list_types, what_is_no_number_is_refused_by_types_of_numbers)
{
    refused_as("n=f64", "row 2, column n: '0x10' is not a valid f64", "n\n0x10\n");
    refused_as("n=f64", "row 2, column n: '1 2' is not a valid f64", "n\n1 2\n");
    refused_as("n=f64", "row 2, column n: ' ' is not a valid f64", "n,m\n ,1\n");
    refused_as("n=f32", "row 2, column n: '1000", "n\n1000000000000000000000000000000000000000\n");
    refused_as("n=i64", "row 2, column n: '9223372036854775808' is not", "n\n9223372036854775808\n");
    refused_as("n=i8", "row 2, column n: '-0129' is not a valid i8", "n\n-0129\n");
    refused_as("n=bool", "row 2, column n: '01' is not a valid bool", "n\n01\n");
}

/* The advice holds. */
Test(list_types, numbers_that_become_text_are_told_of)
{
    put_text("in/t.csv", "a,b,c\n1,2,3\n18446744073709551615,-9223372036854775809,007\n2,3,4\n");
    apl_store_close(IX_STORE("in/t.csv"));
    cr_assert(strstr(ix_said, "column a: '18446744073709551615' is beyond i64, so all of the column is text; "
                              "--type a=u64 keeps it"),
              "%s", ix_said);
    cr_assert(strstr(ix_said,
                     "'-9223372036854775809' is beyond i64, so all of the column is text; --type b=f64 "
                     "rounds it"),
              "%s", ix_said);
    cr_assert(strstr(ix_said,
                     "'007' has leading zeros or blanks, so all of the column is text; --type c=f64 makes "
                     "a number of it"),
              "%s", ix_said);
}

static void check_signs(const char *name, const char *type)
{
    ix_options.column_types = &type;
    ix_options.column_type_count = type != NULL;
    apl_store *s = IX_STORE(name);
    apl_batch *all = fx_get_all(s);
    const double *x = ix_column(s, all, "x")->data, *l = ix_column(s, all, "l")->data;
    const double *nested = ix_column(s, all, "n")->data;
    cr_assert(x[0] == 0 && signbit(x[0]) && x[1] == 0 && !signbit(x[1]));
    cr_assert(l[0] == 0.5 && l[1] == 0 && signbit(l[1]) && l[2] == -0.25 && !signbit(l[3]));
    cr_assert(nested[0] == 1 && nested[1] == 0 && signbit(nested[1]) && nested[3] == 1.5);
    cr_assert_arr_eq(ix_column(s, all, "w")->data, ((const int64_t[]){0, 1}), 16);
    apl_batch_release(all);
    apl_store_close(s);
}

/* Beside fractions and as floats; whole numbers have no -0. */
Test(list_types, minus_zero_keeps_its_sign_as_a_float)
{
    put_text("in/t.csv", "x,l,n,w\n-0,\"[0.5, -0]\",\"[[1, -0], [2, 1.5]]\",-0\n"
                         "0,\"[-0.25, 0]\",\"[[1, 2], [3, 4]]\",1\n");
    put_text("in/t.jsonl", "{\"x\": -0, \"l\": [0.5, -0], \"n\": [[1, -0], [2, 1.5]], \"w\": -0}\n"
                           "{\"x\": 0, \"l\": [-0.25, 0], \"n\": [[1, 2], [3, 4]], \"w\": 1}\n");
    check_signs("in/t.csv", "x=f64");
    check_signs("in/t.jsonl", "x=f64");
    put_text("in/t.jsonl",
             "{\"x\": -0, \"l\": [0.5, -0], \"n\": [[1, -0], [2, 1.5]], \"w\": -0}\n"
             "{\"x\": 0, \"l\": [-0.25, 0], \"n\": [[1, 2], [3, 4]], \"w\": 1}\n"
             "{\"x\": 0.5, \"l\": [0, 0], \"n\": [[1, 2], [3, 4]], \"w\": 18446744073709551615}\n");
    ix_options.skip_bad = 1;
    check_signs("in/t.jsonl", "w=i64");
}

/* Whatever it is among, unlike other words. */
Test(list_types, a_number_that_is_too_large_is_worth_a_line)
{
    put_text("in/t.csv", "n,code,word\n1,1,1\n-1e400,007,inf2\n");
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "n")->dtype, APL_UTF8);
    cr_assert(strstr(ix_said, "t.csv: row 3, column n: '-1e400' is not a number"), "%s", ix_said);
    cr_assert_null(strstr(ix_said, "column code"), "%s", ix_said);
    cr_assert_null(strstr(ix_said, "column word"), "%s", ix_said);
    apl_store_close(s);
}

Test(list_types, whole_numbers_that_f64_would_round_stay_what_they_are)
{
    put_text("in/t.csv", "id,exact,x\n9007199254740993,9007199254740992,1\n9223372036854775807,0.5,2\n,,3\n");
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "id")->dtype, APL_UTF8);
    cr_assert_eq(field_of(s, "exact")->dtype, APL_F64);
    cr_assert(strstr(ix_said,
                     "column id has no common type, so all of it is text: there are empty cells, whole "
                     "numbers, some of them too large for f64: --type id=f64 rounds those"),
              "%s", ix_said);
    apl_store_close(s);
}

Test(list_types, whole_numbers_of_lists_that_f64_would_round_stay_what_they_are)
{
    put_text("in/t.jsonl",
             "{\"ids\": [9007199254740993], \"x\": [0.1, 1]}\n{\"ids\": [0.5], \"x\": [0, 2]}\n");
    apl_store *s = IX_STORE("in/t.jsonl");
    cr_assert_eq(field_of(s, "ids")->dtype, APL_UTF8);
    cr_assert(strstr(ix_said, "column ids has no common type, so all of it is text: there are lists, some of "
                              "their numbers too large for f64: --type ids=f64[-1] rounds those"),
              "%s", ix_said);
    apl_batch *all = fx_get_all(s);
    const double x[] = {0.1, 1, 0, 2};
    cr_assert_arr_eq(ix_column(s, all, "x")->data, x, sizeof x);
    apl_batch_release(all);
    apl_store_close(s);
}

Test(list_types, values_without_a_common_type_are_worth_a_line)
{
    put_text("in/t.jsonl", "{\"m\": 1, \"b\": true, \"n\": [[1, 2]], \"same\": [1]}\n"
                           "{\"m\": [2], \"b\": null, \"n\": [[1]], \"same\": [2], \"none\": null}\n");
    apl_store *s = IX_STORE("in/t.jsonl");
    cr_assert_eq(field_of(s, "m")->dtype, APL_UTF8);
    cr_assert(
        strstr(ix_said, "column m has no common type, so all of it is text: there are whole numbers, lists"));
    cr_assert(strstr(
        ix_said, "column b has no common type, so all of it is text: there are empty cells, true or false"));
    cr_assert(strstr(ix_said, "there are lists, whose inner lists differ"), "%s", ix_said);
    cr_assert_null(strstr(ix_said, "column same"), "%s", ix_said);
    cr_assert_null(strstr(ix_said, "column none"), "%s", ix_said);
    apl_store_close(s);
}

Test(list_types, one_word_among_numbers_is_worth_a_line)
{
    put_text("in/t.csv", "n\n1\n2\noops\n3\n");
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "n")->dtype, APL_UTF8);
    cr_assert(strstr(ix_said, "t.csv: row 4, column n: 'oops' is not a number"), "%s", ix_said);
    apl_store_close(s);
}

/* A key that a line of JSON lacks is what null is, and what an empty cell of CSV is, whichever row is the first to have it. */
Test(list_types, keys_that_are_not_there_are_empty_cells)
{
    static const char *const tables[] = {
        "{\"t\": \"\", \"l\": null, \"n\": null, \"late\": null}\n"
        "{\"t\": \"a\", \"l\": [1, 2], \"n\": 1, \"late\": null}\n"
        "{\"t\": null, \"l\": [], \"n\": 2, \"late\": 3}\n",
        "{}\n{\"t\": \"a\", \"l\": [1, 2], \"n\": 1}\n{\"n\": 2, \"late\": 3}\n",
    };
    static const char csv[] = "t,l,n,late\n,,,\na,\"[1,2]\",1,\n,[],2,3\n";
    put_text("in/t.csv", csv);
    apl_store *s = IX_STORE("in/t.csv");
    uint8_t wanted[32];
    memcpy(wanted, apl_store_info(s)->content_digest, sizeof wanted);
    cr_assert_eq(field_of(s, "late")->dtype, APL_F64);
    apl_store_close(s);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        put_text("in/t.jsonl", tables[i]);
        s = IX_STORE("in/t.jsonl");
        cr_assert_arr_eq(apl_store_info(s)->content_digest, wanted, sizeof wanted, "%s", tables[i]);
        apl_store_close(s);
    }
}

Test(list_types, keys_that_are_not_there_and_are_needed_are_refused)
{
    ix_options.column_types = (const char *const[]){"n=i64"};
    ix_options.column_type_count = 1;
    put_text("in/t.jsonl", "{\"n\": 1, \"m\": 1}\n{\"m\": 1}\n");
    IX_REFUSED(APL_E_SOURCE, "t.jsonl: row 2, column n: is empty, and i64 is needed: f64 stores NaN for it",
               "in/t.jsonl");
    ix_options.column_types = (const char *const[]){"n=bool"};
    put_text("in/t.jsonl", "{\"n\": true, \"m\": 1}\n{\"m\": 1}\n");
    IX_REFUSED(APL_E_SOURCE, "t.jsonl: row 2, column n: is empty, and bool is needed (--skip-bad",
               "in/t.jsonl");
}
