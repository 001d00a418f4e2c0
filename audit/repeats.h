/* Records of a split whose inputs a record before them in the same split has, as where stores were merged that share records. */
#ifndef REPEATS_H
#define REPEATS_H

#include "apl.h"

struct repeat {
    uint32_t id, first; /* first: the lowest id of the split with equal inputs */
};

struct repeats {
    const char *split;
    uint64_t records;    /* of the split */
    struct repeat *list; /* by id; the report's */
    size_t count;
};

struct repeats_report {
    struct repeats *splits; /* of those that have any; in the order given */
    size_t count;
};

/* Looks at names[0 ... count-1], or, if there are none, at all splits of the source. `equal`: of each id the lowest with equal inputs.
 * `seen`: by id, all UINT32_MAX before and after. */
apl_status repeats_find(apl_store *store, const char *const *names, size_t count, const uint32_t *equal,
                        uint32_t *seen, struct repeats_report *report, apl_error *err);
void repeats_free(struct repeats_report *report);

#endif
