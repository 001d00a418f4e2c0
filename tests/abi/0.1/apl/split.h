/* apl/split.h - named subsets of a store's records; part of apl.h, which states the general rules. */
#ifndef APL_SPLIT_H
#define APL_SPLIT_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A store has the splits of its source, and can be given more at any time without being changed. Making the split
 * "val" from the parent "train" writes a file db/val.split, which divides the records of "train" in two:
 *
 *     val          the part: about `ratio` of train
 *     train-val    the rest: train without val ("PARENT-NAME")
 *
 * A reader can use either name, just like the names of the source's splits; so can the `parent` of another split. To
 * hold out a tenth, train on "train-val" and validate on "val". A second split "dev" of "train-val" gives "dev" and
 * "train-val-dev". If a name is ambiguous, the source's own split wins, then the file of that name, then a rest.
 *
 * Which side a record falls on depends on its input fields, the ratio, the seed, and how many splits lie between this
 * one and the source's: a hash of the inputs, keyed by the last two, is compared with the ratio. Therefore
 *
 *   - records with equal inputs are never on both sides, whatever their labels and names;
 *   - the sides are the same on every machine, whatever the order in which a store holds its records;
 *   - when a store grows, the records that were there before stay on their sides;
 *   - the size of the part is random: n records give ratio x n, give or take sqrt(n ratio (1 - ratio)), with a larger
 *     spread where many inputs are equal.
 *
 * With `stratify`, each class is divided on its own, and exactly. Records with equal inputs form a group. Each class
 * contributes whole groups, in the order of their hashes, as long as they do not exceed ratio x (records of the
 * class), rounded to nearest. So a class falls short by less than one group; if all inputs differ, it does not fall
 * short at all. A group with several labels counts towards the lowest of them. When a store grows, a few records may
 * change sides.
 *
 * Something other than the inputs can be hashed: see apl_split_by. Equal inputs may then be on both sides; `apldata
 * check` finds them. With `group`, the name of a field, all records with the same value of that field are on one
 * side: the images of one patient, the takes of one speaker, the frames of one video. The field may have any role; it
 * holds whole numbers, bools or bytes of a fixed shape, or text. The ratio is then a fraction of groups, not of
 * records. With `stratify` too, a group counts towards its most frequent class (of several, the lowest), and a class
 * falls short by less than one group.
 *
 * To hold out several parts, let each divide what the last one leaves: "test" of "train", then "val" of "train-test",
 * and train on "train-test-val". Two splits of the same parent overlap: the hashes of one seed put the smaller into the
 * larger, as a rule, and those of two seeds put some of the records into both. So a split is refused (APL_E_INVALID) if it
 * would share records with one that divides the same records, or some of them, by the same seed. The message names that
 * split and the parent to divide instead. `overlap` allows it, as for parts of growing size. With different seeds, as for
 * repeated random subsampling, the split is made, and `shared` tells what it has in common with others. What comes from a
 * split does not overlap it; nor do two divisions into many parts count, which both have all records of the parent.
 *
 * A split that comes from another belongs to the records that this had. Once the other has been replaced and has other
 * records, the store refuses what comes from it (APL_E_MISMATCH), which could otherwise share records with what it was
 * kept apart from; make it again. If the other's file has been removed, what comes from it can still be used.
 *
 * A store that is open remembers which records the split files had that it has opened, and those that these come from. If
 * another process, or another apl_store, has since replaced one with other records, that store refuses it
 * (APL_E_MISMATCH): a reader that goes on with the old part would share records with one on the new rest. Open the store
 * again, and its readers. A split that is replaced through the store itself is taken to be meant: its readers keep their
 * records, and those opened afterwards have the new ones.
 *
 * A split file belongs to the content of one store: if the data has been replaced by other data, the store refuses
 * the file (APL_E_MISMATCH). It can be removed like any file, even while in use. If the same records have been stored again
 * from a source that has a split of one of the file's two names, that name means the source's split, and the store refuses
 * the file under the other name, and what comes from it: the rest would still lack records that now no name means.
 *
 * A set that has grown has splits for each of its lists. Where db/val.split belongs to another list, it is left alone:
 * this list's is db/val.split-DIGEST, with the first 16 hexadecimal digits of the content digest. So who resumes with
 * the older list finds its splits, and the new list gets its own from the same call. Once the older list has been
 * removed, `replace` replaces its file.
 */

/* What is hashed to find a record's side. The numbers are written to split files and never change. */
typedef enum apl_split_by {
    APL_BY_CONTENT = 0, /* its inputs: equal inputs stay together, wherever they are */
    APL_BY_KEY = 1,     /* its member's number and its row there: shuffling a store moves no record */
    APL_BY_ID = 2,      /* its id in this store */
    APL_BY_GROUP = 3    /* its value of the field `group`; reported in apl_split_file, not valid in options */
} apl_split_by;

/* What a new split has in common with others that divide the same records. */
typedef struct apl_split_overlap {
    uint64_t records;  /* that it shares with `other`; 0: nothing is shared */
    unsigned splits;   /* how many others share some */
    char message[488]; /* all this in one line, with what to do; "" if nothing is shared */
} apl_split_overlap;

typedef struct apl_split_options {
    size_t size;          /* sizeof(apl_split_options); members that an older version lacks are taken as 0 */
    const char *name;     /* 1 ... 200 bytes, usable as a file name: no '/', no leading '.' */
    double ratio;         /* strictly between 0 and 1 */
    const char *parent;   /* NULL: "train", or the store's first split if it has no "train" */
    const char *stratify; /* a target field with one whole number per record; NULL: by hash alone */
    uint64_t seed;        /* a different seed gives a different split */
    unsigned threads;     /* 0: one per core; APL_NO_THREADS: only the caller's */
    int replace;          /* 1: replace an existing split file */
    const char *group;    /* a field whose equal values stay together; `by` must then be 0. NULL: none */
    apl_split_by by;
    apl_split_overlap
        *shared; /* what it has in common with others, if it is made nevertheless; may be NULL */
    int overlap; /* 1: it may overlap others with the same seed too */
} apl_split_options;
#define APL_SPLIT_OPTIONS_INIT                                                                 \
    {                                                                                          \
        sizeof(apl_split_options), NULL, 0, NULL, NULL, 0, 0, 0, NULL, APL_BY_CONTENT, NULL, 0 \
    }

/*
 * Makes a split and writes its file atomically. Takes the same lock as writers. Either side may turn out empty, if
 * there are few records; readers refuse an empty one (APL_E_INVALID). Likely errors: APL_E_INVALID (the name is taken
 * or not a valid name; the split overlaps another; or a side of many records would be empty, or a hash would give it another
 * share than it gives by chance, as of a store that was extracted from a split of the same seed, which has divided these
 * records before: choose another), APL_E_NOTFOUND (parent or field), APL_E_EXISTS, APL_E_BUSY (a store is being written there), APL_E_MISMATCH (the store has been
 * replaced since it was opened), APL_E_IO, APL_E_CORRUPT (a block).
 */
APL_API APL_MUST_USE apl_status apl_split_make(apl_store *store, const apl_split_options *options,
                                               apl_error *err);

/*
 * Divides the parent into many parts, each of which is a split: NAME-0 ... NAME-(parts-1), with the rests
 * PARENT-NAME-0 ... Each record of the parent is in exactly one part, and records with equal inputs are in the same
 * part. Use it for cross-validation, where "cv-3" validates what was trained on "train-cv-3", or for the clients of
 * federated learning. options->ratio must be 0. As in a split, `group` or `by` replace equality of inputs.
 *
 * Without `stratify`, the keyed hash decides record by record, as in a split: parts are about equal in size, and when
 * the store grows, no record moves. With `stratify`, the parts have equally many records of each class: to within one
 * if all inputs differ, otherwise to within less than two groups of equal inputs.
 *
 * With a `concentration` above 0 (0.000001 to 1000000, rounded to millionths), the parts have different shares of each
 * class. For each class, the shares are drawn independently from the symmetric Dirichlet distribution with that
 * concentration, and each group of equal inputs goes to a part with these probabilities. Below 1, a few parts hold most
 * of a class; far above 1, shares are nearly equal. Parts may turn out empty. The classes are those of `stratify`; if
 * that is NULL, of the only target in the store that qualifies. The draws are keyed by the seed and use integer
 * arithmetic, so they are the same on every machine.
 *
 * Either all files are written, or an error leaves none of them (some of those to be replaced may then be gone). SIGINT,
 * SIGTERM and SIGHUP to the calling thread undo what has been written (APL_E_CANCELLED, where the process lives on), or wait
 * until all files are in their places. SIGKILL and power cuts in between may leave some of them. Needs parts x records / 4 bytes of memory.
 * Errors: those of apl_split_make().
 */
#define APL_MAX_PARTS 10000
APL_API APL_MUST_USE apl_status apl_split_parts(apl_store *store, const apl_split_options *options,
                                                unsigned parts, double concentration, apl_error *err);

/* A split file. Later versions may append members. */
typedef struct apl_split_file {
    const char *name;     /* of the part; the file's name is this and ".split", or ".split-DIGEST" */
    const char *rest;     /* of the rest; NULL, like the names below, if the file cannot be used */
    const char *parent;   /* its name when the split was made */
    const char *source;   /* the split of the source that it comes from */
    const char *stratify; /* the field; NULL: by hash alone */
    double ratio;
    uint64_t seed;
    uint64_t records, rest_records;
    /* APL_OK, or why the file cannot be used: APL_E_CORRUPT, ...; APL_E_MISMATCH: it belongs to another store, such
     * as one that was here before, or the source now has a split of its name, or of the name of its rest. */
    apl_status status;
    const char *message; /* the same as text; "" if APL_OK */
    /* For apl_split_parts(): the number of this part, and of all parts; the ratio is then 1 / parts. Both are 0 for a
     * division in two. */
    unsigned part, parts;
    double concentration; /* of the Dirichlet distribution of class shares; 0: not used */
    apl_split_by by;
    const char *group; /* for APL_BY_GROUP, the field; otherwise NULL */
    /* For APL_E_MISMATCH in a set: the file of the list that the split belongs to, such as set-DIGEST.apl, if that is
     * there: then the file is in use. Otherwise NULL. */
    const char *list;
    /* For APL_E_MISMATCH: the split that this one comes from and that has been replaced with other records since; this one
     * has to be made again. Otherwise NULL. */
    const char *replaced;
} apl_split_file;

typedef struct apl_split_list apl_split_list;

/* Lists the split files now in the store's directory, sorted by name, including those that cannot be used. */
APL_API APL_MUST_USE apl_status apl_split_list_open(apl_store *store, apl_split_list **list, apl_error *err);
/* Lists in the same way the files in a set's directory that belong to a list that has been removed, and can be removed
 * too: db/val.split beside the db/val.split-DIGEST that is used instead, and db/val.split-DIGEST of the removed list.
 * Each has a name, a status (APL_E_MISMATCH) and a message, which names the file. None for a store that is no set. */
APL_API APL_MUST_USE apl_status apl_split_list_left(apl_store *store, apl_split_list **list, apl_error *err);

APL_API void apl_split_list_close(apl_split_list *list);

/* File `i` of the list; NULL if `i` is out of range or the list is NULL. It lives as long as the list. */
APL_API const apl_split_file *apl_split_list_file(const apl_split_list *list, size_t i);

/* Writes the ids of any split, by name, in ascending order to ids[0 ... *count-1]. If `ids` is NULL or *count is too
 * small, only sets *count (APL_E_INVALID if it was too small). */
APL_API APL_MUST_USE apl_status apl_split_ids(apl_store *store, const char *name, uint64_t *ids,
                                              uint64_t *count, apl_error *err);

/* Counts the records of any split, by name, in each class of a field: counts[0 ... class_count-1]. APL_E_INVALID if the
 * field has no classes. */
APL_API APL_MUST_USE apl_status apl_split_class_counts(apl_store *store, const char *name, unsigned field,
                                                       uint64_t *counts, apl_error *err);

/* Divides the records again by the rule in the file of the split `name`, and compares: APL_E_CORRUPT if a record is on
 * the wrong side; APL_E_MISMATCH if the parent has since been replaced with other records. It does not matter if the
 * parent has been removed. */
APL_API APL_MUST_USE apl_status apl_split_verify(apl_store *store, const char *name, unsigned threads,
                                                 apl_error *err);

#ifdef __cplusplus
}
#endif
#endif
