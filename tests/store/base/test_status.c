/* Failing: messages, statuses of system errors, and foreign text made safe to show. */
#include "status.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

Test(status, every_status_has_a_text)
{
    for (int s = 0; s <= 19; s++) {
        const char *text = apl_status_text((apl_status)s);
        cr_assert(text && *text && strcmp(text, "unknown status") != 0, "%d", s);
        for (int t = 0; t < s; t++)
            cr_assert_str_neq(text, apl_status_text((apl_status)t));
    }
    cr_assert_str_eq(apl_status_text((apl_status)20), "unknown status");
    cr_assert_str_eq(apl_status_text((apl_status)-1), "unknown status");
    cr_assert_str_eq(apl_version(), APL_VERSION_STRING);
}

Test(status, fail_fills_the_error)
{
    apl_error err = {APL_OK, 5, 6, 7, "old"};
    cr_assert_eq(fail(&err, APL_E_CORRUPT, "%s: block %u", "db", 7u), APL_E_CORRUPT);
    cr_assert_eq(err.status, APL_E_CORRUPT);
    cr_assert_eq(err.sys_errno, 0);
    cr_assert_str_eq(err.message, "db: block 7");
    cr_assert(err.first_record == 0 && err.records == 0);
    cr_assert_eq(fail_nomem(&err), APL_E_NOMEM);
    cr_assert_eq(err.status, APL_E_NOMEM);
}

Test(status, nobody_asks_for_the_error)
{
    cr_assert_eq(fail(NULL, APL_E_BUSY, "%d", 1), APL_E_BUSY);
    cr_assert_eq(fail_errno(NULL, ENOSPC, "%d", 1), APL_E_NOSPACE);
    cr_assert_eq(fail_in(NULL, APL_E_BUSY, "%d", 1), APL_E_BUSY);
    cr_assert_eq(fail_nomem(NULL), APL_E_NOMEM);
}

Test(status, statuses_of_system_errors)
{
    static const struct {
        int sys_errno;
        apl_status status;
    } cases[] = {{ENOSPC, APL_E_NOSPACE},   {EDQUOT, APL_E_NOSPACE}, {ENOMEM, APL_E_NOMEM},
                 {ENOENT, APL_E_NOTFOUND},  {EIO, APL_E_IO},         {EACCES, APL_E_IO},
                 {ENOTDIR, APL_E_NOTFOUND}, {EFBIG, APL_E_IO},       {0, APL_E_IO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        apl_error err;
        cr_assert_eq(fail_errno(&err, cases[i].sys_errno, "cannot open %s", "x"), cases[i].status);
        cr_assert_eq(err.status, cases[i].status);
        cr_assert_eq(err.sys_errno, cases[i].sys_errno);
        cr_assert(strncmp(err.message, "cannot open x: ", 15) == 0 && err.message[15], "%s", err.message);
    }
    apl_error err;
    fail_errno(&err, 987654, "that");
    cr_assert_not_null(strstr(err.message, "987654"), "%s", err.message);
}

Test(status, fail_in_puts_a_prefix)
{
    apl_error err;
    fail_errno(&err, ENOENT, "inner");
    char inner[sizeof err.message];
    strcpy(inner, err.message);
    cr_assert_eq(fail_in(&err, APL_E_NOTFOUND, "member %d", 3), APL_E_NOTFOUND);
    cr_assert(strncmp(err.message, "member 3: ", 10) == 0);
    cr_assert_str_eq(err.message + 10, inner);
    cr_assert_eq(err.status, APL_E_NOTFOUND);
    cr_assert_eq(err.sys_errno, ENOENT);
}

Test(status, records_stay_until_another_error)
{
    apl_error err;
    cr_assert_eq(sizeof err, 512);
    fail(&err, APL_E_CORRUPT, "inner");
    cr_assert_eq(fail_records(&err, APL_E_CORRUPT, 8, 4), APL_E_CORRUPT);
    cr_assert_eq(fail_records(NULL, APL_E_BUSY, 8, 4), APL_E_BUSY);
    fail_in(&err, APL_E_CORRUPT, "outer");
    cr_assert(err.first_record == 8 && err.records == 4);
    cr_assert_str_eq(err.message, "outer: inner");
    fail_nomem(&err);
    cr_assert(err.first_record == 0 && err.records == 0);
    fail_records(&err, APL_E_CORRUPT, 8, 4);
    fail_errno(&err, EIO, "another");
    cr_assert(err.first_record == 0 && err.records == 0);
}

Test(status, messages_are_cut_not_overrun)
{
    char longer[2000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    struct {
        apl_error err;
        char guard[8];
    } e;
    memset(e.guard, 'g', sizeof e.guard);
    fail(&e.err, APL_E_IO, "%s", longer);
    cr_assert_eq(strlen(e.err.message), sizeof e.err.message - 1);
    fail_in(&e.err, APL_E_IO, "prefix");
    cr_assert_eq(strlen(e.err.message), sizeof e.err.message - 1);
    cr_assert(strncmp(e.err.message, "prefix: xxx", 11) == 0);
    fail_in(&e.err, APL_E_IO, "%s", longer);
    fail_errno(&e.err, EIO, "%s", longer);
    cr_assert_eq(strlen(e.err.message), sizeof e.err.message - 1);
    cr_assert(memcmp(e.guard, "gggggggg", 8) == 0);
}

static apl_status tries(apl_status first)
{
    TRY(first);
    return APL_END;
}

static apl_status guards(apl_status first, int *cleaned)
{
    apl_status status;
    GUARD(first);
    status = APL_END;
out:
    ++*cleaned;
    return status;
}

Test(status, try_and_guard)
{
    int cleaned = 0;
    cr_assert_eq(tries(APL_OK), APL_END);
    cr_assert_eq(tries(APL_E_IO), APL_E_IO);
    cr_assert_eq(guards(APL_OK, &cleaned), APL_END);
    cr_assert_eq(guards(APL_E_BUSY, &cleaned), APL_E_BUSY);
    cr_assert_eq(cleaned, 2);
}

/* -------------------------------------------------------------------------------------------- printable */

static void expect_shown(const char *text, size_t length, const char *shown)
{
    char out[256];
    cr_assert_eq(printable(out, sizeof out, text, length), out);
    cr_assert_str_eq(out, shown);
}
#define SHOWN(text, shown) expect_shown(text, sizeof(text) - 1, shown)

Test(status, printable_leaves_text_alone)
{
    SHOWN("", "");
    SHOWN("cifar-10/data_batch_1.bin", "cifar-10/data_batch_1.bin");
    SHOWN("a\\x00", "a\\x00");
    SHOWN("\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xb1", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xb1");
    SHOWN("\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf", "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf");
    SHOWN("\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
}

Test(status, printable_escapes_control_bytes)
{
    SHOWN("a\0b", "a\\x00b");
    SHOWN("\x1b[2J\n\t\x7f", "\\x1b[2J\\x0a\\x09\\x7f");
    SHOWN("\xc2\x80\xc2\x9b\xc2\x9f", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f");
    char one;
    for (int c = 0; c < 32; c++) {
        char escaped[8];
        one = (char)c;
        snprintf(escaped, sizeof escaped, "\\x%02x", c);
        expect_shown(&one, 1, escaped);
    }
}

static void expect_escaped(const char *text)
{
    char in[256], out[256], wanted[256] = "<";
    snprintf(in, sizeof in, "<%s>", text);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        snprintf(wanted + strlen(wanted), 8, "\\x%02x", *c);
    strcat(wanted, ">");
    cr_assert_str_eq(apl_printable(out, sizeof out, in, strlen(in)), wanted);
}

/* What turns the direction of text, ends a line or has no width: a terminal would show another name. */
Test(status, printable_escapes_what_deceives)
{
    static const char *const texts[] = {
        "\u00ad", "\u034f",     "\u061c",     "\u115f",     "\u180e",   "\u200b",   "\u200c",  "\u200d",
        "\u200e", "\u200f",     "\u2028",     "\u2029",     "\u202a",   "\u202b",   "\u202c",  "\u202d",
        "\u202e", "\u2060",     "\u2066",     "\u2069",     "\u206f",   "\u3164",   "\ufeff",  "\uffa0",
        "\ufff9", "\U0001d173", "\U000e0001", "\U000e007f", "\xc2\x80", "\xc2\x9b", "\xc2\x9f"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_escaped(texts[i]);
    char out[8] = "kept", text[] = "\u00a0\u2027\u202f\u205f\u2070\ufffd\U0001f600\u05d0\u0627";
    cr_assert_eq(apl_printable(out, 0, "x", 1), out);
    cr_assert_str_eq(out, "kept");
    char all[64];
    cr_assert_str_eq(apl_printable(all, sizeof all, text, strlen(text)), text);
}

/* Joiners in a Persian word, in Hindi and in an emoji; and where nothing is joined, so that two names would look alike. */
Test(status, printable_leaves_joiners_between_what_they_join)
{
    static const char *const names[] = {"\u0645\u06cc\u200c\u0631\u0648\u0645", "\u0915\u094d\u200d\u0937",
                                        "\U0001f469\u200d\U0001f52c", "\u2764\ufe0f\u200d\U0001f525"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_shown(names[i], strlen(names[i]), names[i]);
    SHOWN("\u200dx", "\\xe2\\x80\\x8dx");
    SHOWN("cat\u200c", "cat\\xe2\\x80\\x8c");
    SHOWN("\u00e9\u200d", "\u00e9\\xe2\\x80\\x8d");
    SHOWN("\u0645\u200c\u200c", "\u0645\u200c\\xe2\\x80\\x8c");
    SHOWN("\u202e\u200c", "\\xe2\\x80\\xae\\xe2\\x80\\x8c");
}

Test(status, printable_escapes_what_is_no_utf8)
{
    SHOWN("\x80", "\\x80");
    SHOWN("\xff\xfe", "\\xff\\xfe");
    SHOWN("\xc3", "\\xc3");
    SHOWN("\xc3(", "\\xc3(");
    SHOWN("\xe2\x82", "\\xe2\\x82");
    SHOWN("\xe2\x82z", "\\xe2\\x82z");
    SHOWN("\xf0\x9f\x90", "\\xf0\\x9f\\x90");
    SHOWN("\xc0\xaf", "\\xc0\\xaf");                         /* overlong */
    SHOWN("\xc1\xbf", "\\xc1\\xbf");                         /* overlong */
    SHOWN("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf");                /* overlong */
    SHOWN("\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf");       /* overlong */
    SHOWN("\xed\xa0\x80", "\\xed\\xa0\\x80");                /* a surrogate */
    SHOWN("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");       /* above U+10FFFF */
    SHOWN("\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80");       /* above U+10FFFF */
    SHOWN("\xf8\x88\x80\x80", "\\xf8\\x88\\x80\\x80");       /* five bytes */
    SHOWN("\xe2\x82\xac\xe2\x82", "\xe2\x82\xac\\xe2\\x82"); /* the next one is cut */
}

/* Cut to any size, the text is a beginning of the whole, then "..." where there is room, and never breaks a
 * character or an escape. */
static void expect_cut(const char *text, size_t length, const char *whole, size_t size)
{
    char out[64];
    memset(out, 'g', sizeof out);
    printable(out, size, text, length);
    size_t n = strlen(out), full = strlen(whole);
    cr_assert(n < size, "size %zu: %zu", size, n);
    for (size_t i = size; i < sizeof out; i++)
        cr_assert_eq(out[i], 'g', "size %zu wrote at %zu", size, i);
    if (full < size) {
        cr_assert_str_eq(out, whole, "size %zu", size);
        return;
    }
    if (size >= 4) {
        cr_assert(n >= 3 && strcmp(out + n - 3, "...") == 0, "size %zu: %s", size, out);
        n -= 3;
    }
    cr_assert(memcmp(out, whole, n) == 0, "size %zu: %s", size, out);
    char again[64];
    printable(again, sizeof again, out, n);
    cr_assert(strlen(again) == n, "size %zu: a character is broken in %s", size, out);
    const char *escape = n >= 3 ? strchr(out + n - 3, '\\') : NULL;
    cr_assert(n < 3 || !escape || escape > out + n, "size %zu: an escape is broken in %s", size, out);
}

Test(status, printable_is_cut_at_every_size)
{
    static const struct {
        const char *text, *whole;
    } cases[] = {{"", ""},
                 {"abc", "abc"},
                 {"abcdefghij", "abcdefghij"},
                 {"\x01\x02z\x03", "\\x01\\x02z\\x03"},
                 {"\xe2\x82\xac\xe2\x82\xac\xf0\x9f\x90\xb1z", "\xe2\x82\xac\xe2\x82\xac\xf0\x9f\x90\xb1z"},
                 {"a\xc3\xa9\x80", "a\xc3\xa9\\x80"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t size = 1; size < 40; size++)
            expect_cut(cases[i].text, strlen(cases[i].text), cases[i].whole, size);
}

/* Whatever a message is made of, and wherever it is put together. */
Test(status, messages_can_be_printed)
{
    static const char said[] = "a\x1b[31m\xc2\x9b\xe2\x80\xae\xff\n";
    static const char safe[] = "a\\x1b[31m\\xc2\\x9b\\xe2\\x80\\xae\\xff\\x0a";
    char expected[256];
    apl_error err;
    fail(&err, APL_E_SOURCE, "near '%s'", said);
    snprintf(expected, sizeof expected, "near '%s'", safe);
    cr_assert_str_eq(err.message, expected);
    fail_in(&err, APL_E_SOURCE, "%s", said);
    snprintf(expected, sizeof expected, "%s: near '%s'", safe, safe);
    cr_assert_str_eq(err.message, expected);
    fail_errno(&err, ENOENT, "%s", said);
    cr_assert(strncmp(err.message, safe, strlen(safe)) == 0, "%s", err.message);
}

Test(status, a_long_message_is_cut_between_characters)
{
    char text[4000] = "";
    apl_error err;
    for (size_t i = 0; i + 3 < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa4", 3);
    fail(&err, APL_E_SOURCE, "x%s", text);
    size_t n = strlen(err.message);
    cr_assert(n >= sizeof err.message - 4 && strcmp(err.message + n - 3, "...") == 0, "%s", err.message);
}
