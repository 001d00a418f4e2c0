/* Text into a buffer: what JSON and Prometheus's text format have in common. */
#ifndef BUFFER_TEXT_H
#define BUFFER_TEXT_H

#include "bytes.h"

/* As printf() would, up to 4095 bytes. */
void buffer_printf(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Any text in quotation marks, safe to print: quotation marks, backslashes and line feeds are escaped by a backslash. */
void buffer_quoted(struct buffer *b, const char *text);

#endif
