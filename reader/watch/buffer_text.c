/* Text into a buffer: see buffer_text.h. */
#include "buffer_text.h"

#include "plain_number.h"
#include "status.h"

#include <stdarg.h>

void buffer_printf(struct buffer *b, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    int n = plain_vprint(text, sizeof text, format, arguments);
    va_end(arguments);
    buffer_put(b, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void tell_line(struct buffer *b, const char *line, size_t length)
{
    char safe[1024];
    printable(safe, sizeof safe, line, length);
    for (const char *c = safe; *c; c++) {
        if (*c == '"' || *c == '\\')
            buffer_put(b, "\\", 1);
        buffer_put(b, c, 1);
    }
}

void buffer_quoted(struct buffer *b, const char *text)
{
    buffer_put(b, "\"", 1);
    for (;;) {
        size_t n = strcspn(text, "\n");
        tell_line(b, text, n);
        if (!text[n])
            break;
        buffer_put(b, "\\n", 2);
        text += n + 1;
    }
    buffer_put(b, "\"", 1);
}
