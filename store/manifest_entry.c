/* The pieces that the entries of a manifest are made of: see manifest_entry.h. */
#include "manifest_entry.h"

#include <stdlib.h>
#include <string.h>

apl_status bad_manifest(apl_error *err, const char *what)
{
    return fail(err, APL_E_CORRUPT, "the manifest is damaged: %s", what);
}

size_t entry_begin(struct buffer *b, enum tag tag, unsigned flags)
{
    buffer_le(b, tag, 2);
    buffer_le(b, flags, 2);
    buffer_le(b, 0, 4);
    return b->size;
}

void entry_end(struct buffer *b, size_t begin)
{
    if (!b->failed)
        store_le(b->data + begin - 4, b->size - begin, 4);
}

apl_status get_name(struct cursor *c, bool may_be_empty, char **name, apl_error *err)
{
    apl_error inner;
    apl_status status = text_get_name(c, may_be_empty, name, &inner);
    return status == APL_E_CORRUPT ? bad_manifest(err, inner.message)
           : status == APL_OK      ? APL_OK
                                   : fail_nomem(err);
}

/* It has room for a power of two of them. */
apl_status grow_list(void *list_at, uint32_t count, size_t size, apl_error *err)
{
    void **list = list_at;
    if (count >= MANIFEST_MAX_LIST)
        return bad_manifest(err, "a list is too long");
    if (count & (count - 1))
        return APL_OK;
    void *grown = realloc(*list, (count ? 2 * (size_t)count : 1) * size);
    if (!grown)
        return fail_nomem(err);
    *list = grown;
    return APL_OK;
}
