/*
 * Splits by their names: the source's own, the parts that split files hold, and the rests (PARENT-NAME) that
 * these leave of their parents.
 */
#ifndef SPLIT_H
#define SPLIT_H

#include "random.h"
#include "split_file.h"

/* Some records of one split of the source. */
struct selection {
    unsigned source;       /* number of the source's split */
    uint64_t first, count; /* the ids of all of that split */
    uint64_t records;      /* of these, selected */
    uint32_t generation;   /* that a split of these records has: see split_file.h */
    struct bitset bits;    /* which they are: id `first` is record 0; no table: all of them */
};

/* The records of the split of that name; NULL: the store's first. APL_E_NOTFOUND without one; APL_E_MISMATCH if a split
 * that it comes from has been replaced since, or has other records than when this store first opened it. */
apl_status selection_open(const apl_store *store, const char *name, struct selection *selection,
                          apl_error *err);
void selection_close(struct selection *selection);

/* `id` must be one of the source's split. */
static inline bool selection_has(const struct selection *s, uint64_t id)
{
    return !s->bits.words || bitset_test(&s->bits, id - s->first);
}

/* APL_E_NOTFOUND: there is no split of that name; the message lists those of the source. */
apl_status split_not_found(const apl_store *store, const char *name, apl_error *err);

/* Finds the file whose rest has that name; APL_E_NOTFOUND without one. `but` is not looked at (NULL: all
 * are). */
apl_status split_find_rest(const apl_store *store, const char *name, const char *but, struct split_file *file,
                           apl_error *err);

/* Goes from a file to that which has its parent as a side, and on from there, as long as `visit` returns true. `same`: the
 * records that are divided are still those of that side; if not, it ends there. Parents whose files have been removed
 * end it too, without an error. */
typedef bool split_visit(void *context, const struct split_file *file, bool same);
apl_status split_climb(const apl_store *store, const struct split_file *file, split_visit *visit,
                       void *context, apl_error *err);

/* APL_E_MISMATCH if a name of the file, or of a split that it comes from, is one of the source's splits by now; or if a split
 * that it comes from has been replaced with other records: *replaced is then its name, which the caller frees (NULL: not
 * wanted). */
apl_status split_check_parents(const apl_store *store, const struct split_file *file, char **replaced,
                               apl_error *err);

/* APL_E_MISMATCH if the file, or one that it comes from, has other records than when a split of it was first opened by this store: what
 * goes on with the earlier ones would share records with what is opened now. */
apl_status split_check_seen(const apl_store *store, const struct split_file *file, apl_error *err);

/* Files of one division, which differ in nothing but their parts: these have consecutive numbers. */
struct split_set {
    struct split_file *files;
    size_t count;
};

/* The store itself has written these files: what it opens of them from now on is meant. */
void split_set_seen(const apl_store *store, const struct split_set *set);

/* Marks a record in the table of the part of that number, if one of the files is of that part. */
static inline void split_set_add(const struct split_set *set, uint32_t number, uint64_t record)
{
    uint32_t i = number - set->files[0].number;
    if (i < set->count)
        bitset_set(&set->files[i].tables[SPLIT_PART], record);
}

/* What the files, whose tables are filled, share with other files of splits that divide records of the same parent; and
 * whether with one of the same seed. */
apl_status split_find_overlap(apl_store *store, const struct split_set *set, apl_split_overlap *shared,
                              bool *same_seed, apl_error *err);

#define SPLIT_RANGES 4096 /* equal ones of all hashes */

/* Divides the records of `parent` by the rule that the files state, into their tables of parts, which must be
 * empty. If it is one by hash, marks in `drawn` (NULL: not wanted) the ranges that hashes of these records are in. */
apl_status split_divide(const apl_store *store, const struct selection *parent, unsigned threads,
                        const struct split_set *set, struct bitset *drawn, apl_error *err);

/* The number of the part that a hash falls in, by a rule by hash; in two: 0 is the part, 1 the rest. */
uint32_t split_part_drawn(const struct split_file *rule, uint64_t hash);

/* APL_E_INVALID if a division by hash, which is complete, leaves a side of many records empty, or divides the hashes that were drawn
 * as chance does not: that seed has divided these records before. */
apl_status split_check_chance(const apl_store *store, const struct split_set *set, const struct bitset *drawn,
                              apl_error *err);

/* May chance have drawn these, whose *share is in the file's part? Else it has a probability below e^-31. */
bool split_is_chance(const struct split_file *file, const struct bitset *drawn, double *share);

/* A record that is divided by its class. */
struct split_item {
    uint64_t order; /* the keyed hash of its unit */
    struct hash128 unit;
    uint64_t cls;
    uint64_t record; /* of the source's split */
};

/* Divides items[0 ... n-1], whose order it changes, by the set's rule, which is one by class; n is below 2^32. */
apl_status split_divide_items(const struct split_set *set, struct random_key key, struct split_item *items,
                              uint64_t n, apl_error *err);

/* The integer field by which to stratify; its number. */
apl_status split_field(const apl_store *store, const char *name, unsigned *field, apl_error *err);

#endif
