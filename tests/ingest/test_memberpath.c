/* Paths of members. */
#include "memberpath.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void last_part(const char *path, const char *want)
{
    char *name = path_basename(path);
    cr_assert_str_eq(name, want);
    free(name);
}

Test(memberpath, basename)
{
    last_part("", "");
    last_part("/", "");
    last_part("///", "");
    last_part("a", "a");
    last_part("a/", "a");
    last_part("a//b//", "b");
    last_part("./a/b.bin", "b.bin");
    last_part("/b", "b");
    last_part("../..", "..");
}

Test(memberpath, leads_out)
{
    static const char *const out[] = {"/", "/a", "..", "../a", "a/..", "a/../b", "a//../b", "./.."};
    static const char *const in[] = {"",        "a", "a/b", "...",  "..a", "a..",
                                     "a/..b/c", ".", "./a", "a//b", "a/"};
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        cr_assert(path_leads_out(out[i]), "%s", out[i]);
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        cr_assert(!path_leads_out(in[i]), "%s", in[i]);
}
