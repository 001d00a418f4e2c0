/* Text on stdout that a terminal's window has no room for is broken between words; elsewhere lines stay whole, for programs. */
#ifndef WRAPPED_H
#define WRAPPED_H

#include <stddef.h>

/* From `column` on; what does not fit goes on below, at `indent`. */
void print_wrapped(const char *text, unsigned column, unsigned indent);

/* A line, by printf, which goes on below at `indent`. */
void print_line(unsigned indent, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line on stderr, likewise, which goes on below at column 2. */
void print_note(const char *line);

/* How many bytes of a text go on a line of `room` columns: whole words up to a newline, and at least one, however long. */
size_t line_bytes(const char *text, size_t room);

/* Columns that a text takes on a terminal: letters of Chinese, Japanese or Korean and emoji take two, combining marks none. */
unsigned text_width(const char *text);

#endif
