/* Conditions on the values of a field, such as "label=cat,dog" or "year>=2020". */
#ifndef WHERE_H
#define WHERE_H

#include "apl.h"

/* Leaves of ids[0 ... *count-1], which are ascending and of the split, those that the condition holds for. APL_E_INVALID, with
 * a message, for one that makes no sense for the store. */
apl_status where_sift(apl_store *store, const char *split, const char *condition, uint64_t *ids,
                      uint64_t *count, apl_error *err);

#endif
