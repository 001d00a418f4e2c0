/* Saying what the fields of a store are, once it is sealed: apl_store_set_kinds(). */
#include "digests.h"
#include "hash.h"
#include "lmdb_write.h"
#include "sealed.h"
#include "set.h"
#include "staging.h"
#include "store.h"
#include "stored_kinds.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

struct set_kinds {
    apl_store *store; /* the one that is replaced; its manifest becomes the new one's */
    struct staging *staging;
    struct lmdb_writer *lmdb;
    struct buffer value;
    int file;
    int (*progress)(void *user, uint64_t done, uint64_t of);
    void *user;
};

/* ----------------------------------------------------------------------------------------------- kinds */

static apl_status take_kind(struct schema *schema, const char *text, apl_error *err)
{
    char field[APL_MAX_NAME + 1];
    apl_kind kind;
    TRY(apl_kind_parse(text, field, &kind, err));
    int found = schema_find(schema, field);
    if (found < 0)
        return fail(err, APL_E_NOTFOUND, "has no field %s", field);
    return schema_set_kind(schema, (unsigned)found, &kind, err);
}

/* A new manifest of 1.6 must have all that such manifests have; only reading the values could tell what older ones lack. */
static apl_status check_version(const struct manifest *m, apl_error *err)
{
    if (m->info.format_minor > FORMAT_MINOR)
        return fail(
            err, APL_E_VERSION,
            "was written in format %u.%u, and this library (%s) would lose what it does not know of it",
            m->info.format_major, m->info.format_minor, APL_VERSION_STRING);
    for (unsigned f = 0; f < m->schema.count && m->info.format_minor < FORMAT_MINOR_PRODUCTS; f++)
        if (schema_has_colours(&m->schema, f))
            return fail(
                err, APL_E_UNSUPPORTED,
                "was written in format %u.%u, without the statistics that images have since: copy it with "
                "apldata extract, and say it of the copy",
                m->info.format_major, m->info.format_minor);
    return APL_OK;
}

static apl_status take_kinds(apl_store *store, const char *const *kinds, size_t count, apl_error *err)
{
    struct schema *schema = &store->manifest.schema;
    apl_status status = check_version(&store->manifest, err);
    for (size_t i = 0; i < count && status == APL_OK; i++)
        status = take_kind(schema, kinds[i], err);
    if (status == APL_OK)
        status = schema_check_kinds(schema, err);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s", store->name);
}

/* ---------------------------------------------------------------------------------------------- copying */

/* A value of the old file, in memory that nobody else changes. Blocks are what the manifest says, if it has digests; without, each
 * has its own checksums, and is copied with what may be wrong with it. */
static apl_status take_old_value(struct set_kinds *k, size_t i, apl_error *err)
{
    const struct lmdb_reader *from = &k->store->lmdb;
    const struct manifest *m = &k->store->manifest;
    uint8_t digest[DIGEST_BYTES];
    size_t block = i - 1; /* the manifest is the first value */
    k->value.size = 0;
    TRY(lmdb_reader_copy(from, &from->entries[i], &k->value, err));
    if (m->digests.size == 0 || block >= m->info.blocks)
        return APL_OK;
    hash_sha256(k->value.data, k->value.size, digest);
    return memcmp(digest, digest_of(&m->digests, block), sizeof digest) == 0
               ? APL_OK
               : store_block_error(k->store, block, fail(err, APL_E_CORRUPT, BLOCK_IS_ANOTHER), err);
}

static apl_status copy_coded(struct set_kinds *k, apl_error *err)
{
    const struct lmdb_reader *from = &k->store->lmdb;
    for (size_t i = 1; i < from->count; i++) {
        TRY(take_old_value(k, i, err));
        TRY(lmdb_writer_put(k->lmdb, from->entries[i].key, k->value.data, k->value.size, err));
        if (k->progress && k->progress(k->user, i, from->count - 1))
            return fail(err, APL_E_CANCELLED, "cancelled");
    }
    return lmdb_writer_commit(k->lmdb, err);
}

/* What has been written is compared with what it was copied from. */
static apl_status compare_coded(struct set_kinds *k, apl_error *err)
{
    struct lmdb_reader to;
    const struct lmdb_reader *from = &k->store->lmdb;
    struct buffer scratch = {0};
    const uint8_t *bytes;
    TRY(lmdb_reader_open(k->file, APL_IO_AUTO, &to, err));
    apl_status status = to.count == from->count - 1 ? APL_OK : fail(err, APL_E_CORRUPT, "blocks were lost");
    for (size_t i = 1; i < from->count && status == APL_OK; i++) {
        GUARD(take_old_value(k, i, err));
        GUARD(lmdb_reader_value(&to, &to.entries[i - 1], &scratch, &bytes, err));
        if (to.entries[i - 1].size != k->value.size || memcmp(bytes, k->value.data, k->value.size) != 0)
            status = fail(err, APL_E_CORRUPT, "a block is not what was written");
    }
out:
    buffer_free(&scratch);
    lmdb_reader_close(&to);
    return status;
}

static apl_status write_store(struct set_kinds *k, apl_error *err)
{
    struct buffer manifest = {0};
    apl_status status;
    GUARD(lmdb_writer_create(k->file, staging_temporary(k->staging), &k->lmdb, err));
    GUARD(copy_coded(k, err));
    GUARD(compare_coded(k, err));
    GUARD(manifest_encode(&k->store->manifest, &manifest, err));
    GUARD(lmdb_writer_put(k->lmdb, (struct key){KEY_MANIFEST, 0, 0}, manifest.data, manifest.size, err));
    GUARD(lmdb_writer_commit(k->lmdb, err));
    GUARD(lmdb_writer_sync(k->lmdb, err));
    GUARD(sealed_check(k->file, &manifest, err));
    lmdb_writer_close(k->lmdb);
    k->lmdb = NULL;
    GUARD(staging_publish(k->staging, err));
out:
    buffer_free(&manifest);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s", k->store->name);
}

/* ------------------------------------------------------------------------------------------------- call */

/* Opens it as all are, so that what is no store is refused as always. */
static apl_status open_store(struct set_kinds *k, const char *path, apl_error *err)
{
    char shown[256];
    if (url_is(path))
        return fail(err, APL_E_INVALID, "%s: is a URL, where nothing is written",
                    printable(shown, sizeof shown, path, strcspn(path, "?")));
    TRY(apl_store_open(path, NULL, &k->store, err));
    if (k->store->set)
        return fail(err, APL_E_INVALID,
                    "%s: is a set: say it of each shard, and join them again (apldata set-kind SHARD ..., "
                    "then apldata "
                    "join --force)",
                    k->store->name);
    return APL_OK;
}

/* Nobody has replaced it before the directory was locked. */
static apl_status check_same(const apl_store *store, apl_error *err)
{
    struct stat st;
    if (fstatat(store->directory, STORE_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == store->device &&
        st.st_ino == store->inode)
        return APL_OK;
    return fail(err, APL_E_BUSY, "%s: has been replaced meanwhile", store->name);
}

apl_status apl_store_set_kinds(const char *path, const char *const *kinds, size_t count,
                               int (*progress)(void *user, uint64_t done, uint64_t of), void *user,
                               apl_error *err)
{
    struct set_kinds k = {.progress = progress, .user = user};
    apl_error own;
    apl_status status;
    err = err ? err : &own;
    if (!path || (count && !kinds))
        return fail(err, APL_E_INVALID, "apl_store_set_kinds: path or kinds is NULL");
    GUARD(open_store(&k, path, err));
    GUARD(take_kinds(k.store, kinds, count, err));
    GUARD(stored_kinds_check(k.store, err));
    GUARD(staging_open(path, 1, &k.staging, err));
    GUARD(check_same(k.store, err));
    GUARD(staging_create(k.staging, &k.file, err));
    GUARD(write_store(&k, err));
out:
    lmdb_writer_close(k.lmdb);
    staging_close(k.staging);
    apl_store_close(k.store);
    buffer_free(&k.value);
    return status;
}
