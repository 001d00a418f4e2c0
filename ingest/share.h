/*
 * The share of one part of a set: of each split of the source, the same number of records as every other part's to within one, and
 * consecutive ones. A set numbers records split by split, and within a split shard by shard, so its parts in order have the
 * records in the order of one ingest.
 */
#ifndef SHARE_H
#define SHARE_H

#include "status.h"

#include <stdbool.h>

struct share_split {
    char name[APL_MAX_NAME + 1];
    uint32_t number;       /* of a member of it that has no records */
    uint64_t total, seen;  /* records in the source; how many of them have come */
    uint64_t first, count; /* the part's: first ... first + count - 1 */
};

/* From {.part = 0} (all records are its own) or the part's number and that of parts, to share_free(). */
struct share {
    unsigned part, parts; /* 1 ... parts */
    struct share_split *splits;
    size_t count;
};

void share_free(struct share *share);

/* The split has this many more records. `number`: of a member that puts it in its place among the splits. */
apl_status share_count(struct share *share, const char *split, uint32_t number, uint64_t records,
                       apl_error *err);

/* The part's records of a split, of which all have been counted; of what is no part, all. */
void share_range(const struct share *share, const char *split, uint64_t *first, uint64_t *count);

/* Are any of the next `records` of that split the part's own? */
bool share_peek(const struct share *share, const char *split, uint64_t records);

/* The same, and they have come, or have been passed over. */
bool share_pass(struct share *share, const char *split, uint64_t records);

/* Have all of its records come? */
bool share_ended(const struct share *share);

#endif
