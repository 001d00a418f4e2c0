/* The labels of tables: which texts are classes, and where those are that cannot be. */
#include "list_fixture.h"

TestSuite(list_labels, .init = list_set_up, .fini = fx_tear_down, .timeout = 60);

static void refused(const char *words, const char *name, const char *text)
{
    put_text(name, text);
    IX_REFUSED(APL_E_SOURCE, words, name);
}

Test(list_labels, an_error_names_the_file_of_its_row)
{
    put_text("in/train.csv", "id,label\n1,cat\n2,dog\n3,cat\n");
    put_text("in/test.csv", "id,label\n4,cat\n5,\n");
    IX_REFUSED(APL_E_SOURCE, "in/test.csv: column label: the label in row 3 is empty", "in/train.csv",
               "in/test.csv");
    put_text("in/test.csv", "id,label\n4,\"x\ny\"\n");
    IX_REFUSED(APL_E_SOURCE, "in/test.csv: column label: the label in row 2 is not a valid class name",
               "in/train.csv", "in/test.csv");
    put_text("in/test.csv", "id,label\n4,cat\n5,\"[\"\"cat\"\"]\"\n");
    IX_REFUSED(APL_E_SOURCE, "in/test.csv: column label: the label in row 3 is a list", "in/train.csv",
               "in/test.csv");
}

Test(list_labels, lists_and_objects_are_no_classes)
{
    refused(
        "t.jsonl: column label: the label in row 1 is a list or an object, and a class has one name: --type "
        "label=utf8",
        "in/t.jsonl", "{\"label\": [\"a\", \"b\"]}\n{\"label\": [\"b\"]}\n");
    refused("the label in row 2 is a list", "in/t.jsonl", "{\"label\": \"a\"}\n{\"label\": {\"b\": 1}}\n");
    refused("the label in row 2 is a list", "in/t.jsonl", "{\"label\": \"a\"}\n{\"label\": [1, 2]}\n");
    refused("the label in row 1 is a list", "in/t.jsonl", "{\"label\": [[1], [2, 3]]}\n");
    ix_options.column_types = (const char *const[]){"label=utf8"};
    ix_options.column_type_count = 1;
    put_text("in/t.jsonl", "{\"label\": [\"a\", \"b\"]}\n");
    apl_store *s = IX_STORE("in/t.jsonl");
    cr_assert_eq(field_of(s, "label")->dtype, APL_UTF8);
    apl_store_close(s);
}

Test(list_labels, lists_of_numbers_are_several_labels)
{
    put_text("in/t.jsonl", "{\"label\": [0, 3]}\n{\"label\": []}\n");
    apl_store *s = IX_STORE("in/t.jsonl");
    const apl_field *label = field_of(s, "label");
    cr_assert(label->dtype == APL_I64 && label->ndim == 1 && label->role == APL_TARGET);
    apl_store_close(s);
}

Test(list_labels, a_number_among_names_is_a_name)
{
    put_text("in/t.jsonl", "{\"label\": 1}\n{\"label\": \"1\"}\n{\"label\": \"a\"}\n");
    apl_store *s = IX_STORE("in/t.jsonl");
    apl_batch *all = fx_get_all(s);
    const uint8_t labels[] = {0, 0, 1};
    cr_assert_arr_eq(ix_column(s, all, "label")->data, labels, 3);
    cr_assert_str_eq(field_of(s, "label")->classes[0], "1");
    apl_batch_release(all);
    apl_store_close(s);
}

Test(list_labels, rows_whose_label_is_a_list_are_left_out)
{
    put_text("in/t.jsonl", "{\"label\": \"a\"}\n{\"label\": [\"b\"]}\n{\"label\": {}}\n");
    ix_options.skip_bad = 2;
    apl_store *s = IX_STORE("in/t.jsonl");
    cr_assert_eq(apl_store_info(s)->records, 1);
    cr_assert_eq(field_of(s, "label")->class_count, 1);
    cr_assert(strstr(ix_said, "row 2, column label: is a list or an object"), "%s", ix_said);
    apl_store_close(s);
}

Test(list_labels, lists_name_no_splits)
{
    put_text("in/t.jsonl", "{\"split\": [\"train\"], \"x\": 1}\n{\"split\": \"query\", \"x\": 2}\n");
    apl_store *s = IX_STORE("in/t.jsonl");
    cr_assert_eq(apl_store_info(s)->splits, 1);
    cr_assert_eq(field_of(s, "split")->dtype, APL_UTF8);
    cr_assert(strstr(ix_said, "column split becomes a field"), "%s", ix_said);
    apl_store_close(s);
}
