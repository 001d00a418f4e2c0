/* Which of a source's own splits share inputs or groups, of all pairs of them, in time and memory that grow with the
 * records and the splits, not with the pairs. */
#ifndef OVERLAPS_H
#define OVERLAPS_H

#include "apl.h"

#include <stdbool.h>
#include <stdint.h>

/* Splits `a` and `b` of the store, a <= b. */
struct overlap {
    uint32_t a, b;
    uint64_t records; /* of b whose group a record of a has; a == b: whose group an earlier one of a has */
};

#define OVERLAPS_ALL  100 /* this many pairs of splits are all listed; of more, those that share something, */
#define OVERLAPS_MOST 1000 /* up to this number of pairs */

struct overlaps {
    struct overlap *list; /* by a and b */
    uint32_t count;
    uint64_t pairs;     /* of different splits: how many were looked at */
    uint64_t more;      /* of different splits that share something, and are not in the list */
    bool more_at_least; /* there may be still more: counting them has been given up */
};

/* Pairs of which `wanted` marks at least one (by number of split; NULL: all). group[id]: the lowest id of the record's
 * group. free(overlaps->list). */
apl_status overlaps_find(const apl_store *store, const uint32_t *group, const bool *wanted,
                         struct overlaps *overlaps, apl_error *err);

/* Compares two overlaps, for qsort() and bsearch(). */
int overlaps_by_pair(const void *a, const void *b);

#endif
