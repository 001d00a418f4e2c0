/* An open store, for the parts of the library that read it. */
#ifndef STORE_H
#define STORE_H

#include "block.h"
#include "kept.h"
#include "lmdb_read.h"
#include "manifest.h"
#include "remote.h"
#include "seen.h"

#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

struct set;

struct apl_store {
    atomic_uint references; /* the owner, and each reader */
    char *name;             /* the path as it was given, safe to print */
    dev_t device;           /* of data.mdb, or of the list of a set */
    ino_t inode;
    struct timespec modified;
    /* Where split files are: the store's own directory unless the caller has named another. Kept open, so that
     * it stays the same one whatever is renamed; good for openat() only. */
    int directory;
    char *directory_name;   /* safe to print */
    bool splits_apart;      /* the caller has named another */
    struct seen_list *seen; /* split files that have been opened */
    struct url url;         /* of a store elsewhere: of its directory; else empty */
    struct remote_options remote;
    struct lmdb_reader lmdb;
    atomic_uint_fast64_t last;  /* of a store elsewhere, the block that was taken last; */
    atomic_uint in_a_row;       /* and how many one after another */
    const struct entry *blocks; /* of block 0, 1, ... */
    struct set *set;            /* NULL: a store. Of a set, the two above are empty: see set.h */
    bool pinned;                /* blocks must have the digests that the manifest says: see pinned.h */
    struct manifest manifest;
    apl_split *splits; /* the manifest's lists in their public form */
    apl_member *members;
};

/* A store is freed when all who hold it have released it, the owner by closing it. */
apl_store *store_retain(apl_store *store);
void store_release(apl_store *store);

/* The file that says what is in it, in its directory. */
const char *store_file_name(const apl_store *store);

/* The member (or, in a shuffled store, the split) that a record belongs to. */
const char *store_member_of(const apl_store *store, uint64_t id);

/* The number of the field that is called `name`, which may be anything; APL_E_NOTFOUND if no field has that name. */
apl_status store_find_field(const apl_store *store, const char *name, unsigned *field, apl_error *err);

/* Sums over a channel's values in a split; NULL where there is no such channel, or nothing in it. */
const struct moments *store_moments(const apl_store *store, unsigned split, unsigned field, unsigned channel);

/* The sums over the colours of a field's images in a split, and of what they are; of a set those of its shards, which are opened. false:
 * no sums are kept, or they lack more than one in 20 of its images, or a shard cannot be opened. */
bool store_sum_colours(const apl_store *store, unsigned split, unsigned field, struct colour_sums *sums,
                       enum colours_kind *kind);

/* Takes block `number` (among all) from the file, parses it and makes sure that it is the one that belongs there. The
 * view is good until the coder takes another block. The error names the block. */
apl_status store_block(const apl_store *store, uint64_t number, struct block_coder *bc,
                       struct block_view *view, apl_error *err);

/* The same, but only the header is read, and the view has no coded bytes. */
apl_status store_block_head(const apl_store *store, uint64_t number, struct block_coder *bc,
                            struct block_view *view, apl_error *err);

/* Reads the coded bytes of one column into the view of such a block; they are good until the coder takes others. */
apl_status store_block_column(const apl_store *store, uint64_t number, struct block_coder *bc,
                              struct block_view *view, unsigned field, apl_error *err);

/* Is the store, or the set, at a URL? */
static inline bool store_is_elsewhere(const apl_store *store)
{
    return store->url.base != NULL;
}

/* Says that the block will be taken soon, as a whole; or, if `fields` is not 0, its header, its columns of the fields whose bits are set,
 * and the indexes of those that are kept: see struct need. False: not now, there are too many. What lies where in a block that
 * is to be taken in parts is found out in the background, where the store is at a URL; so is a shard opened. Of a file here the kernel is
 * told, with `fields` of both ends of the block: this may wait for the disk, so call it without locks. */
bool store_ahead(const apl_store *store, uint64_t number, uint64_t fields, struct need need);

/* The same of the columns, or indexes, of a block whose header has been taken; and of values of such columns, and of such a list. */
void store_ahead_columns(const apl_store *store, uint64_t number, const struct block_view *view,
                         uint64_t fields, uint64_t again);
bool store_ahead_kept(const apl_store *store, uint64_t number, const struct block_view *view, unsigned field,
                      const struct kept_index *index, uint32_t record);
bool store_ahead_value(const apl_store *store, uint64_t number, const struct raw_column *list,
                       uint32_t record, uint64_t again);

/* Asks once more for a value that is due soon, in a file on a network file system or FUSE: these pass over what they are asked ahead while
 * they are busy. Of other files, which are mapped, nothing. */
void store_ahead_near(const apl_store *store, uint64_t number, const struct raw_column *list,
                      uint32_t record);

/* Reads the index of a kept column of such a block, and appends one of its values to `out`, restored if it is indexed. Both are
 * checked. */
apl_status store_kept_index(const apl_store *store, uint64_t number, struct block_coder *bc,
                            const struct block_view *view, unsigned field, struct kept_index *index,
                            apl_error *err);
apl_status store_kept_value(const apl_store *store, uint64_t number, struct block_coder *bc,
                            const struct block_view *view, unsigned field, const struct kept_index *index,
                            uint32_t record, struct buffer *out, apl_error *err);

/* Lists the values of such a column: what is needed to read one of them, much later and in any thread, and check it, without the
 * block. `list` is empty, and of the form that kept_list() tells. store_listed_value() reads a value as it is stored, to `out`, which
 * has room for as many bytes as kept_listed() says; store_listed_file() appends the file that it is. */
apl_status store_list_kept(const apl_store *store, uint64_t number, struct block_coder *bc,
                           const struct block_view *view, unsigned field, struct raw_column *list,
                           apl_error *err);
apl_status store_listed_value(const apl_store *store, uint64_t number, unsigned field,
                              const struct raw_column *list, uint32_t record, uint8_t *out, apl_error *err);
apl_status store_listed_file(const apl_store *store, uint64_t number, struct block_coder *bc, unsigned field,
                             const struct raw_column *list, uint32_t record, struct buffer *out,
                             apl_error *err);

/* Puts store, member and block in front of the message of an error that concerns the block, and says that it
 * concerns the block's records. */
apl_status store_block_error(const apl_store *store, uint64_t number, apl_status status, apl_error *err);

/* Finds the manifest and the blocks among a file's entries and checks that each block that must be is there. */
apl_status store_index(const struct lmdb_reader *lmdb, struct manifest *manifest, const struct entry **blocks,
                       apl_error *err);

#endif
