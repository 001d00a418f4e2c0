/* Quotas of control groups, from the text of the system's files; whatever is odd there is no quota. */
#include "quota.h"

#include <criterion/criterion.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

Test(quota, of_version_2)
{
    static const struct {
        const char *text;
        unsigned cores;
    } cases[] = {
        {"max 100000\n", 0},
        {"100000 100000\n", 1},
        {"150000 100000\n", 2},
        {"200000 100000", 2},
        {"1000 100000\n", 1},
        {"1600000 50000\n", 32},
        {"999999999999999999 1\n", 65536},
        {"1000000000000000000 1\n", 0},
        {"", 0},
        {"\n", 0},
        {"max\n", 0},
        {"100000\n", 0},
        {"100000 \n", 0},
        {"100000 0\n", 0},
        {"0 100000\n", 0},
        {" 100000 100000\n", 0},
        {"-1 100000\n", 0},
        {"1e5 100000\n", 0},
        {"100000 100000x\n", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        cr_assert_eq(quota_of_max(cases[i].text), cases[i].cores, "'%s'", cases[i].text);
}

Test(quota, of_version_1)
{
    cr_assert_eq(quota_of("-1\n", "100000\n"), 0);
    cr_assert_eq(quota_of("250000\n", "100000\n"), 3);
    cr_assert_eq(quota_of("50000\n", "100000\n"), 1);
    cr_assert_eq(quota_of("50000\n", ""), 0);
    cr_assert_eq(quota_of("", "100000\n"), 0);
}

static const char *group_of(const char *text, const char *controller)
{
    static char group[32];
    memset(group, '?', sizeof group);
    quota_group(text, controller, group, sizeof group);
    return group;
}

Test(quota, groups)
{
    static const char mixed[] =
        "12:cpuset:/other\n4:cpu,cpuacct:/docker/5f\n1:name=systemd:/init\n0::/user.slice\n";
    cr_assert_str_eq(group_of(mixed, "cpu"), "/docker/5f");
    cr_assert_str_eq(group_of(mixed, ""), "/user.slice");
    cr_assert_str_eq(group_of("3:cpuacct,cpu:/a:b\n", "cpu"), "/a:b");
    cr_assert_str_eq(group_of("0::/\n", ""), "/");
    cr_assert_str_eq(group_of("0::/\n", "cpu"), "/");
    cr_assert_str_eq(group_of("", ""), "/");
}

Test(quota, groups_that_cannot_be)
{
    static const char *const texts[] = {"0::/../beside\n",
                                        "0::/a/../../b\n",
                                        "0::/cut off",
                                        "0::\n",
                                        "0::relative\n",
                                        "0:\n",
                                        ":\n",
                                        "::\n",
                                        "\n\n",
                                        "0::/longer than thirty-two bytes are\n"};
    for (size_t i = 0; i < COUNT(texts); i++)
        cr_assert_str_eq(group_of(texts[i], ""), "/", "'%s'", texts[i]);
    cr_assert_str_eq(group_of("0::/31 bytes, and the closing NULs\n", ""), "/31 bytes, and the closing NULs");
    cr_assert_str_eq(group_of("0::/32 bytes, and the closing NUL's\n", ""), "/");
}

Test(quota, of_this_process_is_the_same_each_time)
{
    unsigned first = quota_cores();
    cr_assert_leq(first, 65536);
    cr_assert_eq(quota_cores(), first);
}
