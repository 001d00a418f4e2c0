/* Text broken between words: see wrapped.h. */
#define _XOPEN_SOURCE 700 /* wcwidth */
#include "wrapped.h"

#include "characters.h"
#include "terminal.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define NARROWEST 16u /* columns that are worth breaking text for */

/* Columns of one character; of one that the C library does not know, or of a part of one: 1. */
static unsigned character_width(const char *at, size_t bytes)
{
    wchar_t letter;
    mbstate_t state = {0};
    size_t n = mbrtowc(&letter, at, bytes, &state);
    int width = n <= bytes ? wcwidth(letter) : -1;
    return width < 0 ? 1 : (unsigned)width;
}

/* Text is UTF-8, whatever the locale. */
static unsigned width_of(const char *text, size_t bytes)
{
    static locale_t utf8;
    utf8 = utf8 ? utf8 : newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!utf8)
        return (unsigned)count_characters(text, bytes);
    locale_t before = uselocale(utf8);
    unsigned width = 0;
    for (size_t i = 0; i < bytes; i++)
        if (!continues_character(text[i]))
            width += character_width(text + i, bytes - i);
    uselocale(before);
    return width;
}

unsigned text_width(const char *text)
{
    return width_of(text, strlen(text));
}

/* The blanks that a text begins with, and the word after them, with the % that may follow that after a blank. */
static size_t word_bytes(const char *text)
{
    size_t bytes = strspn(text, " ");
    bytes += strcspn(text + bytes, " \n");
    return text[bytes] == ' ' && text[bytes + 1] == '%' ? bytes + 1 + strcspn(text + bytes + 1, " \n")
                                                        : bytes;
}

size_t line_bytes(const char *text, size_t room)
{
    size_t bytes = 0, width = 0;
    while (text[bytes] && text[bytes] != '\n') {
        size_t word = word_bytes(text + bytes);
        width += width_of(text + bytes, word);
        if (bytes && width > room)
            break;
        bytes += word;
    }
    return bytes;
}

static void put_wrapped(FILE *out, unsigned room, const char *text, unsigned column, unsigned indent)
{
    if (room < indent + NARROWEST) {
        fputs(text, out);
        return;
    }
    while (*text) {
        size_t bytes = line_bytes(text, room > column ? room - column : 0);
        fprintf(out, "%.*s", (int)bytes, text);
        text += bytes;
        if (*text)
            fprintf(out, "\n%*s", (int)indent, "");
        text += *text == '\n' ? 1 : strspn(text, " ");
        column = indent;
    }
}

void print_wrapped(const char *text, unsigned column, unsigned indent)
{
    put_wrapped(stdout, terminal_room(), text, column, indent);
}

void print_note(const char *line)
{
    put_wrapped(stderr, isatty(STDERR_FILENO) ? terminal_columns(STDERR_FILENO) : 0, line, 0, 2);
    fputc('\n', stderr);
}

void print_line(unsigned indent, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_wrapped(text, 0, indent);
    putchar('\n');
}
