/*
 * Numbers, names and tables for people, and JSON for programs.
 *
 * The functions that return text hand out one of a few buffers in turn: it lives until a dozen more have been
 * asked for, long enough for one printf. They belong to the main thread.
 */
#ifndef REPORT_H
#define REPORT_H

#include "apl.h"

#include <jansson.h>
#include <stdbool.h>

/* Foreign text made safe for a terminal, by apl_printable(); long text is cut. */
const char *shown(const char *text);
const char *shown_bytes(const void *text, size_t length);

const char *count_text(uint64_t n);                    /* 60,000 */
const char *size_text(uint64_t bytes);                 /* 184.3 MB */
const char *ratio_text(uint64_t part, uint64_t whole); /* 0.559; "-" of nothing */
const char *rate_text(uint64_t bytes, double seconds); /* 196 MB/s */
const char *duration_text(double seconds);             /* 0.94 s, 2 min 05 s */
const char *digest_text(const uint8_t digest[32]);     /* 64 hexadecimal digits */
const char *number_text(const char *format, double v); /* by printf */

/* Seconds since some fixed moment. */
double now_seconds(void);

/* A string for JSON, whatever the bytes: text that is no UTF-8 goes in as shown() has it. */
json_t *json_text(const char *text);
json_t *json_text_bytes(const void *text, size_t length);
json_t *json_count(uint64_t n);
json_t *json_digest(const uint8_t digest[32]);

/* {"ok": false, "status": ..., "error": ...} */
json_t *json_failure(const apl_error *err);

/* Something that was to be reported was left out for want of memory: then a command must not succeed. */
void report_starved(void);

/* `status`; or 1, with a message, if it is 0 and something has been left out. */
int report_complete(int status);

/* Prints the object and a newline on stdout and drops it; returns `status`, or EXIT_FAILURE where memory ran
 * out. */
int print_json(json_t *object, int status);

#endif
