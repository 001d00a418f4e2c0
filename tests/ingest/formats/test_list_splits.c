/* The column of a table that names the splits of rows, and columns that seem to. */
#include "list_fixture.h"

TestSuite(list_splits, .init = list_set_up, .fini = fx_tear_down, .timeout = 60);

static void refused(const char *words, const char *name, const char *text)
{
    put_text(name, text);
    IX_REFUSED(APL_E_SOURCE, words, name);
}

Test(list_splits, an_empty_cell_is_an_error)
{
    refused("t.csv: row 3, column split: is empty, and names no split: --skip-bad N", "in/t.csv",
            "x,split\n1,train\n2,\n3,test\n");
    refused("t.jsonl: row 2, column split: is empty", "in/t.jsonl",
            "{\"x\": 1, \"split\": \"train\"}\n{\"x\": 2}\n");
    refused("t.jsonl: row 1, column split: is empty", "in/t.jsonl",
            "{\"x\": 1}\n{\"x\": 2, \"split\": \"train\"}\n");
    refused("t.jsonl: row 2, column split: is empty", "in/t.jsonl",
            "{\"x\": 1, \"split\": \"test\"}\n{\"x\": 2, \"split\": \"\"}\n");
    put_text("in/train.csv", "x,split\n1,train\n");
    put_text("in/more.csv", "x,split\n1,\n");
    IX_REFUSED(APL_E_SOURCE, "more.csv: row 2, column split", "in/train.csv", "in/more.csv");
}

/* The row is of no split, so it is left out once. */
Test(list_splits, rows_without_a_split_are_left_out)
{
    put_text("in/t.csv", "x,split\n1,test\n2,\n3,train\n4,\n5,train\n");
    ix_options.skip_bad = 2;
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const int64_t x[] = {3, 5, 1};
    cr_assert_eq(apl_batch_rows(all), 3);
    cr_assert_arr_eq(ix_column(s, all, "x")->data, x, sizeof x);
    cr_assert_eq(apl_store_info(s)->skipped, 2);
    cr_assert(strstr(ix_said, "skipped t.csv: row 3, column split: is empty, and names no split\n"), "%s",
              ix_said);
    apl_batch_release(all);
    apl_store_close(s);
}

/* One odd cell among names of splits would otherwise put all rows in train. */
Test(list_splits, a_cell_that_is_no_name_among_such_is_an_error)
{
    static const char *const odd[] = {"7",          "2024", "-",         "NA",   "n/a", "null",
                                      "None",       "nan",  "+nan ",     "true", "-.5", "007",
                                      "\"[1, 2]\"", "[x]",  "\"{x: 1\"", "1e400"};
    char text[128];
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        snprintf(text, sizeof text, "x,split\n1,train\n2,%s\n3,test\n", odd[i]);
        refused("t.csv: row 3, column split: '", "in/t.csv", text);
        cr_assert(strstr(fx_err.message, "' names no split, but other cells do: --skip-bad N"), "%s",
                  fx_err.message);
    }
    refused("t.csv: row 2, column split: 'a\\x0ab' names no split", "in/t.csv",
            "x,split\n1,\"a\nb\"\n2,test\n");
    refused("t.jsonl: row 2, column split: '7' names no split", "in/t.jsonl",
            "{\"split\": \"train\"}\n{\"split\": \"7\"}\n");
    refused("t.jsonl: row 2, column split: '[\"test\"]' names no split", "in/t.jsonl",
            "{\"split\": \"train\"}\n{\"split\": [\"test\"]}\n");
    put_text("in/train.csv", "x,split\n1,a\n");
    put_text("in/more.csv", "x,split\n1,TEST\n2,0\n");
    IX_REFUSED(APL_E_SOURCE, "more.csv: row 3, column split: '0' names no split", "in/train.csv",
               "in/more.csv");
}

/* Their rows are of no split either, and odd names that are alike do no harm. */
Test(list_splits, rows_whose_cells_are_no_names_are_left_out)
{
    put_text("in/t.csv", "x,split\n1,7\n2,test\n3,NA\n4,na\n5,a-1\n6,train\n");
    ix_options.skip_bad = 3;
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const int64_t x[] = {6, 2, 5};
    cr_assert_eq(apl_store_info(s)->splits, 3);
    cr_assert_eq(apl_batch_rows(all), 3);
    cr_assert_arr_eq(ix_column(s, all, "x")->data, x, sizeof x);
    cr_assert(strstr(ix_said, "skipped t.csv: row 2, column split: '7' names no split\n"), "%s", ix_said);
    cr_assert(strstr(ix_said, "skipped t.csv: row 4, column split: 'NA' names no split\n"), "%s", ix_said);
    apl_batch_release(all);
    apl_store_close(s);
    ix_options.skip_bad = 2;
    cr_assert_neq(ix_ingest(IX_NAMES("in/t.csv")), APL_OK);
}

static void has_split(const char *file, const char *split)
{
    put_text(file, "x\n1\n");
    apl_store *s = IX_STORE(file);
    cr_assert_eq(apl_store_info(s)->splits, 1);
    cr_assert_str_eq(apl_store_split(s, 0)->name, split, "%s: %s", file, apl_store_split(s, 0)->name);
    apl_store_close(s);
}

Test(list_splits, words_in_names_of_files_name_them)
{
    has_split("in/validation.csv", "val");
    has_split("in/my-TEST.csv", "test");
    has_split("in/test1.csv", "test");
    has_split("in/val(2).csv", "val");
    has_split("in/testing_2017.csv", "test");
    has_split("in/mytest.csv", "train");
    has_split("in/t10k-1.csv", "test");
    has_split("in/a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-test1.csv", "test");
}

/* Of two tables: what is said of them, or nothing. */
static void said_of(const char *first, const char *second, const char *words)
{
    put_text(first, "x\n1\n");
    put_text(second, "x\n2\n");
    is_said_of(IX_STORE(first, second), words);
}

Test(list_splits, names_that_tell_none_beside_others_are_worth_a_line)
{
    said_of("in/train.csv", "in/holdout.csv",
            "holdout.csv: in the split 'train', as its name tells no split, and those of others do\n");
    said_of("in/tests.tsv", "in/val.tsv", "in/tests.tsv: in the split 'train', as its name");
    said_of("in/train.csv", "in/test.csv", NULL);
    said_of("in/a.csv", "in/b.csv", NULL);
    put_text("in/c.csv", "x\n3\n");
    put_text("in/d.csv", "x\n4\n");
    apl_store *s = IX_STORE("in/train.csv", "in/c.csv", "in/d.csv");
    cr_assert_not_null(strstr(ix_said, "in/c.csv: in the split 'train', "), "%s", ix_said);
    cr_assert_not_null(strstr(ix_said, "those of others do (and 1 more)\n"), "%s", ix_said);
    apl_store_close(s);
    put_text("in/train.csv", "x,split\n1,train\n");
    put_text("in/holdout.csv", "x,split\n1,test\n");
    s = IX_STORE("in/train.csv", "in/holdout.csv");
    cr_assert_str_empty(ix_said);
    apl_store_close(s);
}

Test(list_splits, names_that_tell_two_are_worth_a_line)
{
    said_of("in/train_val.csv", "in/test_a.csv",
            "in/train_val.csv: in the split 'train', though its name tells 'val' too\n");
    said_of("in/train.csv", "in/test1train.csv",
            "in/test1train.csv: in the split 'test', though its name tells 'train' too\n");
    said_of("in/train_val.csv", "in/val-test.csv", "'train', though its name tells 'val' too (and 1 more)\n");
    said_of("in/train-training.csv", "in/val.validation.csv", NULL);
    put_text("in/train_val.csv", "x\n1\n");
    is_said_of(IX_STORE("in/train_val.csv"), "though its name tells 'val' too");
}

static void becomes_field(const char *field, const char *words, const char *text)
{
    put_text("in/t.csv", text);
    apl_store *s = IX_STORE("in/t.csv");
    field_of(s, field);
    cr_assert_eq(apl_store_info(s)->splits, 1);
    cr_assert_not_null(strstr(ix_said, words), "%s", ix_said);
    apl_store_close(s);
}

Test(list_splits, a_column_that_seems_to_name_them_is_worth_a_line)
{
    becomes_field("Split", "column Split becomes a field, and names no splits: only one called split",
                  "x,Split\n1,train\n2,test\n");
    becomes_field("split", "column split becomes a field, and names no splits: its cells are not all words",
                  "x,split\n1,0\n2,1\n");
    becomes_field("split", "its cells are not all words", "x,split\n1,0\n2,query\n");
    becomes_field("split", "its cells are not all words", "x,split\n1,\n2,\n");
    becomes_field("split", "a name has at most 255 bytes", "x,split\n1,\"a\nb\"\n2,query\n");
}

Test(list_splits, what_is_asked_for_is_not_told)
{
    put_text("in/t.csv", "x,split\n1,train\n2,\n");
    ix_options.column_types = (const char *const[]){"split=utf8"};
    ix_options.column_type_count = 1;
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "split")->dtype, APL_UTF8);
    cr_assert_null(strstr(ix_said, "split"), "%s", ix_said);
    apl_store_close(s);
    ix_options.column_type_count = 0;
    ix_options.label_column = "split";
    put_text("in/t.csv", "x,split\n1,train\n2,test\n");
    s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "split")->class_count, 2);
    cr_assert_null(strstr(ix_said, "split"), "%s", ix_said);
    apl_store_close(s);
}

Test(list_splits, more_names_than_a_table_has_splits)
{
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "x,split\n");
    for (int i = 0; i < 65; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,part%d\n", i, i);
    snprintf(text + used, sizeof text - used, "65,test\n");
    put_text("in/t.csv", text);
    IX_REFUSED(APL_E_UNSUPPORTED, "t.csv: column split names more than 64 splits: --type split=utf8",
               "in/t.csv");
    text[used] = 0;
    becomes_field("split", "column split becomes a field, and names no splits: a table has at most 64 splits",
                  text);
}

/* Folders called Train and train are no splits either. */
Test(list_splits, names_that_are_alike_are_errors)
{
    refused("t.csv: row 4, column split: 'Train' differs from the split 'train' only in case or blanks: "
            "spell them "
            "alike, or --type split=utf8",
            "in/t.csv", "split,x\ntrain,1\ntest,2\nTrain,3\ntrain,4\n");
    refused("t.csv: row 2, column split: 'test ' differs from the split 'test'", "in/t.csv",
            "split,x\ntest ,1\ntest,2\n");
    refused("t.csv: row 3, column split: 'test ' has blanks around it: leave them out, or --type split=utf8",
            "in/t.csv", "split,x\ntrain,1\n\"test \",2\n");
    refused("t.csv: row 2, column split: ' query' has blanks", "in/t.csv", "split,x\n query,1\ngallery,2\n");
    refused("t.csv: row 3, column split: 'TRAIN' differs from the split 'tRAIN'", "in/t.csv",
            "split,x\ntRAIN,1\nTRAIN,2\n");
    put_text("in/train.csv", "x,split\n1,train\n");
    put_text("in/more.csv", "x,split\n1,\n2,train\n3,TRAIN\n");
    ix_options.skip_bad = 1;
    IX_REFUSED(APL_E_SOURCE, "more.csv: row 4, column split: 'TRAIN'", "in/train.csv", "in/more.csv");
    put_text("in/t.csv", "split,x\nTrain,1\nTest,2\ntrain set,3\n");
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(apl_store_info(s)->splits, 3);
    cr_assert_str_eq(apl_store_split(s, 0)->name, "Train");
    apl_store_close(s);
}

/* Its images may be the same, but a folder is called as a split is. */
static void put_images(const char *const *names)
{
    char folder[64];
    for (; *names; names++) {
        snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(*names, '/') - *names), *names);
        mkdir(fx_path(folder), 0777);
        put_jpeg(*names, 8, 8);
    }
}

static void said_of_rows(const char *text, const char *words)
{
    put_text("in/t.csv", text);
    is_said_of(IX_STORE("in/t.csv"), words);
}

Test(list_splits, two_words_for_one_split_are_worth_a_line)
{
    said_of_rows(
        "split,x\ntrain,1\nvalidation,2\nval,3\n",
        "t.csv: column split: 'val' and 'validation' are two splits, though files so called would both "
        "be of the split 'val'\n");
    said_of_rows("split,x\ntrain,1\nval,2\ndev,3\ntrain-val,4\n", NULL);
}

Test(list_splits, a_column_of_words_for_splits_by_another_name_is_worth_a_line)
{
    said_of_rows(
        "set,x\ntrain,1\nTest,2\n,3\n",
        "t.csv: column set becomes a field, and names no splits: all of its cells are words for splits, "
        "but only a column called split does\n");
    said_of_rows("set,split\ntrain,0\nval,1\n", "column set becomes a field");
    said_of_rows("set,x\ntrain,1\ntraining,2\n", NULL); /* of one */
    said_of_rows("set,x\ntrain,1\ntest,2\nquery,3\n", NULL);
    said_of_rows("set,split\ntrain,train\ntest,test\n", NULL);
    said_of_rows("label,x\ntrain,1\ntest,2\n", NULL);
    ix_options.column_types = (const char *const[]){"set=utf8"};
    ix_options.column_type_count = 1;
    said_of_rows("set,x\ntrain,1\ntest,2\n", NULL);
}

Test(list_splits, images_in_folders_of_other_splits_are_worth_a_line)
{
    put_images(IX_NAMES("in/train/1.jpg", "in/Val/2.jpg", "in/val2/3.jpg", "in/deep/4.jpg"));
    said_of_rows(
        "image,label\ntrain/1.jpg,1\nVal/2.jpg,2\ndeep/4.jpg,3\n",
        "t.csv: images in folders that are called as another split than their rows': 1 (first row 3, in "
        "'train': Val/2.jpg); a column called split says of which split each row is\n");
    said_of_rows("image,split\ntrain/1.jpg,val\nVal/2.jpg,train\n",
                 "than their rows': 2 (first row 2, in 'val': train/1.jpg)\n");
    said_of_rows("image,split\ntrain/1.jpg,training\nVal/2.jpg,validation\nval2/3.jpg,test\n", NULL);
    said_of_rows("image,split\ntrain/1.jpg,minitrain\nVal/2.jpg,val\n", NULL);
    ix_options.skip_bad = 1;
    said_of_rows("image,split\ntrain/1.jpg,train\nVal/2.jpg,7\n", "skipped t.csv: row 3, column split");
    cr_assert_null(strstr(ix_said, "folders"), "%s", ix_said);
    put_text("in/val.csv", "image\nVal/2.jpg\n");
    put_text("in/train.csv", "image\nVal/2.jpg\n");
    is_said_of(IX_STORE("in/val.csv", "in/train.csv"), "in/train.csv: images in folders");
}

/* A folder above all data says nothing. */
Test(list_splits, images_by_their_whole_paths)
{
    char text[512];
    mkdir(fx_path("in/dev"), 0777);
    put_images(IX_NAMES("in/dev/train/1.jpg", "in/dev/val/2.jpg", "in/dev/a/3.jpg"));
    ix_options.outside = 1;
    snprintf(text, sizeof text, "image\n%s/in/dev/a/3.jpg\n", fx_place);
    said_of_rows(text, NULL);
    snprintf(text, sizeof text, "image\n%s/in/dev/train/1.jpg\n%s/in/dev/val/2.jpg\n", fx_place, fx_place);
    said_of_rows(text, "(first row 3, in 'train': ");
}
