/* Opening the file of a store below a URL: see store_file.h. */
#include "staging.h"
#include "store_file.h"

/* Walks the file that is open, and takes it over. */
static apl_status walk_elsewhere(apl_store *store, struct remote *file, apl_error *err)
{
    store->inode = (ino_t)remote_identity(file);
    struct remote *held = remote_retain(file);
    apl_status status = lmdb_reader_open_remote(file, &store->lmdb, err);
    if (status == APL_OK)
        status = store_index(&store->lmdb, &store->manifest, &store->blocks, err);
    if (status == APL_E_CORRUPT) /* in the cache too */
        remote_forget(held, 0, remote_size(held));
    remote_release(held);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s/%s", store->name, STORE_FILE);
}

static apl_status open_pages_once(apl_store *store, apl_error *err)
{
    struct url url;
    struct remote *file;
    TRY(url_below(&store->url, STORE_FILE, &url, err));
    TRY(remote_open(&url, &store->remote, &file, err));
    return walk_elsewhere(store, file, err);
}

apl_status store_open_pages_below(apl_store *store, apl_error *err)
{
    apl_status status = open_pages_once(store, err);
    if (status != APL_E_CORRUPT)
        return status;
    lmdb_reader_close(
        &store->lmdb); /* bytes may have been damaged on the way: they are asked for once more */
    return open_pages_once(store, err);
}

apl_status store_open_below(const struct url *above, const char *name, const struct remote_options *remote,
                            apl_store **store, apl_error *err)
{
    struct url url;
    apl_store *s;
    TRY(url_below(above, name, &url, err));
    apl_status status = store_new(url_shown(&url), &s, err);
    if (status != APL_OK) {
        url_free(&url);
        return status;
    }
    s->url = url;
    s->remote = *remote;
    s->remote.origin = origin_retain(remote->origin);
    status = store_open_pages_below(s, err);
    if (status == APL_OK)
        *store = s;
    else
        store_release_file(s);
    return status;
}
