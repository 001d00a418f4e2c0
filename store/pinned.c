/* Checking blocks against digests: see pinned.h. */
#include "pinned.h"

#include "digests.h"

apl_status store_pin(apl_store *store, const uint8_t digest[32], apl_error *err)
{
    const apl_info *info = &store->manifest.info;
    if (!info->has_digest)
        return fail(err, APL_E_MISMATCH,
                    "%s: has no digests of its %s (DIGESTS), so it cannot be the one expected; %s",
                    store->name, store->set ? "shards" : "blocks",
                    store->set ? "make its shards again, and join them" : "make it again with this version");
    if (memcmp(digest, info->digest, DIGEST_BYTES) != 0)
        return fail(err, APL_E_MISMATCH, "%s: the digest is not the one expected", store->name);
    store->pinned = true;
    return APL_OK;
}

static bool is_at_hand(const struct block_coder *bc, const struct entry *entry, const uint8_t digest[32])
{
    return bc->whole && bc->whole_bytes == entry->size && memcmp(bc->whole_digest, digest, DIGEST_BYTES) == 0;
}

/* The bytes of a block, where nobody changes them: in the coder's memory. */
static apl_status copy_block(const struct lmdb_reader *lmdb, const struct entry *entry,
                             struct block_coder *bc, const uint8_t **bytes, apl_error *err)
{
    TRY(lmdb_reader_value(lmdb, entry, &bc->file, bytes, err));
    if (!lmdb->map)
        return APL_OK;
    bc->file.size = 0;
    buffer_put(&bc->file, *bytes, entry->size);
    *bytes = bc->file.data;
    return bc->file.failed ? fail_nomem(err) : APL_OK;
}

/* Makes the block that has this digest the one at hand. */
static apl_status take_pinned(const struct lmdb_reader *lmdb, const struct entry *entry,
                              const uint8_t digest[32], struct block_coder *bc, apl_error *err)
{
    const uint8_t *copy;
    if (is_at_hand(bc, entry, digest))
        return APL_OK;
    bc->whole = NULL; /* the coder's memory is used anew */
    TRY(copy_block(lmdb, entry, bc, &copy, err));
    hash_sha256(copy, entry->size, bc->whole_digest);
    if (memcmp(bc->whole_digest, digest, DIGEST_BYTES) != 0)
        return fail(err, APL_E_CORRUPT, BLOCK_IS_ANOTHER);
    bc->whole = copy;
    bc->whole_bytes = entry->size;
    return APL_OK;
}

apl_status pinned_part(const apl_store *store, uint64_t number, size_t offset, size_t size,
                       struct block_coder *bc, const uint8_t **bytes, apl_error *err)
{
    const struct entry *entry = &store->blocks[number];
    if (!store->pinned) {
        bc->whole = NULL;
        return lmdb_reader_part(&store->lmdb, entry, offset, size, &bc->file, bytes, err);
    }
    TRY(take_pinned(&store->lmdb, entry, digest_of(&store->manifest.digests, number), bc, err));
    *bytes = bc->whole + offset;
    return APL_OK;
}

const uint8_t *pinned_whole(const apl_store *store, const struct block_coder *bc)
{
    return store->pinned ? bc->whole : NULL;
}
