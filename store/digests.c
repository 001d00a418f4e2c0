/* The entry DIGESTS: see digests.h. */
#include "digests.h"

#include "manifest_entry.h"

void digests_put(struct buffer *b, const struct buffer *digests)
{
    size_t at = entry_begin(b, TAG_DIGESTS, 0);
    buffer_le(b, digests->size / DIGEST_BYTES, 8);
    buffer_put(b, digests->data, digests->size);
    entry_end(b, at);
}

apl_status digests_get(struct cursor *c, struct buffer *digests, apl_error *err)
{
    uint64_t count = cursor_u64(c);
    if (digests->size)
        return fail(err, APL_E_CORRUPT, "it has two entries with digests");
    if (!cursor_ok(c) || count == 0 || count > cursor_left(c) / DIGEST_BYTES)
        return fail(err, APL_E_CORRUPT, "its entry with digests is cut");
    size_t bytes = (size_t)count * DIGEST_BYTES;
    buffer_put(digests, cursor_take(c, bytes), bytes);
    return digests->failed ? fail_nomem(err) : APL_OK;
}

apl_status digests_check(const struct buffer *digests, uint64_t count, apl_error *err)
{
    uint64_t is = digests->size / DIGEST_BYTES;
    return is == 0 || is == count ? APL_OK
                                  : fail(err, APL_E_CORRUPT, "it has %llu digests where %llu are due",
                                         (unsigned long long)is, (unsigned long long)count);
}
