/* Reading the manifest of a new store back: see sealed.h. */
#include "sealed.h"

#include "store.h"

apl_status sealed_check(int file, const struct buffer *manifest, apl_error *err)
{
    struct lmdb_reader lmdb;
    struct buffer copy = {0};
    struct manifest m = {0};
    const struct entry *blocks;
    TRY(lmdb_reader_open(file, APL_IO_AUTO, &lmdb, err));
    apl_status status = store_index(&lmdb, &m, &blocks, err);
    if (status == APL_OK) {
        const struct entry *e = lmdb_reader_find(&lmdb, (struct key){KEY_MANIFEST, 0, 0});
        manifest_free(&m);
        status = lmdb_reader_copy(&lmdb, e, &copy, err);
        if (status == APL_OK &&
            (copy.size != manifest->size || memcmp(copy.data, manifest->data, copy.size) != 0))
            status = fail(err, APL_E_CORRUPT, "the manifest is not what was written");
    }
    buffer_free(&copy);
    lmdb_reader_close(&lmdb);
    return status;
}
