/* Pages and keys of an LMDB file: see lmdb_page.h. */
#include "lmdb_page.h"

#include "whole.h"

apl_status page_bad(uint64_t page, const char *what, apl_error *err)
{
    return fail(err, APL_E_CORRUPT, "page %llu of the file: %s", (unsigned long long)page, what);
}

apl_status page_read(const struct lmdb_reader *lmdb, uint64_t offset, uint8_t *to, size_t bytes,
                     apl_error *err)
{
    if (lmdb->remote)
        return remote_read(lmdb->remote, offset, to, bytes, err);
    int code = read_whole(lmdb->fd, to, bytes, offset);
    if (code == WHOLE_ENDED)
        return fail(err, APL_E_CORRUPT, "it was truncated while it was open");
    return code ? fail_errno(err, code, "cannot read it") : APL_OK;
}

apl_status page_check(const uint8_t *page, uint64_t number, unsigned type, apl_error *err)
{
    if (load_le(page, 8) != number)
        return page_bad(number, "has another page's number", err);
    if (load_le(page + 10, 2) != type)
        return page_bad(number, "has a wrong type", err);
    return APL_OK;
}

int compare_keys(const struct key *a, const struct key *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->segment != b->segment)
        return a->segment < b->segment ? -1 : 1;
    return a->block < b->block ? -1 : a->block > b->block;
}
