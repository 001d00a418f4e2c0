/* Values as the text of JSON spells them: see json_spelling.h. */
#define _GNU_SOURCE /* memmem */
#include "json_spelling.h"

#include <string.h>

size_t json_count_values(const uint8_t *data, size_t size)
{
    size_t n = 1;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) { /* what stands outside of strings and parts values */
        if (data[i] == '"')
            quoted = !quoted;
        else if (quoted && data[i] == '\\')
            i++;
        else if (!quoted)
            n += data[i] == ',' || data[i] == ':' || data[i] == '[' || data[i] == '{';
    }
    return n;
}

json_t *json_load_line(const char *text, size_t size, bool *whole_as_real, json_error_t *why)
{
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, why);
    *whole_as_real = !object && json_error_code(why) == json_error_numeric_overflow;
    return *whole_as_real ? json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, why)
                          : object;
}

static bool is_json_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Behind the string that begins here. */
static const char *pass_string(const char *at)
{
    for (at++; *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at + 1;
}

/* To the first of these characters outside of strings, lists and objects. */
static const char *find_outside(const char *at, const char *ends)
{
    for (size_t depth = 0; depth > 0 || !strchr(ends, *at);) {
        if (*at == '"') {
            at = pass_string(at);
            continue;
        }
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        at++;
    }
    return at;
}

struct json_spelling json_next_value(const char **at)
{
    const char *begin = pass_string(strchr(*at, '"')); /* the key: before it are blanks, and '{' or ',' */
    begin = strchr(begin, ':') + 1;
    while (is_json_blank(*begin))
        begin++;
    const char *end = *at = find_outside(begin, ",}");
    while (is_json_blank(end[-1]))
        end--;
    return (struct json_spelling){begin, (size_t)(end - begin)};
}

/* A string of which jansson knows a plainer spelling. */
static void put_string(const char *text, size_t length, struct buffer *out)
{
    char *plain = NULL;
    if (memmem(text, length, "\\u", 2) || memmem(text, length, "\\/", 2)) {
        json_t *string = json_loadb(text, length, JSON_DECODE_ANY, NULL);
        plain = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
        json_decref(string);
        out->failed |= !plain;
    }
    buffer_put(out, plain ? plain : text, plain ? strlen(plain) : length);
    free(plain);
}

void json_put_value(struct json_spelling value, struct buffer *out)
{
    const char *at = value.text, *end = at + value.length;
    while (at < end) {
        const char *from = at;
        if (*at == '"') {
            at = pass_string(at);
            put_string(from, (size_t)(at - from), out);
            continue;
        }
        while (at < end && *at != '"' && !is_json_blank(*at))
            at++;
        if (at > from)
            buffer_put(out, from, (size_t)(at - from));
        while (at < end && is_json_blank(*at))
            at++;
    }
}
