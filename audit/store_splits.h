/* The splits of a store: those that its files make, and how far its own share inputs. */
#ifndef STORE_SPLITS_H
#define STORE_SPLITS_H

#include "apl.h"
#include "splits.h"

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
    apl_split_list *list;
    struct audited_split *splits; /* without files that cannot be used */
    unsigned count, unusable;
    unsigned findings, rejected; /* of all of them: by Holm's procedure */
    struct shared_inputs *shared;
    unsigned shared_count;
};

/* Examines the split files of a store. The level is that of all tests of all splits together. */
apl_status splits_audit(apl_store *store, double level, struct splits_report *report, apl_error *err);
void splits_report_free(struct splits_report *report);

/* How many split files the store has now that can be used. */
apl_status splits_count(apl_store *store, unsigned *count, apl_error *err);

#endif
