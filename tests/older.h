/* Stores as they would have been written before format 1.6, whose manifests have digests of the blocks. */
#ifndef OLDER_H
#define OLDER_H

#include "store.h"
#include "store_fixture.h"

/* Mapped, whatever the environment says. */
static inline apl_store *older_open(const char *path)
{
    apl_store *s = NULL;
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    o.io = APL_IO_MAP;
    OK(apl_store_open(path, &o, &s, &fx_err));
    return s;
}

/* The store's manifest without them. */
static inline void older_manifest(const apl_store *s, struct buffer *out)
{
    const struct entry *head = s->lmdb.entries;
    struct manifest m;
    OK(manifest_decode(s->lmdb.map + head->offset, head->size, &m, &fx_err));
    m.digests.size = 0;
    OK(manifest_encode(&m, out, &fx_err));
    manifest_free(&m);
}

/* Its minor version then. */
static inline unsigned older_minor(const apl_store *s)
{
    struct buffer manifest = {0};
    older_manifest(s, &manifest);
    unsigned minor = (unsigned)load_le(manifest.data + 6, 2);
    buffer_free(&manifest);
    return minor;
}

/* Is `fresh` the store `golden`, to the byte, but for those digests? */
static inline bool older_is(const char *fresh, const char *golden)
{
    apl_store *a = older_open(fresh), *b = older_open(golden);
    struct buffer is = {0}, was = {0};
    older_manifest(a, &is);
    older_manifest(b, &was);
    bool same =
        is.size == was.size && memcmp(is.data, was.data, is.size) == 0 && a->lmdb.count == b->lmdb.count;
    for (size_t i = 1; same && i < a->lmdb.count; i++) {
        const struct entry *x = &a->lmdb.entries[i], *y = &b->lmdb.entries[i];
        same = memcmp(&x->key, &y->key, sizeof x->key) == 0 && x->size == y->size &&
               memcmp(a->lmdb.map + x->offset, b->lmdb.map + y->offset, x->size) == 0;
    }
    buffer_free(&is);
    buffer_free(&was);
    apl_store_close(a);
    apl_store_close(b);
    return same;
}

#endif
