/* Names that hide a member of a source, and those that do not. */
#include "hidden_path.h"

#include <criterion/criterion.h>

Test(hidden_path, hidden)
{
    static const char *const hidden[] = {".a", "a/.b/c", "...", "..a", "__MACOSX/a", "a/.b"};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        cr_assert(path_is_hidden(hidden[i]), "%s", hidden[i]);
}

Test(hidden_path, seen)
{
    static const char *const seen[] = {"", "a", "a/b.c", "../a/1.jpg", "a/../b", "./a", "a..b", "__MACOSX"};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        cr_assert(!path_is_hidden(seen[i]), "%s", seen[i]);
}
