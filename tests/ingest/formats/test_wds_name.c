/* Names of members: the sample, up to the first dot, and what the member is to it. */
#include "wds_name.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(wds_name);

static void is(const char *name, const char *key, const char *ending, const char *kind)
{
    struct wds_name n;
    cr_assert(wds_name_read(&n, name), "%s", name);
    cr_assert(n.key == strlen(key) && memcmp(name, key, n.key) == 0, "%s", name);
    cr_assert_str_eq(n.ending, ending);
    cr_assert_str_eq(wds_ending_kind(n.ending), kind);
}

static void is_none(const char *name)
{
    struct wds_name n;
    cr_assert_not(wds_name_read(&n, name), "%s", name);
}

Test(wds_name, key_and_ending)
{
    is("0001.jpg", "0001", "jpg", "jpg");
    is("0001.JPG", "0001", "jpg", "jpg");
    is("a.b/Dog.Boxes.NPY", "a.b/Dog", "boxes.npy", "npy");
    is("./x.cls", "./x", "cls", "cls");
}

Test(wds_name, members_of_no_sample)
{
    is_none("0001");
    is_none(".jpg");
    is_none("a/.jpg");
    is_none("0001.");
    is_none("a.b/0001");
    is_none("__apl__/x.json");
}

Test(wds_name, long_endings_are_cut)
{
    char name[3 * WDS_ENDING];
    struct wds_name n;
    memset(name, 'X', sizeof name);
    name[1] = '.';
    name[sizeof name - 1] = 0;
    cr_assert(wds_name_read(&n, name));
    cr_assert_eq(strlen(n.ending), WDS_ENDING - 1);
    cr_assert_eq(strspn(n.ending, "x"), WDS_ENDING - 1);
}
