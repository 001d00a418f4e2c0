/* A writer, for the files that share it: writer.c and writer_fields.c have its calls, writer_pipeline.c gathers and encodes, seal.c
 * commits. */
#ifndef WRITER_H
#define WRITER_H

#include "block.h"
#include "external_shuffle.h"
#include "kind_values.h"
#include "lmdb_write.h"
#include "manifest.h"
#include "parallel.h"
#include "staging.h"

#include <stdatomic.h>

#define WRITER_RECORDS 128u /* in a block, unless the caller says otherwise, or they are large or small */

/* With kept fields a block is to have about so many bytes, but not fewer records than that. */
#define KEPT_BLOCK_BYTES ((size_t)2 << 20)
#define KEPT_BLOCK_LEAST 4u

struct writer_member {
    char *name;
    uint32_t split, number;
    uint64_t count;
};

struct writer_split {
    char *name;
    struct external_shuffle *shuffle; /* of a shuffled store */
};

/* What is remembered of a block that has been put: where it belongs, and the hash of its header, which holds
 * the hashes of all that came from the source. The store is compared with this when it is read back. */
struct block_fingerprint {
    uint32_t segment, block;
    struct hash128 header;
};

/* A place in the pipeline: a block on its way from raw to coded. */
struct writer_slot {
    struct raw_block raw;
    struct buffer coded;
    struct hash128 header;
};

struct apl_writer {
    unsigned forks;    /* that came before it: more, and it is the parent's */
    apl_status status; /* of the first failure; nothing but close works after it */
    apl_error error;
    char *path; /* safe to print */

    unsigned threads;       /* that encode; 0: the caller alone */
    uint32_t block_records; /* 0 until it is known */
    int want_codec, want_level;
    bool shuffle;
    uint64_t shuffle_seed;
    char *tool, *source_format;
    struct manifest skipped; /* of which only the list of skipped files, and their number, are used */
    struct training_figures *training[APL_MAX_FIELDS]; /* as in the manifest, whose they become */
    bool has_source_digest;
    uint8_t source_digest[32];

    struct staging *staging;
    struct lmdb_writer *lmdb;
    struct schema schema;
    unsigned user_fields; /* those that the caller appends; a shuffled store has one more */
    bool schema_closed, chosen, committing, committed;
    struct kind_values kinds; /* what values are tested for, and what has been counted */

    struct buffer members, splits; /* of struct writer_member, struct writer_split */
    size_t member;                 /* the current one, 1 more than its index; 0: none yet */

    struct pipeline *pipeline;
    unsigned depth;
    struct writer_slot *slots;
    struct block_coder *coders; /* of each worker; one more for the caller's thread */
    struct writer_slot *filling;
    uint32_t segment; /* of the block that is being filled, */
    uint64_t next;    /* and the number of the next record within it */

    int file;    /* that is filled: the staging directory's */
    int scratch; /* the file of the shuffles */
    uint64_t scratch_end;

    struct buffer fingerprints; /* of struct block_fingerprint, in the order of putting */
    uint64_t records, raw_bytes;
    atomic_uint_fast64_t stored_bytes;
    int (*on_commit)(void *user, const apl_progress *progress);
    void *on_commit_user;
};

static inline struct writer_member *writer_members(apl_writer *w, size_t *count)
{
    *count = w->members.size / sizeof(struct writer_member);
    return (struct writer_member *)(void *)w->members.data;
}

static inline struct writer_split *writer_splits(apl_writer *w, size_t *count)
{
    *count = w->splits.size / sizeof(struct writer_split);
    return (struct writer_split *)(void *)w->splits.data;
}

/* writer_fields.c: every call of a writer begins with this: one that has failed stays failed. */
apl_status writer_ready(const apl_writer *w, apl_error *err);

/* The schema is complete: checks its kinds, adds the position to it if need be, and decides how many records a block
 * holds. */
apl_status writer_close_schema(apl_writer *w, apl_error *err);

/* writer_pipeline.c: the encoding threads and their blocks. writer_free_pipeline() ends them, also after a failed start. */
apl_status writer_start_pipeline(apl_writer *w, apl_error *err);
void writer_free_pipeline(apl_writer *w);

/* Records of a block: few of large ones, and many of small ones, such as rows of tables, or else what each block takes is more than they
 * do. 0: they vary in size, and the first block tells. */
uint32_t writer_usual_records(const struct schema *schema);

/* Appends a record to the blocks of segment w->segment. */
apl_status writer_put(apl_writer *w, const apl_value *values, apl_error *err);

/* Ends the block that is being filled and begins the segment `segment`. */
apl_status writer_begin_segment(apl_writer *w, uint32_t segment, apl_error *err);

/* Waits until all blocks have been put and ends the threads. */
apl_status writer_drain(apl_writer *w, apl_error *err);

/* seal.c: everything after the last record. */
apl_status writer_seal(apl_writer *w, apl_error *err);

#endif
