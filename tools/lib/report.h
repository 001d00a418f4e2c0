/*
 * Numbers and names for people.
 *
 * The functions that return text use a dozen static buffers in turn, enough for the arguments of one printf. Call
 * them on the main thread only.
 */
#ifndef REPORT_H
#define REPORT_H

#include "apl.h"

#include <stdbool.h>

/* Foreign text made safe for a terminal, by apl_printable(); long text is cut. */
const char *shown(const char *text);
const char *shown_bytes(const void *text, size_t length);

/* The path or URL of a store the same way, without what may be secret in a URL: as messages of the library name it. */
const char *shown_db(const char *path);

/* How long a path is, or a URL without its query. */
size_t db_length(const char *path);

const char *count_text(uint64_t n);                    /* 60,000 */
const char *counted(uint64_t n, const char *what);     /* 1 record, 2 records */
const char *size_text(uint64_t bytes);                 /* 184.3 MB */
const char *ratio_text(uint64_t part, uint64_t whole); /* 0.559; "-" of nothing */
const char *rate_text(uint64_t bytes, double seconds); /* 196 MB/s */
const char *duration_text(double seconds);             /* 0.94 s, 2 min 05 s */
const char *digest_text(const uint8_t digest[32]);     /* 64 hexadecimal digits */
const char *number_text(const char *format, double v); /* by printf */

/* Seconds since some fixed moment. */
double now_seconds(void);

#endif
