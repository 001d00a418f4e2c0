/* Values of JSON lines that become text: as the line spells them. */
#include "json_spelling.h"
#include "list_fixture.h"

TestSuite(json_spelling, .init = list_set_up, .fini = fx_tear_down, .timeout = 60);

static void check_text(const apl_store *s, const apl_batch *all, const char *column, size_t row,
                       const char *text)
{
    cr_assert_str_eq(text_at(ix_column(s, all, column), row), text);
}

Test(json_spelling, numbers_keep_their_digits)
{
    put_text("in/t.jsonl", "{ \"call\" : {\"t\": 0.7, \"p\":0.10, \"n\": [1e5, -0, 1E-7]} , \"v\" :0.3 }\n"
                           "{\"v\": \"x\", \"call\": {\"v\": 12345678901234567.0}}\r\n"
                           "{\"call\": null, \"v\": 1e5 }\n");
    apl_store *s = IX_STORE("in/t.jsonl");
    apl_batch *all = fx_get_all(s);
    check_text(s, all, "call", 0, "{\"t\":0.7,\"p\":0.10,\"n\":[1e5,-0,1E-7]}");
    check_text(s, all, "call", 1, "{\"v\":12345678901234567.0}");
    check_text(s, all, "call", 2, "");
    check_text(s, all, "v", 0, "0.3");
    check_text(s, all, "v", 1, "x");
    check_text(s, all, "v", 2, "1e5");
    apl_batch_release(all);
    apl_store_close(s);
}

/* What looks like the end of a value, in a string, is none; and keys are told by what they are, not by how they are written. */
Test(json_spelling, strings_in_values_are_utf8)
{
    put_text("in/t.jsonl", "{\"a}\\\"\": 1, \"l\": [ \"a b\\\"], }\" , true, [] , { } ], \"o\": {\"k:\\\\\": "
                           "\"\\u00e9\\/\\n\"}}\n"
                           "{\"\\u006f\": [\"\\\\u00e9\"], \"l\": [null]}\n"
                           "{\"o\": [\"a\\/b\"], \"l\": [1]}\n");
    apl_store *s = IX_STORE("in/t.jsonl");
    apl_batch *all = fx_get_all(s);
    check_text(s, all, "l", 0, "[\"a b\\\"], }\",true,[],{}]");
    check_text(s, all, "o", 0, "{\"k:\\\\\":\"\xc3\xa9/\\n\"}");
    check_text(s, all, "o", 1, "[\"\\\\u00e9\"]");
    check_text(s, all, "l", 1, "[null]");
    check_text(s, all, "o", 2, "[\"a/b\"]");
    apl_batch_release(all);
    apl_store_close(s);
}

Test(json_spelling, values_follow_each_other)
{
    const char *at = "{\"a\":1 ,\"b\" :\t[2, {\"c\":3}]}";
    struct json_spelling a = json_next_value(&at), b = json_next_value(&at);
    cr_assert(a.length == 1 && *a.text == '1');
    cr_assert(b.length == strlen("[2, {\"c\":3}]") && strncmp(b.text, "[2, {", 5) == 0);
    cr_assert_str_eq(at, "}");
}

Test(json_spelling, values_are_counted)
{
    const char text[] = "{\"a,[:\\\"\":[1,2]}";
    cr_assert_geq(json_count_values((const uint8_t *)text, sizeof text - 1), 5);
    cr_assert_leq(json_count_values((const uint8_t *)text, sizeof text - 1), 6);
}
