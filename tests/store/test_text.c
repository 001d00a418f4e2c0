/* Texts among bytes. */
#include "text.h"

#include <criterion/criterion.h>

TestSuite(text);

Test(text, there_and_back)
{
    struct buffer b = {0};
    apl_error err;
    char *name = NULL;
    text_put(&b, "a name");
    text_put(&b, NULL);
    text_put(&b, "\x1b[31m");
    cr_assert_eq(b.size, 2 + 6 + 2 + 2 + 5);
    struct cursor c = cursor_over(b.data, b.size);
    cr_assert_eq(text_get_name(&c, false, &name, &err), APL_OK);
    cr_assert_str_eq(name, "a name");
    cr_assert_eq(text_get_name(&c, true, &name, &err), APL_OK, "in place of the one before");
    cr_assert_str_eq(name, "");
    cr_assert_eq(text_get_name(&c, true, &name, &err), APL_E_CORRUPT, "not printable");
    cr_assert_str_eq(name, "", "stays");
    free(name);
    buffer_free(&b);
}

Test(text, cut_or_empty)
{
    static const uint8_t cut[] = {3, 0, 'a', 'b'}, empty[] = {0, 0};
    struct cursor c = cursor_over(cut, sizeof cut);
    size_t length;
    cr_assert_null(text_get(&c, &length));
    cr_assert_eq(length, 3);
    char *name = NULL;
    c = cursor_over(cut, sizeof cut);
    cr_assert_eq(text_get_name(&c, true, &name, NULL), APL_E_CORRUPT);
    c = cursor_over(empty, sizeof empty);
    cr_assert_eq(text_get_name(&c, false, &name, NULL), APL_E_CORRUPT, "a name has a letter");
    cr_assert_null(name);
}
