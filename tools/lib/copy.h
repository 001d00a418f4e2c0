/*
 * Making a store of records of other stores, for `apldata merge` and `apldata extract`. Values go from one to the other as they are; the
 * class of a record may get another number. Every call that fails has said why on stderr.
 */
#ifndef COPY_H
#define COPY_H

#include "apl.h"
#include "command_line.h"
#include "progress.h"

#include <stdbool.h>

/* A field of the store to be made. */
struct copy_field {
    const apl_field *like; /* what is said of it: as in the first store */
    apl_dtype dtype;       /* of classes: wide enough for all of them */
    const char **classes;  /* the names; NULL: none, or those of `like` */
    uint64_t class_count;
};

struct copy {
    const char *path; /* of the store to be made */
    apl_writer *writer;
    apl_writer_options options;
    struct copy_field fields[APL_MAX_FIELDS];
    unsigned count;
    bool quiet, no_progress;
    struct progress progress;
    uint64_t total, done;
    uint32_t member; /* the number of the next one */
};

/* The options of a command that makes a store so; `copy`: the struct copy in its job. */
#define COPY_ROWS(type, copy)                                                        \
    THREADS_ROW("decode and encode", type, copy.options.threads),                    \
        FORCE_ROW("a store that exists", OPTION_SWITCH, type, copy.options.replace), \
        NO_PROGRESS_ROW(type, copy.no_progress), QUIET_ROW(type, copy.quiet)

/* Where the values come from. */
struct copy_source {
    apl_store *store;
    unsigned fields[APL_MAX_FIELDS];   /* the number there of each field of the copy */
    uint32_t *classes[APL_MAX_FIELDS]; /* new numbers of the classes; NULL: as they are */
};

/* Opens the writer, with the fields. */
int copy_begin(struct copy *copy);

/* Appends the records with these ids, ascending, as the split, or as more of the one that was last. Members stay apart; a shuffled
 * store no longer has any. The split is there even if it has no records. */
int copy_records(struct copy *copy, const struct copy_source *source, const char *split, const uint64_t *ids,
                 uint64_t count);

/* For a store that has no split "train": keeps the moments of the source's, as far as that knows any. After copy_begin(). */
int copy_keep_moments(struct copy *copy, const struct copy_source *source);

/* Says what the source was, and makes the store. */
int copy_commit(struct copy *copy, const char *source_format);

/* Frees what it has opened; a store that was not made is removed. */
void copy_close(struct copy *copy);

#endif
