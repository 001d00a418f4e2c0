/* The splits of a store: those that its files make, and how far its own share inputs. */
#ifndef STORE_SPLITS_H
#define STORE_SPLITS_H

#include "apl.h"
#include "overlaps.h"
#include "split_tests.h"

/* A split file, and what was found of it. */
struct audited_split {
    const apl_split_file *file; /* lives as long as the list */
    struct split_report report; /* the last finding: is each record where the file's rule puts it? */
};

/* Two of the source's own splits. */
struct shared_inputs {
    const char *name, *other; /* the same: inputs that come repeatedly in it */
    uint64_t records;         /* of `other` whose inputs a record of `name` has (that comes before it) */
    uint64_t count;           /* records of `other` */
};

struct splits_report {
    uint32_t *equal; /* of each id, the lowest with equal inputs */
    apl_split_list *list;
    struct audited_split *splits; /* without files that cannot be used */
    unsigned count, unusable;
    unsigned of_other_lists;      /* files that other lists of the set use; nothing is wrong with them */
    unsigned findings, rejected;  /* of all of them: by Holm's procedure */
    struct overlaps overlaps;     /* of inputs, of all splits of the source */
    struct shared_inputs *shared; /* the list of them, in words */
    unsigned shared_count;
};

/* Examines the split files of a store. The level is that of all tests of all splits together; without `statistics` (NULL), only
 * what leaves nothing to chance is looked at. */
apl_status splits_audit(apl_store *store, double level, const struct split_statistics *statistics,
                        struct splits_report *report, apl_error *err);
void splits_report_free(struct splits_report *report);

/* The same of those alone whose part or rest is one of names[0 ... count-1]. */
apl_status splits_audit_named(apl_store *store, const char *const *names, size_t count, double level,
                              const struct split_statistics *statistics, struct splits_report *report,
                              apl_error *err);

/* The ids of a split, ascending; free(ids). */
struct split_ids {
    uint64_t *ids, count;
};
apl_status splits_ids(apl_store *store, const char *name, struct split_ids *ids, apl_error *err);

/* How many ids two splits have in common. */
uint64_t splits_common(const struct split_ids *a, const struct split_ids *b);

/* How many records of `b` are of a group that a record of `a` is of. `group` names groups by their lowest ids; `seen`, by id,
 * is all UINT32_MAX before and after. */
uint64_t splits_shared(const uint32_t *group, uint32_t *seen, const struct split_ids *a,
                       const struct split_ids *b);

/* How many split files the store has now, those that are refused among them, without those of other lists of a set. */
apl_status splits_count(apl_store *store, unsigned *count, apl_error *err);

#endif
