/* Text broken between words: see wrapped.h. */
#include "wrapped.h"

#include "characters.h"
#include "terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NARROWEST 16u /* columns that are worth breaking text for */

unsigned text_width(const char *text)
{
    return (unsigned)count_characters(text, strlen(text));
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
        width += count_characters(text + bytes, word);
        if (bytes && width > room)
            break;
        bytes += word;
    }
    return bytes;
}

void print_wrapped(const char *text, unsigned column, unsigned indent)
{
    unsigned room = terminal_room();
    if (room < indent + NARROWEST) {
        fputs(text, stdout);
        return;
    }
    while (*text) {
        size_t bytes = line_bytes(text, room > column ? room - column : 0);
        printf("%.*s", (int)bytes, text);
        text += bytes;
        if (*text)
            printf("\n%*s", (int)indent, "");
        text += *text == '\n' ? 1 : strspn(text, " ");
        column = indent;
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
