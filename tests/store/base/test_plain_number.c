/* Numbers as text, in programs whose locale has decimal commas. */
#include "plain_number.h"

#include "locale_case.h"
#include "status.h"

#include <string.h>

Test(plain_number, has_a_point_in_any_locale)
{
    char text[64], *end;
    if (!locale_has_commas())
        return;
    snprintf(text, sizeof text, "%.2f", 1234.5);
    cr_assert_str_eq(text, "1234,50"); /* as the program has it, before and after */
    cr_assert_eq(plain_print(text, sizeof text, "%.2f %g", 1234.5, 0.25), 12);
    cr_assert_str_eq(text, "1234.50 0.25");
    cr_assert(plain_read("1.5e3x", &end) == 1500.0 && *end == 'x'); /* NOLINT(clang-diagnostic-float-equal) */
    cr_assert(plain_read("1,5", &end) == 1.0 && *end == ',');       /* NOLINT(clang-diagnostic-float-equal) */
    snprintf(text, sizeof text, "%.2f", 1234.5);
    cr_assert_str_eq(text, "1234,50");
}

Test(plain_number, messages_have_them)
{
    apl_error err;
    if (!locale_has_commas())
        return;
    fail(&err, APL_E_INVALID, "a ratio of %g", 1.5);
    fail_in(&err, APL_E_INVALID, "%.1f", 0.5);
    cr_assert_str_eq(err.message, "0.5: a ratio of 1.5");
}
