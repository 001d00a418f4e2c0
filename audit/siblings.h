/* Splits made by `apldata split` that divide the same records, so that they have some in common. */
#ifndef SIBLINGS_H
#define SIBLINGS_H

#include "apl.h"

/* No two of them are parts of divisions into many: these have all records of their parents in any case. */
struct siblings {
    const apl_split_file *a, *b;
    const char *shares; /* of a, what shares records with the part of b: its part, or else its rest */
};

struct siblings_list {
    struct siblings *list;
    size_t count;
};

/* All pairs, or those of which one's part or rest is among names[0 ... count-1] (NULL: all). Of a division into many parts, the
 * first hundred are looked at. free(found->list). */
apl_status siblings_find(apl_store *store, const apl_split_list *files, const char *const *names,
                         size_t count, struct siblings_list *found, apl_error *err);

#endif
