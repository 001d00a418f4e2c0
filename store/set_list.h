/*
 * The list of a set, `set.apl`: the schema that its shards share, and of each shard what is needed to plan with it.
 *
 *     offset  bytes
 *          0      4  magic "APLS"
 *          4      2  version of the list, major: readers refuse what they do not know
 *          6      2  version of the list, minor: readers need not care
 *          8      8  bytes of the whole list
 *         16      8  XXH3-64 of the bytes 24 ... end
 *         24         entries, in the form of those of a manifest: SET, TEXT_LISTS, FIELD, KEPT, CLASSES, KIND, then a SHARD for each shard,
 *                    and DIGESTS (digests.h), if all of them have digests
 *
 * The payloads are described at their writers and in docs/FORMAT.md. A list has one form: it is a function of the shards, their
 * names and their order.
 */
#ifndef SET_LIST_H
#define SET_LIST_H

#include "digests.h"
#include "manifest.h"

#define SET_FILE      "set.apl"
#define SET_MAJOR     1
#define SET_MINOR     1 /* a list with digests, kinds or lists of texts; others are written as 0 */
#define SET_MAX_BYTES ((uint64_t)1 << 32)
#define SET_MAX_NAME  1024 /* bytes in the name of a shard */

#define SET_KEPT_BYTES 25 /* of the name of a list that has been replaced, with its end */

/* A shard as the list has it. */
struct shard {
    char *name;           /* relative to the set's directory */
    const uint8_t *entry; /* the payload of its entry, in the list's bytes */
    uint32_t entry_bytes;
    uint32_t block_records;
    uint64_t records, file_bytes, skipped;
    uint8_t content[32];   /* its content digest */
    const uint8_t *digest; /* of its manifest; NULL: the list has no digests */
    uint32_t splits, members;
};

/* Records of one shard that are of one split: their ids, and their blocks, go on. */
struct run {
    uint64_t first, count; /* ids in the set */
    uint64_t own_first;    /* the first one's id in the shard */
    uint64_t first_block;  /* among all blocks of the set */
    uint64_t own_block;    /* the same block among all of the shard */
    uint32_t shard;
};

struct set_list {
    struct buffer bytes;
    struct buffer digests; /* of all shards, or nothing */
    struct shard *shards;
    uint32_t count;
    struct run *runs; /* none is empty; ascending by id and block */
    uint32_t run_count;
};

/* Is it the name of a shard: a path down from the set's directory, in its shortest form? */
bool set_name_ok(const char *name, size_t length);

/* Do stores have one schema, class names included? APL_E_MISMATCH, and the first difference: `name` has one thing, `first` another. */
apl_status set_same_schema(const struct schema *schema, const char *name, const struct schema *first,
                           const char *first_name, apl_error *err);

/* Appends the entry of the store with that manifest; its payload begins at *payload of the buffer. Out of memory marks the buffer. */
void set_put_shard(struct buffer *out, const char *name, const struct manifest *shard, size_t *payload);

/* The same, of a shard of a list that has been read. */
void set_copy_shard(struct buffer *out, const struct shard *shard);

/* The whole list, of `entries` by set_put_shard(), which may be as they are in another list, and the digests of all shards, or none.
 * `first` has the schema, and is shuffled or not; source_format says what all came from, or nothing. */
apl_status set_list_encode(const struct manifest *first, const char *source_format, const uint8_t content[32],
                           uint32_t shards, const struct buffer *entries, const struct buffer *digests,
                           struct buffer *out, apl_error *err);

/* Takes the bytes over in any case, and makes of them the list and the manifest of a store that has all records of all shards:
 * split by split, in the order in which they are met first, and of each split the shards in their order. Believes nothing. */
apl_status set_list_decode(struct buffer *bytes, struct set_list *list, struct manifest *manifest,
                           apl_error *err);
void set_list_free(struct set_list *list);

/* Can the list be read? Leaves the bytes alone. */
apl_status set_list_check(const struct buffer *bytes, apl_error *err);

/* The content digest of a set: SHA-256 over those of its shards, in order. */
apl_status set_list_digest(const struct shard *shards, uint32_t count, uint8_t digest[32], apl_error *err);

/* The run that has block `block` of the set, which must have it. */
const struct run *set_list_run(const struct set_list *list, uint64_t block);

#endif
