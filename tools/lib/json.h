/* JSON output. The one header that includes jansson.h. */
#ifndef JSON_H
#define JSON_H

#include "apl.h"

#include <jansson.h>

/* A JSON string from any bytes: text that is not UTF-8 is written as shown() escapes it. */
json_t *json_text(const char *text);
json_t *json_text_bytes(const void *text, size_t length);

/* The path of a store, or its URL without the query, which may be a secret. */
json_t *json_db(const char *path);

/* Text as it is shown, with what would be escaped in a terminal escaped, but for line feeds; cut behind about `most` bytes. */
json_t *json_shown(const void *text, size_t length, size_t most);
json_t *json_count(uint64_t n);
json_t *json_digest(const uint8_t digest[32]);

/* {"ok": false, "status": ..., "error": ...} */
json_t *json_failure(const apl_error *err);

/* Something was left out of a report because memory ran out: then a command must not succeed. */
void report_starved(void);

/* `status`; or 1, with a message, if `status` is 0 and something was left out. */
int report_complete(int status);

/* Prints the object and a newline on stdout and frees it; returns `status`, or EXIT_FAILURE if memory ran out. */
int print_json(json_t *object, int status);

#endif
