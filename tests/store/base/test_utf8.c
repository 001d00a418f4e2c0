#include "utf8.h"

#include <criterion/criterion.h>

static bool valid(const char *text)
{
    return utf8_valid(text, strlen(text));
}

Test(utf8, well_formed)
{
    cr_assert(valid(""));
    cr_assert(valid("plain"));
    cr_assert(valid("\xc2\x80 \xdf\xbf"));
    cr_assert(valid("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf"));
    cr_assert(valid("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"));
    cr_assert(utf8_valid("\0", 1));
}

Test(utf8, ill_formed)
{
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2\x41",
        "\xe0\x9f\xbf",
        "\xe2\x82",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf0\x9f\x98",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80\x80",
        "\xff",
        "\xfe",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(!valid(bad[i]), "%zu", i);
}

/* ASCII is looked at in words of eight bytes. */
Test(utf8, at_every_place_among_ascii)
{
    for (size_t at = 0; at < 20; at++) {
        char text[24] = "aaaaaaaaaaaaaaaaaaaaaaa";
        memcpy(text + at, "\xc3\xa4", 2);
        cr_assert(valid(text), "%zu", at);
        text[at + 1] = 'a';
        cr_assert(!valid(text), "%zu", at);
        memcpy(text + at, "\x7f\x80", 2);
        cr_assert(!valid(text), "%zu", at);
    }
}

/* A character cut by the end of the text. */
Test(utf8, cut)
{
    cr_assert(!utf8_valid("\xe2\x82\xac", 2));
    cr_assert(utf8_valid("\xe2\x82\xac", 3));
}
