/* What is said of tables whose rows and cells are parted in odd ways. */
#include "list_fixture.h"

TestSuite(list_notes, .init = list_set_up, .fini = fx_tear_down, .timeout = 60);

static void rows_and_words(const char *name, const char *text, uint64_t rows, const char *words)
{
    put_text(name, text);
    apl_store *s = IX_STORE(name);
    cr_assert_eq(apl_store_info(s)->records, rows, "%s", text);
    is_said_of(s, words);
}

Test(list_notes, a_carriage_return_alone_ends_a_row_with_a_line)
{
    rows_and_words(
        "in/t.tsv", "text\nfoo\rbar\n\nbaz\n", 3,
        "t.tsv: row 2 ends with a carriage return alone, unlike others; in CSV, one that is part of "
        "a text stands in quotes\n");
    rows_and_words("in/t.csv", "a,b\r\n1,2\r\n3,4\r5,6\r\n7,8\r9,0\r\n", 5,
                   "row 3 ends with a carriage return alone, unlike others (and 1 more); in CSV");
    put_text("in/u.csv", "a,b\n1,2\n3,4\r5,6\n");
    put_text("in/t.csv", "a,b\n1,2\n");
    is_said_of(IX_STORE("in/t.csv", "in/u.csv"), "in/u.csv: row 3 ends with");
}

Test(list_notes, other_line_ends_are_not_worth_a_line)
{
    rows_and_words("in/t.csv", "a,b\r1,2\r3,4\r", 2, NULL);             /* of old Macs */
    rows_and_words("in/t.csv", "a,b\r\n1,2\r\n3,4\r", 2, NULL);         /* at the end */
    rows_and_words("in/t.csv", "a,b\r\r\n1,2\r\r\n3,4\r\r\n", 2, NULL); /* translated twice */
    rows_and_words("in/t.csv", "a,b\nx,\"2\r3\"\n\"\r\",\n", 2, NULL);  /* in quotes it is text */
    rows_and_words("in/t.csv", "a,b\nx,\"2\r3\"\"\r\"\ny,z\n", 2, NULL);
}

/* Bytes come in pieces of 64 KiB: that one begins with what ends a row. */
Test(list_notes, a_carriage_return_at_the_end_of_a_piece)
{
    static char text[65536 + 64];
    for (int i = 0; i < 2; i++) {
        memset(text, 'x', sizeof text);
        memcpy(text, "a\n", 2);
        memcpy(text + 65536, i ? "\r\nyes\n" : "\ryes\nz\n", 7); /* the first piece has a byte more */
        text[65543] = 0;
        rows_and_words("in/t.csv", text, i ? 2 : 3, i ? NULL : "row 2 ends with a carriage return alone");
    }
}

Test(list_notes, blanks_behind_commas_are_no_part_of_cells)
{
    put_text("in/t.csv", "image, label\na.jpg, cat\nb.jpg, \" dog\"\n");
    apl_store *s = IX_STORE("in/t.csv");
    const apl_field *label = field_of(s, "label");
    cr_assert_eq(label->class_count, 2);
    cr_assert_str_eq(label->classes[0], " dog");
    cr_assert_str_eq(label->classes[1], "cat");
    is_said_of(s, "t.csv: blanks around cells are left out, as the first row has one behind each comma\n");
}

Test(list_notes, blanks_of_some_names_are_kept)
{
    put_text("in/t.csv", "x,y, z\n1,2, a\n");
    apl_store *s = IX_STORE("in/t.csv");
    field_of(s, " z");
    is_said_of(s, "t.csv: the name of the column ' z' has a blank at its beginning\n");
    rows_and_words("in/t.csv", "x,\"y, z\"\n1, a\n", 1, NULL);
    rows_and_words("in/t.tsv", "x\ty \n1\t2\n", 1, "the column 'y ' has a blank at its end");
    rows_and_words("in/t.jsonl", "{\" x\": 1}\n", 1, NULL);
}
