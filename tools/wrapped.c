/* Text broken between words: see wrapped.h. */
#include "wrapped.h"

#include "terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NARROWEST 16u /* columns that are worth breaking text for */

static unsigned width_of_bytes(const char *text, size_t bytes)
{
    unsigned width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += (text[i] & 0xc0) != 0x80;
    return width;
}

unsigned text_width(const char *text)
{
    return width_of_bytes(text, strlen(text));
}

/* A word, with the % that may follow it after a blank. */
static size_t word_bytes(const char *text)
{
    size_t bytes = strcspn(text, " ");
    return text[bytes] == ' ' && text[bytes + 1] == '%' ? bytes + 1 + strcspn(text + bytes + 1, " ") : bytes;
}

void print_wrapped(const char *text, unsigned column, unsigned indent)
{
    unsigned room = terminal_room(), start = column;
    if (room < indent + NARROWEST) {
        fputs(text, stdout);
        return;
    }
    while (*text) {
        unsigned blanks = (unsigned)strspn(text, " ");
        size_t bytes = word_bytes(text + blanks);
        unsigned width = width_of_bytes(text + blanks, bytes);
        if (column > start && column + blanks + width > room) {
            printf("\n%*s", (int)indent, "");
            start = column = indent;
            blanks = 0;
            text += strspn(text, " ");
        }
        printf("%.*s", (int)(blanks + bytes), text);
        text += blanks + bytes;
        column += blanks + width;
    }
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
