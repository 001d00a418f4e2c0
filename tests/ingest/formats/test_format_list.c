/* Tables into stores: CSV, TSV and lines of JSON, with images and without; types, splits, paths, and everything that can be wrong. */
#include "counts.h"
#include "list_fixture.h"

#include <math.h>
#include <unistd.h>

TestSuite(format_list, .init = list_set_up, .fini = fx_tear_down, .timeout = 60);

Test(format_list, cells_are_what_rfc_4180_says)
{
    put_text("in/t.csv", "\xef\xbb\xbfimage,label,text,n,x\r\n"
                         "a.jpg,cat,\"one \"\"two\"\"\r\nthree, four\",-7,\r\n"
                         "\r\n"
                         "deep/c.jpg,ape,,8,2.5e-3\r\n"
                         "./b.jpg,cat, blanks ,+9,NaN");
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(apl_batch_rows(all), 3);
    cr_assert_str_eq(field_of(s, "image")->media, "image/jpeg");
    const apl_field *label = field_of(s, "label");
    cr_assert(label->role == APL_TARGET && label->dtype == APL_U8 && label->class_count == 2);
    cr_assert_str_eq(label->classes[0], "ape");
    const uint8_t labels[] = {1, 0, 1};
    cr_assert_arr_eq(ix_column(s, all, "label")->data, labels, 3);
    const char *const texts[] = {"one \"two\"\r\nthree, four", "", " blanks "};
    const char *const paths[] = {"a.jpg", "deep/c.jpg", "./b.jpg"};
    const int64_t whole[] = {-7, 8, 9};
    const uint32_t shapes[] = {3, 16, 24, 3, 8, 8, 3, 33, 17};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_str_eq(text_at(ix_column(s, all, "text"), i), texts[i]);
        cr_assert_str_eq(text_at(ix_column(s, all, "path"), i), paths[i]);
    }
    cr_assert_arr_eq(ix_column(s, all, "n")->data, whole, sizeof whole);
    cr_assert_arr_eq(ix_column(s, all, "image_shape")->data, shapes, sizeof shapes);
    const double *x = ix_column(s, all, "x")->data;
    cr_assert(isnan(x[0]) && x[1] == 2.5e-3 && isnan(x[2]));
    size_t size;
    uint8_t *file = fx_read(fx_path("in/deep/c.jpg"), &size);
    const apl_column *image = ix_column(s, all, "image");
    cr_assert_eq(image->offsets[2] - image->offsets[1], size);
    cr_assert_arr_eq((const uint8_t *)image->data + image->offsets[1], file, size);
    free(file);
    apl_batch_release(all);
    apl_store_close(s);
}

Test(format_list, tabs_part_cells_in_which_quotes_mean_nothing)
{
    put_text("in/t.tsv", "text\tlabel\n\"5\" nails\ta,b\n\tc\n");
    apl_store *s = IX_STORE("in/t.tsv");
    apl_batch *all = fx_get_all(s);
    cr_assert_str_eq(text_at(ix_column(s, all, "text"), 0), "\"5\" nails");
    cr_assert_str_eq(field_of(s, "label")->classes[0], "a,b");
    cr_assert_eq(field_of(s, "text")->role, APL_INPUT);
    apl_batch_release(all);
    apl_store_close(s);
}

Test(format_list, lines_of_json_have_boxes_and_tags)
{
    put_text(
        "in/t.jsonl",
        "{\"file\": \"a.jpg\", \"boxes\": [[1, 2, 3, 4], [0, 0, 1, 1]], \"tags\": [5], \"split\": \"val\"}\n"
        "\r\n"
        "{\"file\": \"b.jpg\", \"boxes\": [], \"tags\": [], \"split\": \"train\", \"late\": 2}\n"
        "{\"file\": \"a.jpg\", \"tags\": [1, 2], \"split\": \"train\", \"late\": null, \"o\": {\"k\": [1]}}");
    ix_options.column_types = (const char *const[]){"boxes=f32[-1,4]"};
    ix_options.column_type_count = 1;
    apl_store *s = IX_STORE("in/t.jsonl");
    apl_batch *all = fx_get_all(s);
    cr_assert_str_eq(apl_store_split(s, 0)->name, "train");
    cr_assert_str_eq(apl_store_split(s, 1)->name, "val");
    cr_assert_eq(apl_store_split(s, 1)->first, 2);
    const apl_column *boxes = ix_column(s, all, "boxes"), *tags = ix_column(s, all, "tags");
    const float box[] = {1, 2, 3, 4, 0, 0, 1, 1};
    const int64_t tag[] = {1, 2, 5};
    cr_assert(boxes->dtype == APL_F32 && boxes->offsets[2] == 0 && boxes->offsets[3] == 8);
    cr_assert_arr_eq(boxes->data, box, sizeof box);
    cr_assert_arr_eq(tags->data, tag, sizeof tag);
    const double *late = ix_column(s, all, "late")->data;
    cr_assert(late[0] == 2 && isnan(late[1]) && isnan(late[2]));
    cr_assert_str_eq(text_at(ix_column(s, all, "o"), 1), "{\"k\":[1]}");
    apl_batch_release(all);
    apl_store_close(s);
}

Test(format_list, files_are_splits_by_their_names)
{
    put_text("in/my-val.csv", "n\n3\n");
    put_text("in/my-train.csv", "n\n1\n2\n");
    ix_put_gzip("in/test.csv.gz", "n\n4\n", 4);
    apl_store *s = IX_STORE("in/my-val.csv", "in/test.csv.gz", "in/my-train.csv");
    apl_batch *all = fx_get_all(s);
    const int64_t n[] = {1, 2, 3, 4};
    cr_assert_arr_eq(ix_column(s, all, "n")->data, n, sizeof n);
    cr_assert_str_eq(apl_store_split(s, 2)->name, "test");
    cr_assert_str_eq(apl_store_member(s, 1)->name, "my-val.csv");
    apl_batch_release(all);
    apl_store_close(s);
    put_text("in/my-val.csv", "m\n3\n");
    cr_assert_eq(unlink(fx_path("db/data.mdb")), 0);
    rmdir(ix_db);
    IX_REFUSED(APL_E_SOURCE, "has no column m", "in/my-val.csv", "in/my-train.csv");
}

Test(format_list, rows_may_cross_what_is_parsed_at_once)
{
    struct buffer b = {0};
    char row[400];
    buffer_put(&b, "n,text\n", 7);
    for (int i = 0; i < 3000; i++) {
        int n = snprintf(row, sizeof row, "%d,\"%0*d\n\"\n", i, i % 300 + 1, i);
        buffer_put(&b, row, (size_t)n);
    }
    ix_put_buffer("in/t.csv", &b);
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(apl_batch_rows(all), 3000);
    for (int i = 0; i < 3000; i++) {
        snprintf(row, sizeof row, "%0*d\n", i % 300 + 1, i);
        if (i % 300 < 250)
            cr_assert_str_eq(text_at(ix_column(s, all, "text"), (size_t)i), row);
        cr_assert_eq(((const int64_t *)ix_column(s, all, "n")->data)[i], i);
    }
    apl_batch_release(all);
    apl_store_close(s);
}

static void refused(apl_status status, const char *words, const char *text)
{
    put_text("in/t.csv", text);
    IX_REFUSED(status, words, "in/t.csv");
}

Test(format_list, bad_tables_are_told_with_their_row)
{
    refused(APL_E_SOURCE, "t.csv: row 3 has 1 cell, and the header 2", "a,b\n1,2\n3\n4,5\n");
    refused(APL_E_SOURCE, "t.csv: row 2 has 3 cells", "a,b\n1,2,3\n");
    refused(APL_E_SOURCE, "t.csv: row 3 has a quote that is not closed", "a,b\n1,2\n\"3,4\n");
    refused(APL_E_SOURCE, "t.csv: row 2 has a quote", "a,b\n\"x\"y,2\n");
    refused(APL_E_SOURCE, "t.csv: row 3, column b: is not UTF-8", "a,b\n1,2\n1,\xff\n");
    refused(APL_E_SOURCE, "has two columns called a", "a,a\n1,2\n");
    refused(APL_E_SOURCE, "names a column ''", "a,,b\n1,2,3\n");
    refused(APL_E_SOURCE, "has no rows", "a,b\n");
    refused(APL_E_SOURCE, "the label in row 3 is empty", "label\nx\n\"\"\n");
    refused(APL_E_SOURCE, "the label in row 3 is not a valid class name", "label\nx\n\"y\nz\"\n");
    refused(APL_E_SOURCE, "t.csv: row 1 names a column '\\x1b[31m'", "a,\x1b[31m\n1,2\n");
    refused(APL_E_SOURCE, "t.csv: row 1 names a column '\\xef\\xbb\\xbfa'",
            "\xef\xbb\xbf\xef\xbb\xbf"
            "a\n1\n");
    refused(APL_E_UNSUPPORTED, "is UTF-16",
            "\xff\xfe"
            "a,b\n");
    ix_put("in/t.csv", "a,b\n1,\0\n", 8);
    IX_REFUSED(APL_E_SOURCE, "row 2 holds a NUL byte", "in/t.csv");
    ix_options.format = "list";
    refused(APL_E_SOURCE, "is empty: a row of names is needed", "\n\n");
}

Test(format_list, bad_json_is_told_with_its_row)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"{\"a\": 1}\n{\"a\": }\n", "t.jsonl: row 2 is not JSON"},
        {"1\n", "row 1 is not JSON"},
        {"[{\"a\": 1}]\n", "row 1 is not a JSON object, but begins an array: jq"},
        {"[\n{\"a\": 1}\n]\n", "row 1 is not a JSON object, but begins an array: jq"},
        {"{\"a\": 1, \"a\": 2}\n", "row 1 is not JSON"},
        {"{\"a\": 1e400}\n", "row 1 is not JSON"},
        {"{\"a\": \"\xff\"}\n", "row 1 is not JSON"},
        {"{\"\": 1}\n", "names a column ''"},
        {"\n\n", "has no rows"},
        {"{}\n{}\n", "t.jsonl: has no columns"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_text("in/t.jsonl", cases[i].text);
        IX_REFUSED(APL_E_SOURCE, cases[i].words, "in/t.jsonl");
    }
}

/* A table whose middle comes over and over. */
static void repeated(const char *name, const char *first, const char *middle, size_t times, const char *last)
{
    size_t step = strlen(middle), size = strlen(first) + step * times + strlen(last);
    char *text = malloc(size + 1), *at = text + strlen(strcpy(text, first));
    for (size_t i = 0; i < times; i++, at += step)
        memcpy(at, middle, step);
    strcpy(at, last);
    ix_put(name, text, size);
    free(text);
}

/* What a row may take is bounded, however little of the file each of its parts needs. */
Test(format_list, rows_without_measure)
{
    repeated("in/t.csv", "a,b\n1,2\n", ",", 4096, "\n");
    IX_REFUSED(APL_E_SOURCE, "t.csv: row 3 has more than 4096 cells", "in/t.csv");
    repeated("in/t.csv", "a,b\n1,2\n", ",", 4095, "\n");
    IX_REFUSED(APL_E_SOURCE, "t.csv: row 3 has 4096 cells, and the header 2", "in/t.csv");
    repeated("in/t.csv", "a", ",", 5000, "\n1\n");
    IX_REFUSED(APL_E_SOURCE, "t.csv: row 1 has more than 4096 cells", "in/t.csv");
    if (sweep_step() > 7)
        return; /* a million of them take a sanitizer 20 seconds */
    repeated("in/t.csv", "a\n1\n\"[", "1,", 1 << 20, "1]\"\n");
    IX_REFUSED(APL_E_SOURCE, "t.csv: row 3, column a: has more than a million values", "in/t.csv");
    repeated("in/t.jsonl", "{\"a\": [1, \"\\\"\"]}\n{\"a\": [", "[],", 1 << 19, "[]]}\n");
    IX_REFUSED(APL_E_SOURCE, "t.jsonl: row 2 has more than a million values", "in/t.jsonl");
    repeated("in/t.jsonl", "{\"a\": \"\\\"", ",", (1 << 20) + 9, "\"}\n");
    apl_store_close(IX_STORE("in/t.jsonl")); /* a string is one value, whatever it holds */
}

/* Directories are looked at as folders of images first, and that is over when their tables are read. */
Test(format_list, directories_are_named)
{
    cr_assert_eq(mkdir(fx_path("tables"), 0777), 0);
    put_text("tables/t.csv", "n\n1\n2\noops\n");
    ix_options.format = "list";
    apl_store_close(IX_STORE("tables"));
    cr_assert(strstr(ix_said, "/tables: row 4, column n: 'oops' is not a number"), "%s", ix_said);
}

Test(format_list, a_mark_may_stand_before_a_blank_line)
{
    put_text("in/t.jsonl", "\xef\xbb\xbf\n{\"a\": 1}\n");
    apl_store *s = IX_STORE("in/t.jsonl");
    cr_assert_eq(apl_store_info(s)->records, 1);
    apl_store_close(s);
}

Test(format_list, paths_stay_in_the_folder)
{
    char text[512], link[256];
    refused(APL_E_SOURCE, "row 2: ../out.jpg: leads out of the folder", "path,n\n../out.jpg,1\n");
    refused(APL_E_SOURCE, "row 2: deep/../../out.jpg: leads out", "path,n\ndeep/../../out.jpg,1\n");
    snprintf(text, sizeof text, "path\n%s\n", fx_path("out.jpg"));
    refused(APL_E_SOURCE, "leads out of the folder of the list; --outside", text);
    snprintf(link, sizeof link, "%s", fx_path("in/link.jpg"));
    cr_assert_eq(symlink("../out.jpg", link), 0);
    refused(APL_E_SOURCE, "row 2: link.jpg: there is a symbolic link", "path\nlink.jpg\n");
    snprintf(link, sizeof link, "%s", fx_path("in/link"));
    cr_assert_eq(symlink("deep", link), 0);
    refused(APL_E_SOURCE, "row 2: link/c.jpg: there is a symbolic link", "path\nlink/c.jpg\n");
    ix_options.follow_links = 1;
    refused(APL_E_SOURCE, "row 2: ../out.jpg: leads out of the folder", "path,n\n../out.jpg,1\n");
    ix_options.follow_links = 0;
    refused(APL_E_NOTFOUND, "row 2: none.jpg: cannot be opened: No such file", "path\nnone.jpg\n");
    cr_assert_eq(mkdir(fx_path("in/d.jpg"), 0777), 0);
    refused(APL_E_SOURCE, "row 2: d.jpg: is not a regular file", "path\nd.jpg\n");
    ix_options.outside = 1;
    snprintf(text, sizeof text, "path\n../out.jpg\n%s\nlink/c.jpg\nlink.jpg\n", fx_path("out.jpg"));
    put_text("in/t.csv", text);
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(apl_store_info(s)->records, 4);
    apl_store_close(s);
    ix_options.outside = 0;
    ix_options.follow_links = 1;
    put_text("in/t.csv", "path\nlink/c.jpg\nlink.jpg\n");
    s = IX_STORE("in/t.csv");
    cr_assert_eq(apl_store_info(s)->records, 2);
    apl_store_close(s);
}

Test(format_list, columns_are_chosen)
{
    refused(APL_E_SOURCE, "columns one and two both name images: --image", "one,two\na.jpg,b.jpg\n");
    ix_options.image_column = "three";
    refused(APL_E_INVALID, "has no column three, for --image; there are one, two", "one,two\na.jpg,b.jpg\n");
    ix_options.image_column = "two";
    ix_options.label_column = "two";
    refused(APL_E_INVALID, "column two cannot be both", "one,two\na.jpg,b.jpg\n");
    ix_options.label_column = "one";
    put_text("in/t.csv", "one,two\na.jpg,b.jpg\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    cr_assert_str_eq(field_of(s, "one")->classes[0], "a.jpg");
    cr_assert_str_eq(text_at(ix_column(s, all, "path"), 0), "b.jpg");
    apl_batch_release(all);
    apl_store_close(s);
}

Test(format_list, a_first_column_without_a_name_is_an_index)
{
    refused(APL_E_SOURCE, "has two columns called index", ",index\n0,1\n");
    put_text("in/t.csv", ",n\n0,1\n1,2\n");
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "index")->dtype, APL_I64);
    apl_store_close(s);
}

Test(format_list, an_index_is_no_input_unless_it_is_named_or_the_label)
{
    put_text("in/t.csv", ",n\n0,1\n1,2\n");
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "index")->role, APL_NAME);
    cr_assert_eq(field_of(s, "n")->role, APL_INPUT);
    apl_store_close(s);
    put_text("in/t.csv", "index,n\n0,1\n1,2\n");
    s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "index")->role, APL_INPUT);
    apl_store_close(s);
    put_text("in/t.csv", ",n\n0,1\n1,2\n");
    ix_options.label_column = "index";
    s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "index")->role, APL_TARGET);
    apl_store_close(s);
}

Test(format_list, cells_that_name_no_image_are_worth_a_line)
{
    put_text("in/t.csv", "image,n\na.jpg,1\n,2\nb.jpg,3\n");
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "image")->dtype, APL_UTF8);
    cr_assert(
        strstr(ix_said,
               "column image: 2 of 3 cells name images, so all of it is text; --image image reads them"),
        "%s", ix_said);
    cr_assert_null(strstr(ix_said, "column n"), "%s", ix_said);
    apl_store_close(s);
    put_text("in/t.csv", "word,n\na.jpg,1\nb,2\nc,3\n");
    apl_store_close(IX_STORE("in/t.csv"));
    cr_assert_null(strstr(ix_said, "name images"), "%s", ix_said);
}

Test(format_list, a_second_column_of_images_is_worth_a_line)
{
    put_text("in/t.csv", "image,mask\na.jpg,b.jpg\nb.jpg,a.jpg\n");
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "mask")->dtype, APL_UTF8);
    cr_assert(strstr(ix_said, "column mask names images too, and becomes text"), "%s", ix_said);
    cr_assert_null(strstr(ix_said, "column image names"), "%s", ix_said);
    apl_store_close(s);
}

Test(format_list, other_separators_are_told_of)
{
    put_text("in/t.csv", "file;label\na.jpg;cat\n");
    apl_store_close(IX_STORE("in/t.csv"));
    cr_assert(strstr(ix_said, "the only column is called 'file;label': cells are separated by commas"), "%s",
              ix_said);
}

Test(format_list, columns_keep_names_that_images_usually_have)
{
    put_text("in/t.csv", "image,path,image_shape\na.jpg,http://a,\"[1,2]\"\nb.jpg,http://b,\"[3,4]\"\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const int64_t shapes[] = {1, 2, 3, 4};
    cr_assert_eq(apl_store_info(s)->fields, 4);
    cr_assert_str_eq(field_of(s, "image")->media, "image/jpeg");
    cr_assert_str_eq(text_at(ix_column(s, all, "path"), 1), "http://b");
    cr_assert_str_eq(text_at(ix_column(s, all, "image_path"), 1), "b.jpg");
    cr_assert_arr_eq(ix_column(s, all, "image_shape")->data, shapes, sizeof shapes);
    cr_assert(field_of(s, "image_shape")->role == APL_NAME && field_of(s, "path")->role == APL_TARGET);
    apl_batch_release(all);
    apl_store_close(s);
    cr_assert_eq(unlink(fx_path("db/data.mdb")), 0);
    rmdir(ix_db);
    put_text("in/t.csv", "image,path,file,image_path\n7,a/b,a.jpg,c\n8,b/c,b.jpg,d\n");
    s = IX_STORE("in/t.csv");
    all = fx_get_all(s);
    const int64_t numbers[] = {7, 8};
    const uint32_t own[] = {3, 16, 24, 3, 33, 17};
    cr_assert_arr_eq(ix_column(s, all, "image")->data, numbers, sizeof numbers);
    cr_assert_str_eq(field_of(s, "file_image")->media, "image/jpeg");
    cr_assert_arr_eq(ix_column(s, all, "file_image_shape")->data, own, sizeof own);
    cr_assert_str_eq(text_at(ix_column(s, all, "path"), 0), "a/b");
    cr_assert_str_eq(text_at(ix_column(s, all, "file_image_path"), 0), "a.jpg");
    apl_batch_release(all);
    apl_store_close(s);
}

Test(format_list, bad_rows_are_left_out)
{
    put_text("in/bad.jpg", "\xff\xd8\xff nonsense");
    put_text("in/t.csv", "path,n\na.jpg,1\nbad.jpg,2\nnone.jpg,3\nb.jpg,4\na.jpg,x\n");
    ix_options.column_types = (const char *const[]){"n=u8"};
    ix_options.column_type_count = 1;
    ix_options.skip_bad = 3;
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(apl_store_info(s)->records, 2);
    cr_assert_eq(apl_store_info(s)->skipped, 3);
    cr_assert(strstr(ix_said, "skipped t.csv: row 4: none.jpg: cannot be opened"), "%s", ix_said);
    cr_assert(strstr(ix_said, "skipped t.csv: row 6, column n: 'x' is not a valid u8"), "%s", ix_said);
    apl_store_close(s);
    put_text("in/t.csv", "path,n\nbad.jpg,2\n");
    cr_assert_eq(unlink(fx_path("db/data.mdb")), 0);
    rmdir(ix_db);
    IX_REFUSED(APL_E_SOURCE, "all of its rows are bad", "in/t.csv");
}

Test(format_list, rows_without_a_label_are_left_out)
{
    put_text("in/t.csv", "n,label\n1,cat\n2,\n3,ape\n4,\"x\ny\"\n");
    ix_options.skip_bad = 2;
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const int64_t n[] = {1, 3};
    const uint8_t labels[] = {1, 0};
    cr_assert_eq(apl_batch_rows(all), 2);
    cr_assert_arr_eq(ix_column(s, all, "n")->data, n, sizeof n);
    cr_assert_arr_eq(ix_column(s, all, "label")->data, labels, 2);
    cr_assert_eq(field_of(s, "label")->class_count, 2);
    cr_assert(strstr(ix_said, "skipped t.csv: row 3, column label: is empty, and the name of a class"), "%s",
              ix_said);
    cr_assert(strstr(ix_said, "row 5, column label: is not a valid class name"), "%s", ix_said);
    apl_batch_release(all);
    apl_store_close(s);
    cr_assert_eq(unlink(fx_path("db/data.mdb")), 0);
    rmdir(ix_db);
    refused(APL_E_SOURCE, "the label in row 2 is not a valid class name", "label\n\"x\ny\"\n");
    ix_options.skip_bad = 0;
    refused(APL_E_SOURCE, "the label in row 3 is empty", "n,label\n1,cat\n2,\n");
}

/* There is no memory for values then: nothing may be added to where it would begin. */
Test(format_list, texts_may_all_be_empty)
{
    put_text("in/t.csv", "a,b\n,\n,\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(apl_store_info(s)->records, 2);
    for (unsigned f = 0; f < 2; f++)
        for (size_t row = 0; row < 2; row++)
            cr_assert_str_eq(text_at(apl_batch_column(all, f), row), "");
    apl_batch_release(all);
    apl_store_close(s);
}

static int stop_after(void *user, const apl_ingest_progress *p)
{
    (void)p;
    return --*(int *)user < 0;
}

/* Wherever it is: a row that was not read to its end is not said to be a bad one. */
Test(format_list, cancelled)
{
    struct buffer table = {0};
    const char head[] = "a,b,c,d,split\n", row[] = "12.5,\"some text, in quotes\",77777,0.125,train\n";
    buffer_put(&table, head, sizeof head - 1);
    for (int i = 0; i < 40000; i++)
        buffer_put(&table, row, sizeof row - 1);
    ix_put_buffer("t.csv", &table);
    ix_options.progress = stop_after;
    for (int n = 0, calls; n < 60; n += is_repeated() ? 7 : 1) {
        calls = n;
        ix_options.user = &calls;
        apl_status status = ix_ingest((const char *const[]){"t.csv", NULL});
        cr_assert(status == APL_OK || status == APL_E_CANCELLED, "%d: %d %s", n, status, fx_err.message);
        if (status == APL_OK)
            break;
    }
}
