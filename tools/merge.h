/* Do stores fit together, and as what? For `apldata merge`. Every call that fails has said why on stderr. */
#ifndef MERGE_H
#define MERGE_H

#include "copy.h"

/* Fills in the fields of the copy, which are those of the first store, and of each source the numbers of fields and classes. All
 * stores must have the same fields, in whatever order, with the same types and roles. Classes are those of all stores: sorted
 * by name if they are so in each; otherwise those that a store adds come after those before. */
int merge_schema(struct copy *copy, struct copy_source *sources, const char *const *paths, unsigned count);

/* Refuses a store that is given twice, by itself, over a link or within a set; notes those that are copies of others. */
int merge_check_twice(const struct copy *copy, const struct copy_source *sources, const char *const *paths,
                      unsigned count);

/* Frees what merge_schema() has made. */
void merge_free(struct copy *copy, struct copy_source *sources, unsigned count);

#endif
