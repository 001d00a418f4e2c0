/*
 * Pinned stores: opened with a digest that the caller trusts. The manifest, or list, must have that digest (see digests.h), and each
 * block that in the manifest; a block is read as a whole into memory of our own, hashed there, and used from there alone. All that is
 * read of blocks comes through pinned_part(); values of kept fields that are read by themselves, later, have digests that were taken
 * when their block was here (see kept_list()).
 */
#ifndef PINNED_H
#define PINNED_H

#include "store.h"

/* Pins a store, or a set, that has been opened, and of which no block has been read. APL_E_MISMATCH: it has another digest, or none. */
apl_status store_pin(apl_store *store, const uint8_t digest[32], apl_error *err);

/* `size` bytes from `offset` of block `number` of a store, not a set: of a pinned one out of the block as a whole, else that part of the
 * file. Good until the coder reads others; those of a pinned store do not change. */
apl_status pinned_part(const apl_store *store, uint64_t number, size_t offset, size_t size,
                       struct block_coder *bc, const uint8_t **bytes, apl_error *err);

/* The bytes of the block of a pinned store of which a part was read last; NULL if the store is not pinned. */
const uint8_t *pinned_whole(const apl_store *store, const struct block_coder *bc);

#endif
