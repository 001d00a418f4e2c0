/* Whole numbers of .cls files, and which types have them, up to the largest. */
#include "wds_number.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(wds_number);

static void is(const char *text, int64_t value)
{
    int64_t found;
    cr_assert(wds_number((const uint8_t *)text, strlen(text), &found), "%s", text);
    cr_assert_eq(found, value, "%s", text);
}

static void is_none(const char *text)
{
    int64_t found;
    cr_assert_not(wds_number((const uint8_t *)text, strlen(text), &found), "%s", text);
}

Test(wds_number, of_64_bits)
{
    is("0", 0);
    is(" +7\r\n", 7);
    is("-0", 0);
    is("9223372036854775807", INT64_MAX);
    is("-9223372036854775807", -INT64_MAX);
    is("-9223372036854775808", INT64_MIN);
    is_none("9223372036854775808");
    is_none("-9223372036854775809");
    is_none("18446744073709551616");
    is_none("99999999999999999999");
    is_none("");
    is_none("-");
    is_none("1 2");
    is_none("1.0");
    is_none("--1");
}

Test(wds_number, whole_numbers_have_a_magnitude)
{
    bool negative;
    uint64_t magnitude;
    cr_assert(wds_whole((const uint8_t *)"18446744073709551615", 20, &negative, &magnitude));
    cr_assert(!negative && magnitude == UINT64_MAX);
    cr_assert_not(wds_whole((const uint8_t *)"18446744073709551616", 20, &negative, &magnitude));
}

Test(wds_number, types_have_what_fits)
{
    static const struct {
        apl_dtype dtype;
        uint64_t most, least; /* least: of negative ones, without the sign */
    } types[] = {{APL_U8, UINT8_MAX, 0},
                 {APL_U16, UINT16_MAX, 0},
                 {APL_U32, UINT32_MAX, 0},
                 {APL_U64, UINT64_MAX, 0},
                 {APL_I8, INT8_MAX, 128},
                 {APL_I16, INT16_MAX, 32768},
                 {APL_I32, INT32_MAX, (uint64_t)1 << 31},
                 {APL_I64, INT64_MAX, (uint64_t)1 << 63}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        cr_assert(wds_number_fits(types[i].dtype, false, types[i].most));
        cr_assert(types[i].most == UINT64_MAX || !wds_number_fits(types[i].dtype, false, types[i].most + 1));
        cr_assert(wds_number_fits(types[i].dtype, true, 0));
        cr_assert(wds_number_fits(types[i].dtype, true, types[i].least));
        cr_assert_not(wds_number_fits(types[i].dtype, true, types[i].least + 1));
    }
}
