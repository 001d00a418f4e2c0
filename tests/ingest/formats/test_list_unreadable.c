/* Rows of tables that cannot be read: an error that names the row, or left out, wherever the next row can be found. */
#include "list_fixture.h"

TestSuite(list_unreadable, .init = list_set_up, .fini = fx_tear_down, .timeout = 60);

static void refused(const char *words, const char *name, const char *text)
{
    put_text(name, text);
    IX_REFUSED(APL_E_SOURCE, words, name);
}

/* The values of column n that are left, with so many rows left out. */
static void check_left(const char *name, uint64_t skipped, const int64_t *values, size_t count)
{
    ix_options.skip_bad = skipped;
    apl_store *s = IX_STORE(name);
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(apl_batch_rows(all), count);
    cr_assert_arr_eq(ix_column(s, all, "n")->data, values, count * sizeof *values);
    cr_assert_eq(apl_store_info(s)->skipped, skipped);
    apl_batch_release(all);
    apl_store_close(s);
}

static void check_said(const char *words)
{
    cr_assert(strstr(ix_said, words), "%s", ix_said);
}

Test(list_unreadable, are_errors_that_name_the_option)
{
    refused("t.jsonl: row 2 holds \\u0000: text in tables has no NUL (--skip-bad N", "in/t.jsonl",
            "{\"t\": \"a\"}\n{\"t\":\"\\u0000\"}\n");
    refused("t.jsonl: row 1 holds \\u0000", "in/t.jsonl", "{\"\\u0000\":1}\n");
    refused("t.jsonl: row 1 is not JSON: column 1", "in/t.jsonl", "5\n");
    static const char nul[] = "{\"n\":[3,4\0]}\n";
    ix_put("in/t.jsonl", nul, sizeof nul - 1);
    IX_REFUSED(APL_E_SOURCE, "t.jsonl: row 1 is not JSON: it holds a NUL byte", "in/t.jsonl");
    refused("t.csv: row 3 has 1 cell, and the header 2 (--skip-bad N", "in/t.csv", "a,b\n1,2\n3\n");
    refused("t.csv: row 2, column b: is not UTF-8 (--skip-bad N", "in/t.csv", "a,b\n1,\xff\n");
}

Test(list_unreadable, lines_of_json_are_left_out)
{
    const int64_t left[] = {1, 7};
    put_text("in/t.jsonl", "{\"n\": 1}\n{\"n\": 2\n{\"n\": 3, \"t\": \"\\u0000\"}\n{\"n\": \"\xff\"}\n[4]\n"
                           "{\"n\": 1e999}\n{\"n\": 7}\n{\"n\":");
    check_left("in/t.jsonl", 6, left, 2);
    check_said("skipped t.jsonl: row 2: is not JSON: column");
    check_said("skipped t.jsonl: row 3: holds \\u0000");
    check_said("skipped t.jsonl: row 5: is not a JSON object");
    check_said("skipped t.jsonl: row 8: is not JSON");
}

Test(list_unreadable, rows_of_csv_are_left_out)
{
    const int64_t left[] = {1, 5};
    put_text("in/t.csv", "n,image\n1,a.jpg\n2\n3,b.jpg,\n4,\xff.jpg\n5,b.jpg\n");
    check_left("in/t.csv", 3, left, 2);
    check_said("skipped t.csv: row 3: has 1 cell, and the header 2\n");
    check_said("skipped t.csv: row 4: has 3 cells");
    check_said("skipped t.csv: row 5, column image: is not UTF-8\n");
}

/* They are of no split, and each is left out once. */
Test(list_unreadable, rows_are_left_out_of_splits)
{
    const int64_t left[] = {3, 5, 1};
    put_text("in/t.jsonl", "{\"n\": 1, \"split\": \"test\"}\n!\n{\"n\": 3, \"split\": \"train\"}\n?\n"
                           "{\"n\": 5, \"split\": \"train\"}\n");
    check_left("in/t.jsonl", 2, left, 3);
}

Test(list_unreadable, no_more_are_left_out_than_allowed)
{
    ix_options.skip_bad = 1;
    refused("t.csv: row 4: has 1 cell, and the header 2 (and more than the 1 bad files", "in/t.csv",
            "n,m\n1,1\n2\n3\n");
    refused("no row can be read: ", "in/t.jsonl", "{\n}\n");
    refused("t.jsonl: row 1 is not JSON", "in/t.jsonl", "{\n}\n");
}

/* The first file has none, but its header says what the columns are. */
Test(list_unreadable, all_rows_of_a_file)
{
    const int64_t left[] = {4};
    put_text("in/train.csv", "n,m\n1\n");
    put_text("in/test.csv", "n,m\n4,5\n");
    ix_options.skip_bad = 1;
    apl_store *s = IX_STORE("in/train.csv", "in/test.csv");
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(apl_store_info(s)->splits, 2);
    cr_assert_arr_eq(ix_column(s, all, "n")->data, left, sizeof left);
    apl_batch_release(all);
    apl_store_close(s);
}

/* After these there is no telling where a row begins. */
Test(list_unreadable, what_may_hide_rows_stays_an_error)
{
    ix_options.skip_bad = 9;
    refused("row 3 has a quote that is not closed", "in/t.csv", "n\n1\n\"2\n");
    refused("t.jsonl: column label: the label in row 2 is empty", "in/t.jsonl",
            "!\n{\"n\": 1}\n{\"n\": 2, \"label\": \"\"}\n");
}
