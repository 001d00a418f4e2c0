/* Statuses, their texts, and filling the caller's apl_error. */
#include "status.h"

#include "plain_number.h"
#include "utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *apl_status_text(apl_status status)
{
    switch (status) {
    case APL_OK:
        return "done";
    case APL_END:
        return "no more";
    case APL_E_INVALID:
        return "wrong argument, or called at the wrong time";
    case APL_E_NOMEM:
        return "out of memory";
    case APL_E_IO:
        return "input or output failed";
    case APL_E_NOSPACE:
        return "no space left";
    case APL_E_EXISTS:
        return "a store exists already";
    case APL_E_NOTFOUND:
        return "not found";
    case APL_E_BUSY:
        return "another writer is at work on this store";
    case APL_E_CORRUPT:
        return "stored bytes are not what was written";
    case APL_E_VERSION:
        return "unknown format version";
    case APL_E_SOURCE:
        return "the source is damaged or not what it should be";
    case APL_E_INCOMPLETE:
        return "the source is incomplete";
    case APL_E_CANCELLED:
        return "cancelled";
    case APL_E_UNSUPPORTED:
        return "not supported here";
    case APL_E_MISMATCH:
        return "not what was expected";
    case APL_E_TIMEOUT:
        return "waited too long";
    case APL_E_LENT:
        return "too many batches have not been released";
    case APL_E_FORKED:
        return "the reader belongs to the parent process";
    case APL_E_REENTRANT:
        return "called from the reader's own callback";
    }
    return "unknown status";
}

const char *apl_version(void)
{
    return APL_VERSION_STRING;
}

#define LONGEST_TEXT (4 * sizeof(((apl_error *)0)->message)) /* of a message, before it is made to fit */

/* All messages are finished here: names, cells and what other libraries say of them come from anybody, and none of it reaches a
 * terminal as it came. What is safe already stays as it is. after: NULL, or what follows a colon. */
static void finish_message(apl_error *err, const char *after, const char *format, va_list args)
{
    char text[LONGEST_TEXT];
    plain_vprint(text, sizeof text, format, args);
    size_t length = strlen(text);
    if (after)
        snprintf(text + length, sizeof text - length, ": %s", after);
    apl_printable(err->message, sizeof err->message, text, strlen(text));
}

static void begin_error(apl_error *err, apl_status status, int sys_errno)
{
    err->status = status;
    err->sys_errno = sys_errno;
    err->first_record = err->records = 0;
}

apl_status fail(apl_error *err, apl_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        begin_error(err, status, 0);
        finish_message(err, NULL, format, args);
        va_end(args);
    }
    return status;
}

static apl_status status_of_errno(int sys_errno)
{
    switch (sys_errno) {
    case ENOMEM:
        return APL_E_NOMEM;
    case ENOSPC:
    case EDQUOT:
        return APL_E_NOSPACE;
    case ENOENT:
    case ENOTDIR:
        return APL_E_NOTFOUND;
    default:
        return APL_E_IO;
    }
}

apl_status fail_errno(apl_error *err, int sys_errno, const char *format, ...)
{
    apl_status status = status_of_errno(sys_errno);
    if (err) {
        char text[128];
        /* The POSIX strerror_r: strerror itself is not safe among threads. */
        if (strerror_r(sys_errno, text, sizeof text) != 0)
            snprintf(text, sizeof text, "errno %d", sys_errno);
        va_list args;
        va_start(args, format);
        begin_error(err, status, sys_errno);
        finish_message(err, text, format, args);
        va_end(args);
    }
    return status;
}

apl_status fail_nomem(apl_error *err)
{
    return fail(err, APL_E_NOMEM, "out of memory");
}

const char *number_into(struct number_text *to, uint64_t n, const char *one, const char *many)
{
    snprintf(to->text, sizeof to->text, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
    return to->text;
}

apl_status fail_records(apl_error *err, apl_status status, uint64_t first_record, uint64_t records)
{
    if (err) {
        err->first_record = first_record;
        err->records = records;
    }
    return status;
}

apl_status fail_in(apl_error *err, apl_status status, const char *format, ...)
{
    if (!err)
        return status;
    char inner[sizeof err->message];
    memcpy(inner, err->message, sizeof inner);
    va_list args;
    va_start(args, format);
    finish_message(err, inner, format, args);
    va_end(args);
    return status;
}

/* Ranges of characters that are not to reach a terminal: C1, line and paragraph separators, what turns the direction
 * of text, what no eye can tell apart. */
static const uint32_t unprintable[][2] = {
    {0x80, 0x9f},     {0xad, 0xad},     {0x034f, 0x034f},   {0x061c, 0x061c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180e, 0x180e},   {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
};

static bool may_be_printed(uint32_t character)
{
    for (size_t i = 0; i < sizeof unprintable / sizeof *unprintable; i++)
        if (character >= unprintable[i][0] && character <= unprintable[i][1])
            return false;
    return true;
}

#define JOINED_FROM \
    0x600 /* scripts whose letters have joiners between them, and emoji; none that resembles Latin */

/* U+200C and U+200D shape what they stand between, in Persian and Hindi and in emoji; elsewhere they are only invisible. */
static bool is_joiner(uint32_t character)
{
    return character == 0x200c || character == 0x200d;
}

/* Bytes of the well-formed UTF-8 character at text[0 ... length-1] that may go to a terminal, or 0. *before: the character before it, and
 * then itself; 0: none that was printed. */
static size_t printable_char(const unsigned char *text, size_t length, uint32_t *before)
{
    uint32_t character;
    size_t n = utf8_decode(text, length, &character);
    bool may = n == 1                 ? character >= 0x20 && character != 0x7f
               : is_joiner(character) ? *before >= JOINED_FROM && !is_joiner(*before)
                                      : n && may_be_printed(character);
    *before = may ? character : 0;
    return may ? n : 0;
}

char *apl_printable(char *out, size_t size, const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t used = 0, cut = 0; /* cut: the most of what is there that leaves room for "..." */
    uint32_t before = 0;
    if (size == 0)
        return out;
    for (size_t i = 0; i < length;) {
        size_t n = printable_char(at + i, length - i, &before);
        size_t width = n ? n : 4;
        if (used + width + 1 > size) {
            used = cut;
            if (size > used + 3)
                used += (size_t)snprintf(out + used, size - used, "...");
            break;
        }
        if (n)
            memcpy(out + used, at + i, n);
        else
            snprintf(out + used, 5, "\\x%02x", at[i]);
        used += width;
        i += n ? n : 1;
        if (used + 4 <= size)
            cut = used;
    }
    out[used < size ? used : size - 1] = 0;
    return out;
}
