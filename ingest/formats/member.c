/* Copies what comes in portions: see member.h. */
#include "member.h"

apl_status member_append(const struct format_member *m, uint64_t size, struct buffer *bytes, apl_error *err)
{
    if (size >= SIZE_MAX || !buffer_reserve(bytes, (size_t)size + 1))
        return fail_nomem(err);
    for (uint64_t left = size; left > 0;) {
        size_t n = cursor_left(m->cursor);
        n = n == 0 ? 1 : n < left ? n : (size_t)left;
        const uint8_t *data = cursor_take(m->cursor, n);
        if (!data)
            return fail(err, APL_E_SOURCE, "cut off");
        buffer_put(bytes, data, n);
        left -= n;
    }
    return APL_OK;
}
