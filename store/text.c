#include "text.h"

#include <string.h>

void text_put(struct buffer *b, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    buffer_le(b, n, 2);
    buffer_put(b, text, n);
}

const char *text_get(struct cursor *c, size_t *length)
{
    *length = cursor_u16(c);
    return (const char *)cursor_take(c, *length);
}

apl_status text_get_name(struct cursor *c, bool may_be_empty, char **name, apl_error *err)
{
    size_t length;
    const char *text = text_get(c, &length);
    if (!text || !(name_ok(text, length) || (may_be_empty && length == 0)))
        return fail(err, APL_E_CORRUPT, "a name is not printable UTF-8");
    free(*name);
    *name = strndup(text, length);
    return *name ? APL_OK : fail_nomem(err);
}
