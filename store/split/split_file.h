/*
 * Split files: NAME.split, a split of the records of one store that its source did not bring.
 *
 *     offset  bytes
 *          0      4  magic "APLP"
 *          4      2  version of the format of split files, major
 *          6      2  minor
 *          8      8  bytes of the whole file
 *         16     32  content digest of the store
 *         48      1  rule: see enum split_rule; + 16 x what it hashes: see enum split_by
 *         49      3  zero
 *         52      4  generation: splits between this one and the source's
 *         56      8  ratio x 2^64, rounded down; 0 in a division into many parts
 *         64      8  seed
 *         72      8  first id of the source's split
 *         80      8  records n of the source's split
 *         88      8  records of the part
 *         96      8  records of the rest
 *        104         name (text), parent (text), source's split (text), field to stratify by (text)
 *                    only if it hashes groups: their field (text)
 *                    the table of the part, the table of the rest: coding (1), bytes (8), the table
 *                    only in a division into many parts: number of the part (4), parts (4), concentration (8)
 *   size - 8      8  XXH3-64 of all bytes before
 *
 * A table is a bit for each of the n records, in the order of their ids. A record of the parent is marked in
 * one of the two tables; others are marked in none. So a file can be read without its parent.
 *
 * The splits of a set are files in one directory, whichever of its lists they belong to: NAME.split belongs to one, and those of other
 * lists are NAME.split-DIGEST, with as much of the content digest as the name of a list that is kept.
 */
#ifndef SPLIT_FILE_H
#define SPLIT_FILE_H

#include "bitset.h"
#include "set.h"

#define SPLIT_MAJOR 1
/* The oldest minor version that a file can have: 0, 1 of divisions into many parts, 2 where it is not the inputs
 * that are hashed. */
#define SPLIT_MINOR_PARTS 1
#define SPLIT_MINOR_BY    2
#define SPLIT_SUFFIX      ".split"

/* The longest name of a split with a file: with suffix, and the prefix of a temporary file, it has to fit
 * where file systems allow 255 bytes. */
#define SPLIT_MAX_NAME 200

#define SPLIT_DIGEST_END 17 /* of a name: "-", and 16 digits */
#define SPLIT_FILE_BYTES \
    (SPLIT_MAX_NAME + sizeof SPLIT_SUFFIX + SPLIT_DIGEST_END) /* of the file's name, with its end */

enum split_rule {
    SPLIT_HASH = 1,
    SPLIT_STRATIFIED = 2,
    /* one of many equal parts: */
    SPLIT_PARTS_HASH = 3,
    SPLIT_PARTS_STRATIFIED = 4,
    SPLIT_PARTS_DIRICHLET = 5 /* of each class as much as a Dirichlet distribution gives */
};
/* What the hash is taken over that decides: see split_unit.h. Their numbers are those of apl_split_by. */
enum split_by {
    SPLIT_BY_CONTENT = APL_BY_CONTENT,
    SPLIT_BY_KEY = APL_BY_KEY,
    SPLIT_BY_ID = APL_BY_ID,
    SPLIT_BY_GROUP = APL_BY_GROUP
};
enum split_side { SPLIT_PART = 0, SPLIT_REST = 1 };

#define SPLIT_MAX_PARTS         ((uint32_t)1 << 20)
#define SPLIT_UNIT              ((uint64_t)1000000) /* concentrations are in units of 1 / SPLIT_UNIT */
#define SPLIT_MAX_CONCENTRATION (SPLIT_UNIT * SPLIT_UNIT)

struct split_file {
    char *name, *parent, *source;
    char *stratify; /* empty, if the rule is one by hash */
    char *group;    /* the field of the groups; empty if something else is hashed */
    enum split_rule rule;
    enum split_by by;
    uint64_t ratio, seed;
    uint32_t number, parts; /* part `number` of so many; 0 of 0 in a division in two */
    uint64_t concentration; /* of SPLIT_PARTS_DIRICHLET, in its units; else 0 */
    uint32_t generation;    /* 0: the parent is the source's; else one more than the parent's */
    uint64_t first;         /* id of the first record of the source's split */
    uint64_t records[2];
    struct bitset tables[2];
    uint8_t content[32];
    bool apart; /* it is NAME.split-DIGEST, as NAME.split belongs to another list */
};

void split_file_free(struct split_file *file);

static inline bool split_by_class(const struct split_file *f)
{
    return f->rule != SPLIT_HASH && f->rule != SPLIT_PARTS_HASH;
}

static inline bool split_in_parts(const struct split_file *f)
{
    return f->rule >= SPLIT_PARTS_HASH;
}

/* The name of the rest, PARENT-NAME; the caller frees it. NULL: out of memory. */
char *split_rest_name(const struct split_file *file);

apl_status split_file_encode(const struct split_file *file, struct buffer *out, apl_error *err);

/* Believes nothing. APL_E_MISMATCH if the file is not of this store. */
apl_status split_file_decode(const uint8_t *bytes, size_t size, const struct manifest *manifest,
                             struct split_file *file, apl_error *err);

/* May a split file be called so? */
bool split_name_ok(const char *name);

/* The content digest in the first SPLIT_HEAD_BYTES of a file; NULL if it is none of ours. */
#define SPLIT_HEAD_BYTES 48
const uint8_t *split_file_content(const uint8_t head[SPLIT_HEAD_BYTES]);

/* NAME.split, or of that content NAME.split-DIGEST; as text: safe to print. */
void split_file_name(const char *name, const uint8_t *content, char file[SPLIT_FILE_BYTES]);
void split_file_shown(const struct split_file *file, char shown[4 * SPLIT_FILE_BYTES]);

/* Does NAME.split belong to another list of the set, which is there? Its file name. */
bool split_list_of(const apl_store *store, const char *name, char list[SET_KEPT_BYTES]);

/* Does the file at `path`, undamaged, belong to a list that is no longer in the set? */
bool split_is_left(const apl_store *store, const char *path, const char *name);

/* Reads NAME.split, or NAME.split-DIGEST if the first is missing or belongs to another list; APL_E_NOTFOUND if both are. Messages name
 * the file. */
apl_status split_file_read(const apl_store *store, const char *name, struct split_file *file, apl_error *err);

/* Writes the file of each split: NAME.split, unless that belongs to another list. One file is written in one step: there is what was before, or all of it. Of
 * many, an error leaves none of the new ones. */
apl_status split_files_write(const apl_store *store, const struct split_file *files, size_t count,
                             bool replace, apl_error *err);

#endif
