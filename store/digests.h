/*
 * DIGESTS: an entry with the SHA-256 of each block of a store, in the store's manifest, or of the manifest of each shard of a set, in
 * the set's list. The digest of a store, or a set, is the SHA-256 of all bytes of its manifest, or list: it covers the entry, and is
 * in none. So one digest that is trusted says of every byte whether it is the one that was meant: see pinned.h.
 *
 * Payload: how many there are (8), each (32), in the order of blocks or shards. Readers need not know the entry.
 */
#ifndef DIGESTS_H
#define DIGESTS_H

#include "bytes.h"
#include "status.h"

#define DIGEST_BYTES 32u
#define DIGESTS_MOST (1u << 26) /* a payload is below 4 GiB: of more blocks there are no digests */

/* Appends the entry. */
void digests_put(struct buffer *out, const struct buffer *digests);

/* Reads its payload to `digests`, which is empty unless there are two. APL_E_CORRUPT: the message says what of them is wrong. */
apl_status digests_get(struct cursor *c, struct buffer *digests, apl_error *err);

/* Are there none, or one for each of `count`? APL_E_CORRUPT, the same. */
apl_status digests_check(const struct buffer *digests, uint64_t count, apl_error *err);

/* What is wrong with a block that does not have its digest. */
#define BLOCK_IS_ANOTHER "its SHA-256 is not the one in the manifest"

static inline const uint8_t *digest_of(const struct buffer *digests, uint64_t i)
{
    return digests->data + i * DIGEST_BYTES;
}

#endif
