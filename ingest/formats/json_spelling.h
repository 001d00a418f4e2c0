/* Lines of JSON, and how their text spells values. It must have been parsed, and so be valid. */
#ifndef JSON_SPELLING_H
#define JSON_SPELLING_H

#include "bytes.h"
#include "jsontext.h"

/* At least as many as the text has values, names included; this text may be anything. */
size_t json_count_values(const uint8_t *data, size_t size);

/* The object of a line; NULL: *why says what is wrong with it. Whole numbers beyond i64 are no integers to jansson: in a line that has
 * one, all become reals, and their spelling says what they are. */
json_t *json_load_line(const char *text, size_t size, bool *whole_as_real, json_error_t *why);

/* The text of the next value of an object; *at is the object's text, and then moves on. Values come as often as jansson finds keys, and
 * in the same order. */
struct json_spelling {
    const char *text;
    size_t length;
};
struct json_spelling json_next_value(const char **at);

/* Appends a value without blanks, its numbers as they are spelled: printing what was parsed gives other digits. The characters of strings
 * are in UTF-8, whether or not they were written as \u. Failures are the buffer's. */
void json_put_value(struct json_spelling value, struct buffer *out);

#endif
