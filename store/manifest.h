/*
 * The manifest: what a store says of itself, written last.
 *
 *     offset  bytes
 *          0      4  magic "APLM"
 *          4      2  format version, major: readers refuse what they do not know
 *          6      2  format version, minor: readers need not care
 *          8      8  bytes of the whole manifest
 *         16      8  XXH3-64 of the bytes 24 ... end
 *         24         entries: tag (2), flags (2; bit 0: a reader that does not know the tag must refuse), bytes (4),
 *                    payload
 *
 * The payloads are described at their writers (manifest_code.c, manifest_fields.c, manifest_ranges.c) and in docs/FORMAT.md.
 */
#ifndef MANIFEST_H
#define MANIFEST_H

#include "bytes.h"
#include "schema.h"

#define FORMAT_MAJOR 1
/* What a store has that is written as this: 6: digests of its blocks, kinds, or lists of texts; 5: indexed images, with products of colours; 4: progressive ones;
 * 3: sums over the colours of images; 2: images of any size; 1: kept fields. All others are written as 0. */
#define FORMAT_MINOR 6
/* From which on a manifest must have them, where an image counts. */
#define FORMAT_MINOR_IMAGES   3
#define FORMAT_MINOR_PRODUCTS 5

#define MANIFEST_MAX_LIST (1u << 20) /* members, splits or segments */

/* Consecutive ids stored together; the blocks of a segment have its number in their keys. */
struct segment {
    uint32_t number;
    uint64_t first_id, count;
    uint64_t first_block;   /* not stored: blocks of all segments before this one */
    uint32_t block_records; /* nor this: of a full block; in a set, shards differ */
};

struct moments {
    uint64_t count, sum, squares;
};

#define TRAINING_CHANNELS 64 /* at most: see field_channels() */

/* Mean and standard deviation of a channel over the split "train" of the store that the records come from. */
struct training_figures {
    double mean, std;
};

/* What the values of one field in one split come to. */
struct summary {
    struct summary *next; /* of another field in the same split */
    unsigned field;
    uint64_t *classes;           /* records of each class, if the field has classes */
    struct moments *moments;     /* of each channel, if it has channels */
    struct colour_sums *colours; /* if it has images whose colours are summed up; of no image: not known */
};

struct split {
    char *name;
    uint64_t first, count;     /* ids */
    struct summary *summaries; /* a list: a file may have many splits, and summaries of few of them */
};

struct member {
    char *name;
    uint32_t split, number; /* the number is the writer's: members are in the order of them */
    uint64_t first, count;  /* source positions */
};

struct manifest {
    apl_info info; /* its strings are the two below */
    char *tool, *source_format;
    struct schema schema;
    uint32_t text_lists; /* fields of lists of texts that the manifest says there are */
    struct split *splits;
    struct member *members;
    struct segment *segments;
    uint32_t split_count, member_count, segment_count;
    struct training_figures *training[APL_MAX_FIELDS]; /* of each channel; NULL: none are kept of the field */
    struct buffer digests;        /* of each block, 32 bytes: see digests.h; or nothing */
    struct buffer skipped;        /* texts, each closed by NUL: of each file a path and a reason */
    struct buffer skipped_places; /* size_t each: of each file in `skipped` */
};

/* Adds a file that was left out to the list, if that is not full; does not count it. */
apl_status manifest_add_skipped(struct manifest *manifest, const char *path, size_t path_length,
                                const char *why, size_t why_length, apl_error *err);

/* File `i` of the list, or NULL. */
const char *manifest_skipped(const struct manifest *manifest, uint64_t i, const char **why);

void manifest_free(struct manifest *manifest);

/* How many channels of a field are normalised, as far as the store has figures of them; 0: none. */
unsigned training_channels(const struct schema *schema, unsigned field);

/* Keeps figures of each of them, which are copied, in kept[field]. APL_E_INVALID: there are some already, or they cannot be of
 * bytes. */
apl_status training_keep(const struct schema *schema, unsigned field, const struct training_figures *figures,
                         struct training_figures **kept, apl_error *err);

/* Allocates the summary of a field in a split, all zero, if it has classes, channels or colours and no summary yet. */
apl_status manifest_new_summary(const struct schema *schema, struct split *split, unsigned field,
                                apl_error *err);

/* The summary of a field in a split; without classes and moments if it has none. */
struct summary split_summary(const struct split *split, unsigned field);

void split_free_summaries(struct split *split);

/* Derives what is not stored (blocks, sums) and checks that everything fits together. */
apl_status manifest_finish(struct manifest *manifest, apl_error *err);

/* Are the rules kept that splits, members, segments and source positions have to follow? Of a manifest that is finished. */
apl_status manifest_check_rules(const struct manifest *manifest, apl_error *err);

apl_status manifest_encode(const struct manifest *manifest, struct buffer *out, apl_error *err);
apl_status manifest_decode(const uint8_t *bytes, size_t size, struct manifest *manifest, apl_error *err);

/* The split that id belongs to; the member of a source position; the segment and block (among all) that hold
 * an id. All must be below info.records. */
uint32_t manifest_split_of(const struct manifest *manifest, uint64_t id);
uint32_t manifest_member_of(const struct manifest *manifest, uint64_t position);
const struct segment *manifest_segment_of(const struct manifest *manifest, uint64_t id);
uint64_t manifest_block_of(const struct manifest *manifest, uint64_t id);

/* The ids that block `block` (among all) holds. */
const struct segment *manifest_block_ids(const struct manifest *manifest, uint64_t block, uint64_t *first,
                                         uint32_t *count);

/* The content digest: SHA-256 over the digests of input and target fields; docs/FORMAT.md says exactly how.
 */
apl_status manifest_content_digest(const struct schema *schema, uint8_t digest[32], apl_error *err);

#endif
