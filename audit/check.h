/* Do the splits of a store leak into each other, and are their classes balanced? What `apldata check` looks at. */
#ifndef CHECK_H
#define CHECK_H

#include "looks.h"
#include "repeats.h"
#include "store_splits.h"

struct check_options {
    const char *const *names; /* the splits to look at: two or more of them pair by pair; NULL: all */
    size_t count;
    const char
        *group;  /* the field whose values no two splits should share; NULL: that of a split by groups */
    bool images; /* look for near-duplicates: images whose hashes differ in at most `near` bits */
    unsigned near;
    const struct image_decoder *decoder;       /* of kept files; NULL: only pixels are compared */
    const struct split_statistics *statistics; /* NULL: nothing that chance has a part in, and no balances */
    double level; /* the chance of a false alarm, of all tests together; and, per split, of its intervals */
};

/* How much of a split is of a class, and how much of the whole. */
struct class_share {
    uint64_t records;
    double share, low, high; /* with the interval of Clopper and Pearson */
    double expected;         /* the share in the whole */
    bool outside;            /* the interval does not hold what is expected */
};

struct balance {
    const char *split, *whole; /* NULL: all of the store */
    uint64_t records;
    struct class_share *classes;
    uint64_t count, outside;
};

/* Two splits that should have nothing in common. All numbers are of records of `split`. */
struct checked_pair {
    const char *split, *other;
    bool own; /* both are splits of the source */
    uint64_t records, other_records;
    uint64_t in_both; /* that are in `other` too */
    uint64_t equal;   /* whose inputs a record of `other` has */
    const char *group;
    uint64_t grouped;          /* whose group a record of `other` has */
    uint64_t near;             /* that look like a record of `other` but do not have its inputs: */
    struct near_pair *nearest; /* each with the nearest one; those that are nearest come first */
};

struct check_report {
    struct splits_report splits;
    int class_field; /* whose classes are compared; -1: none, and no balances */
    struct balance *balances;
    size_t balance_count;
    struct checked_pair *pairs;
    size_t pair_count;
    uint64_t own_pairs; /* of the source's splits; if many, `pairs` has only those that share something */
    uint64_t more;      /* that share something, and are too many to list */
    bool more_at_least; /* there may be still more */
    struct repeats_report repeats; /* of the splits that were named, or of the source's */
    int image_field;               /* -1: near-duplicates were not looked for */
    struct looks looks;            /* of the images that were compared */
};

/* How much of it speaks against the splits: hypotheses that are rejected, files that cannot be used, pairs that share records,
 * inputs or groups. Intervals, near-duplicates and repeated inputs are reported, not tested. */
unsigned check_failures(const struct check_report *report);

apl_status check_splits(apl_store *store, const struct check_options *options, struct check_report *report,
                        apl_error *err);
void check_report_free(struct check_report *report);

#endif
