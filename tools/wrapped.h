/* Text on stdout that a terminal's window has no room for is broken between words; elsewhere lines stay whole, for programs. */
#ifndef WRAPPED_H
#define WRAPPED_H

/* From `column` on; what does not fit goes on below, at `indent`. */
void print_wrapped(const char *text, unsigned column, unsigned indent);

/* A line, by printf, which goes on below at `indent`. */
void print_line(unsigned indent, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Columns that a text takes, if all its characters are of single width. */
unsigned text_width(const char *text);

#endif
