/* apl/split.h - named subsets of a store's records; part of apl.h, where the rules stand. */
#ifndef APL_SPLIT_H
#define APL_SPLIT_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Beside the splits that its source brought, a store can be given others, at any time; it is not changed by
 * that. Making the split "val" of the parent "train" writes a file db/val.split, which divides the records of
 * "train" in two:
 *
 *     val          the part: about `ratio` of train
 *     train-val    the rest: train without val ("PARENT-NAME")
 *
 * A reader, and a further split's `parent`, can name either, as they name the source's own. Training that
 * holds out a tenth reads "train-val", and is checked on "val"; a second split "dev" of "train-val" gives
 * "dev" and "train-val-dev". Where a name could mean several things, the source's own split comes first, then
 * the file of that name, then a rest.
 *
 * Which side a record falls on depends on the record's input fields, the ratio, the seed and how many splits
 * stand between this one and the source's: a hash of the inputs, keyed by the latter two, is compared with
 * the ratio. So equal inputs are never on two sides, whatever their labels and names; the sides are the same
 * on every machine and in whatever order a store holds its records; and in a store that has grown, the
 * records that were there before stay on their sides. The number of records is about that asked for: n
 * records give ratio x n, give or take sqrt(n ratio (1 - ratio)), or more where many are equal.
 *
 * With `stratify`, the records of each class are divided by themselves, and exactly: records with equal
 * inputs form a group, and each class gives whole groups, in the order of their hashes, as long as they do
 * not exceed ratio x (records of the class), rounded to the nearest number. So a class falls short by less
 * than one group, which for inputs that are all different means not at all. A group with several labels
 * counts as one of its lowest. When a store grows, a few records may change sides.
 *
 * What is hashed can be something else than the inputs: see apl_split_by. Equal inputs may then be on two sides:
 * `apldata check` finds them. With `group`, the name of a field, all records that have the same value of
 * it are on one side: the pictures of one patient, the takes of one speaker, the frames of one video. The field
 * may be of any mark, and of whole numbers, bools or bytes of a fixed shape, or text. The ratio is then one of
 * groups, not of records. With `stratify` too, a group is one of the class that most of its records have (of
 * several the lowest), and a class falls short by less than one group.
 *
 * A split file belongs to the content of one store: the store refuses it (APL_E_MISMATCH) when other data has
 * been put in its place. It can be removed like any file, also while it is in use.
 */

/* What is hashed to find a record's side. The numbers stand in split files and never change. */
typedef enum apl_split_by {
    APL_BY_CONTENT = 0, /* its inputs: whatever is equal stays together, wherever it is */
    APL_BY_KEY = 1,     /* the number of its member and its row there: shuffling a store moves no record */
    APL_BY_ID = 2,      /* its id in this very store */
    APL_BY_GROUP = 3    /* its value of the field `group`: what apl_split_file tells; not to be asked for */
} apl_split_by;

typedef struct apl_split_options {
    size_t size;          /* sizeof(apl_split_options); of an older version: what it lacks is 0 */
    const char *name;     /* 1 ... 200 bytes that a file can be called by: no '/', no '.' in front */
    double ratio;         /* between 0 and 1, without these */
    const char *parent;   /* NULL: "train", or the first split of the store if it has none of that name */
    const char *stratify; /* a target field of one whole number a record; NULL: by hash alone */
    uint64_t seed;        /* another seed is another split */
    unsigned threads;     /* 0: one per core */
    int replace;          /* 1: replace a split file that exists */
    const char *group;    /* a field whose equal values stay together, and then `by` is 0; NULL: none */
    apl_split_by by;
} apl_split_options;
#define APL_SPLIT_OPTIONS_INIT                                                        \
    {                                                                                 \
        sizeof(apl_split_options), NULL, 0, NULL, NULL, 0, 0, 0, NULL, APL_BY_CONTENT \
    }

/*
 * Makes a split and writes its file, in one step: there is what was before, or all of it. Takes the lock that
 * writers take. Either side may come out empty. Likely errors: APL_E_INVALID (the name is taken, or cannot be
 * one), APL_E_NOTFOUND (parent or field), APL_E_EXISTS, APL_E_BUSY (a store is being written there),
 * APL_E_MISMATCH (the store has been replaced since it was opened), APL_E_IO, APL_E_CORRUPT (a block).
 */
APL_API APL_MUST_USE apl_status apl_split_make(apl_store *store, const apl_split_options *options,
                                               apl_error *err);

/*
 * Divides the parent into many parts, each of which is a split: NAME-0 ... NAME-(parts-1), with the rests
 * PARENT-NAME-0 ... Each record of the parent is in exactly one part, and records with equal inputs are in the
 * same: for cross-validation, say, where "cv-3" checks what has been trained on "train-cv-3", or for the
 * clients of federated learning. options->ratio must be 0.
 *
 * Without `stratify`, record by record, the keyed hash decides, as it does in a split: parts are about equal,
 * and a store that grows moves no record. With it, the parts have equally many of each class: to within one,
 * where all inputs are different, and else by less than two groups of equal inputs.
 *
 * "Equal inputs" are here, as in a split, what `group` or `by` put in their place.
 *
 * With a `concentration` above 0 (0.000001 to 1000000; it is rounded to millionths), the parts have different
 * shares of each class, drawn for each class by itself from the symmetric Dirichlet distribution with that
 * concentration, and each group of equal inputs goes to a part with these chances. Below 1, most of a class is
 * in few parts; far above, shares come near to equal. Parts may come out empty. Classes are those of
 * `stratify`; NULL: of the store's only target that could be it. The draws are keyed by the seed and done in
 * whole numbers, so they are the same on every machine.
 *
 * All files are written, or an error leaves none of them (of those that were to be replaced, some may then
 * have gone). A process that is killed while files are put in their places may leave some. Needs memory of
 * parts x records / 4 bytes. Errors: those of apl_split_make().
 */
#define APL_MAX_PARTS 10000
APL_API APL_MUST_USE apl_status apl_split_parts(apl_store *store, const apl_split_options *options,
                                                unsigned parts, double concentration, apl_error *err);

/* A split file. Later versions may append members. */
typedef struct apl_split_file {
    const char *name;     /* of the part, and without ".split" of the file */
    const char *rest;     /* the rest's; NULL, as are those below, if the file cannot be used */
    const char *parent;   /* as it was named when the split was made */
    const char *source;   /* the split of the source that all of it comes from */
    const char *stratify; /* the field; NULL: by hash alone */
    double ratio;
    uint64_t seed;
    uint64_t records, rest_records;
    /* APL_OK, or why the file cannot be used: APL_E_CORRUPT, ...; APL_E_MISMATCH: it is of another store, as
     * one is that was here before. */
    apl_status status;
    const char *message; /* the same in words; "" */
    /* Of apl_split_parts(): number of the part, number of all; 0 of 0 in a division in two. The ratio is then
     * 1 / parts. */
    unsigned part, parts;
    double concentration; /* where a Dirichlet distribution says how much of each class; else 0 */
    apl_split_by by;
    const char *group; /* of APL_BY_GROUP: the field; else NULL */
} apl_split_file;

typedef struct apl_split_list apl_split_list;

/* Lists the split files that the store's directory holds now, by name; those that cannot be used too. */
APL_API APL_MUST_USE apl_status apl_split_list_open(apl_store *store, apl_split_list **list, apl_error *err);
APL_API void apl_split_list_close(apl_split_list *list);

/* File `i` of the list; NULL if there is none, also of no list. It lives as long as the list. */
APL_API const apl_split_file *apl_split_list_file(const apl_split_list *list, size_t i);

/* The ids of any split, by its name, ascending: *count of them, into ids[0 ... *count-1]. With `ids` NULL or
 * *count too small, only sets *count (APL_E_INVALID if too small). */
APL_API APL_MUST_USE apl_status apl_split_ids(apl_store *store, const char *name, uint64_t *ids,
                                              uint64_t *count, apl_error *err);

/* How many records of any split, by its name, have each class of a field: counts[0 ... class_count-1].
 * APL_E_INVALID where the field has no classes. */
APL_API APL_MUST_USE apl_status apl_split_class_counts(apl_store *store, const char *name, unsigned field,
                                                       uint64_t *counts, apl_error *err);

/* Divides the records anew by the rule that the file of the split `name` states, and compares: APL_E_CORRUPT
 * if a record is on the wrong side. APL_E_MISMATCH if the parent has been made anew since, and so holds other
 * records than those that the split divides; a parent that has been removed is no matter. */
APL_API APL_MUST_USE apl_status apl_split_verify(apl_store *store, const char *name, unsigned threads,
                                                 apl_error *err);

#ifdef __cplusplus
}
#endif
#endif
