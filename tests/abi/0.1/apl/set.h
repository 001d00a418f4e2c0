/* apl/set.h - sets: many stores that are opened as one; part of apl.h, which states the general rules. */
#ifndef APL_SET_H
#define APL_SET_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A set is a directory with a sealed list of shards, set.apl. A shard is a store like any other, somewhere below that
 * directory. All shards of a set have the same schema, class names included.
 *
 * apl_store_open() opens a set as it opens a store, and every call takes one. A set has the records that the shards
 * would have if they were merged into one store: split by split, in the order of their first occurrence, and within a
 * split shard by shard. Its members are those of its shards, with "SHARD/" in front of their names. Class
 * counts and moments are summed exactly. The content digest is the SHA-256 of the shards' content digests, in order;
 * the digests of fields are zero.
 *
 * Only the list is read when a set is opened. A shard is opened when a block of it is needed, and checked against the
 * list. A shard that is missing, damaged or replaced is APL_E_CORRUPT, like a damaged block: the error names the shard
 * and its records, and a reader with faults.skip_corrupt leaves them out.
 */

/* Zeros mean defaults. Start from APL_SET_OPTIONS_INIT. */
typedef struct apl_set_options {
    size_t size; /* sizeof(apl_set_options) */
    /* 1: replace an existing list. Open sets keep using the old one. */
    int replace;
    /* 1: append the shards to the existing list. The old list is kept beside the new one as set-DIGEST.apl, with the
     * first 16 digits of its content digest; apl_store_open() opens it by that path, to resume from older states. */
    int append;
} apl_set_options;
#define APL_SET_OPTIONS_INIT          \
    {                                 \
        sizeof(apl_set_options), 0, 0 \
    }

/*
 * Seals the list of a set: the shards at the paths shards[0 ... count-1], in that order. Each must be below the
 * directory `set`, and is named relative to it, so that a set can be moved and copied as a whole; but for a shard that
 * is a symbolic link to a store elsewhere, which stays there. A store that has several names is one. The list is written
 * atomically; no shard is changed. The same shards, names and order give the same bytes.
 *
 * Likely errors: APL_E_INVALID (a shard is not below `set`, is given twice, or is a set itself; `set` is a store),
 * APL_E_NOTFOUND, APL_E_MISMATCH (a shard has another schema; the message names shard and difference), APL_E_INCOMPLETE
 * (shards are parts that aplingest has made, part-0001-of-0016 and the like, but not all that belong into their
 * directory), APL_E_EXISTS (a list exists), APL_E_BUSY, APL_E_CORRUPT, APL_E_IO. `options` may be NULL.
 */
APL_API APL_MUST_USE apl_status apl_set_join(const char *set, const char *const *shards, size_t count,
                                             const apl_set_options *options, apl_error *err);

/*
 * For programs that read several stores as one, without a list, as `apldata merge` does: are they whole? Of each
 * directory that has some of the stores as parts that aplingest has made (part-0001-of-0016 and the like), all parts
 * must be among them: APL_E_INCOMPLETE, and the first that is missing. Looks only at the paths, which may be URLs.
 */
APL_API APL_MUST_USE apl_status apl_set_check_parts(const char *const *stores, size_t count, apl_error *err);

/* A shard of a set, as in the list. Later versions may append members. */
typedef struct apl_shard {
    const char *name; /* relative to the set's directory; safe to print */
    uint64_t records;
    uint64_t file_bytes; /* of its data.mdb */
    uint8_t content_digest[32];
} apl_shard;

/* Shard `i` of the set, below apl_info.shards; NULL if `i` is out of range or the store is not a set. */
APL_API const apl_shard *apl_store_shard(const apl_store *store, unsigned i);

#ifdef __cplusplus
}
#endif
#endif
