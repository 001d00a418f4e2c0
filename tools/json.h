/* JSON for programs. The one header that includes jansson.h, whose objects the commands put together. */
#ifndef JSON_H
#define JSON_H

#include "apl.h"

#include <jansson.h>

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
