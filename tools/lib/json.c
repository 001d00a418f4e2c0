/* JSON, by jansson: see json.h. */
#include "json.h"

#include "args.h"
#include "report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When memory runs out, jansson leaves members out, and callers do not check each of them. */
static bool starved;

static void *json_allocate(size_t size)
{
    void *memory = malloc(size);
    starved |= !memory;
    return memory;
}

void report_starved(void)
{
    starved = true;
}

int report_complete(int status)
{
    return starved && !status ? failed("out of memory") : status;
}

__attribute__((constructor)) static void json_begin(void)
{
    json_set_alloc_funcs(json_allocate, free);
}

json_t *json_text_bytes(const void *text, size_t length)
{
    json_t *string = json_stringn(text, length);
    return string ? string : json_string(shown_bytes(text, length));
}

json_t *json_text(const char *text)
{
    return json_text_bytes(text, strlen(text));
}

json_t *json_db(const char *path)
{
    return json_text_bytes(path, db_length(path));
}

json_t *json_shown(const void *text, size_t length, size_t most)
{
    const char *at = text, *end = at + length;
    char *out = malloc(most + 8), *to = out;
    while (out && at < end && to < out + most) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        apl_printable(to, most + 4 - (size_t)(to - out), at, (size_t)(stop - at));
        to += strlen(to);
        if (newline)
            *to++ = '\n';
        at = stop + (newline != NULL);
    }
    json_t *string = out ? json_stringn(out, (size_t)(to - out)) : NULL;
    if (!out)
        report_starved();
    free(out);
    return string;
}

json_t *json_count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

json_t *json_digest(const uint8_t digest[32])
{
    return json_string(digest_text(digest));
}

json_t *json_failure(const apl_error *err)
{
    return json_pack("{s:b, s:i, s:o}", "ok", 0, "status", (int)err->status, "error",
                     json_text(err->message));
}

int print_json(json_t *object, int status)
{
    bool printed =
        object && !starved && json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0;
    json_decref(object);
    if (!printed && status) /* the failure itself is on stderr already */
        return status;
    if (!printed)
        return failed(starved ? "out of memory" : "cannot write JSON: out of memory or disk");
    putchar('\n');
    return status;
}
