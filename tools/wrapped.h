/* Text on stdout that a terminal's window has no room for is broken between words; elsewhere lines stay whole, for programs. */
#ifndef WRAPPED_H
#define WRAPPED_H

#include <stddef.h>

/* From `column` on; what does not fit goes on below, at `indent`. */
void print_wrapped(const char *text, unsigned column, unsigned indent);

/* A line, by printf, which goes on below at `indent`. */
void print_line(unsigned indent, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How many bytes of a text go on a line of `room` columns: whole words up to a newline, and at least one, however long. */
size_t line_bytes(const char *text, size_t room);

/* Columns that a text takes, if all its characters are of single width. */
unsigned text_width(const char *text);

#endif
