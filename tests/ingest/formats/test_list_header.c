/* The first row of a table, which has the names of its columns. */
#include "list_fixture.h"

TestSuite(list_header, .init = list_set_up, .fini = fx_tear_down, .timeout = 60);

static void refused(const char *words, const char *text)
{
    put_text("in/t.csv", text);
    IX_REFUSED(APL_E_SOURCE, words, "in/t.csv");
}

/* What is said of a table whose first row may be no header, or nothing. */
static void said_of_header(const char *name, const char *text, const char *words)
{
    put_text(name, text);
    is_said_of(IX_STORE(name), words);
}

Test(list_header, a_first_row_that_looks_like_a_record_is_worth_a_line)
{
    said_of_header(
        "in/t.csv", "5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,,virginica\n",
        "t.csv: the first row is taken for the names of the columns; if it is a record, as the number '5.1' "
        "suggests, put a row of names before it\n");
    said_of_header("in/t.tsv", "0\ta fine film\n1\tbad\n", "as the number '0' suggests");
    said_of_header("in/t.csv", "a,2\nb,3\n", "as the number '2' suggests");
    said_of_header("in/t.csv", "true,[1],2\nFALSE,[2],3\n", "as the number '2' suggests");
    said_of_header("in/t.csv", "cat,true\ndog,false\n", "if it is a record, as 'true' suggests");
    said_of_header("in/t.csv", "nan,a\n1.5,b\n", "as 'nan' suggests");
    said_of_header("in/t.csv", "a,-Inf\nb,1\nc,\n", "as '-Inf' suggests");
    said_of_header("in/t.csv", "\"[1, 2]\",cat\n\"[3, 4]\",dog\n", "as '[1, 2]' suggests");
    said_of_header("in/t.csv", "007,a\n008,b\n", "as the number '007' suggests");
    said_of_header("in/t.csv", "00501,NY\n90210,CA\n01234,MA\n", "as the number '00501' suggests");
    said_of_header("in/t.csv", "2020-01-01,a\n2020-01-02,b\n", "as '2020-01-01' suggests");
    said_of_header("in/t.csv", ",0,1\n0,1.5,2\n1,2.5,3\n", NULL);
    said_of_header("in/t.csv", "0,1\n1.5,2\n", NULL);
    said_of_header("in/t.csv", "1,x\na,2\nb,3\n", NULL);
    said_of_header("in/t.csv", "1,x\n,2\n", NULL);
    said_of_header("in/t.jsonl", "{\"5.1\": 1}\n", NULL);
}

/* A name that could be no cell of its column is one. */
Test(list_header, a_first_row_of_names_and_numbers_is_a_header)
{
    said_of_header("in/t.csv", "id,1990,1991\n7,1.5,2\n8,2.5,3\n", NULL);
    said_of_header("in/t.csv", "known,1990\ntrue,1.5\nfalse,2.5\n", NULL);
    said_of_header("in/t.csv", "box,1990\n[1],1.5\n[2],2.5\n", NULL);
    said_of_header("in/t.csv", "country,false,true\nFR,1,2\nDE,3,4\n", NULL); /* how many of each */
    said_of_header("in/t.csv", "country,nan\nFR,true\n", NULL);
    said_of_header("in/t.csv", "country,2020-01-01\nFR,1.5\n", NULL);
    said_of_header("in/t.csv", "country,2020-01-01\nFR,up\n", NULL);
    said_of_header("in/t.csv", "day,month-1\n2020-01-01,2020-02-01\n", NULL);
    said_of_header("in/t.csv", "-,.\n2020-01-01,a\n", NULL);
    said_of_header("in/t.csv", "true,b\nx,y\n", NULL);
    said_of_header("in/t.csv", "inf,date\n5,2020-01-01\n", NULL);
    said_of_header("in/t.csv", ",1990,1991\n0,1.5,2\n1,2.5,3\n", NULL);
    said_of_header("in/t.csv", "country,1990\nFR,1.5\n", "if it is a record, as the number '1990' suggests");
}

Test(list_header, several_tables_without_headers)
{
    put_text("in/a.csv", "5.1,setosa\n4.9,setosa\n");
    put_text("in/b.csv", "7.0,virginica\n");
    IX_REFUSED(APL_E_SOURCE, "in/a.csv has: the first row of each table has the names of its columns",
               "in/a.csv", "in/b.csv");
    put_text("in/a.csv", "5.1,1.4,1.4\n4.9,1.5,0.2\n");
    IX_REFUSED(APL_E_SOURCE, "a.csv: has two columns called 1.4, as the first row has the names of columns",
               "in/a.csv");
}

/* The name of a column is no image, unless that is said. */
Test(list_header, tables_have_a_header)
{
    refused("in/t.csv: has no header: its first row names an image, a.jpg, where", "a.jpg,cat\nb.jpg,dog\n");
    refused("has no header: its first row names an image, b.jpg,", "cat,b.jpg,c.jpg\ndog,c.jpg,d.jpg\n");
    ix_options.image_column = "a.jpg";
    put_text("in/t.csv", "a.jpg,kind\nb.jpg,cat\n");
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(apl_store_info(s)->records, 1);
    apl_store_close(s);
    ix_options.image_column = NULL;
    put_text("in/t.jsonl", "{\"a.jpg\": \"b.jpg\"}\n");
    s = IX_STORE("in/t.jsonl");
    cr_assert_eq(apl_store_info(s)->records, 1);
    apl_store_close(s);
}
