/* Are the parts that aplingest has made joined all? Without one that is missing, a set would look whole. */
#ifndef SET_COMPLETE_H
#define SET_COMPLETE_H

#include "set_list.h"

/* Of each directory that has some of the shards' parts (part-0003-of-0016), all of that number must be there: APL_E_INCOMPLETE,
 * and the first that is missing. Shards of other names do not matter. Errors begin with `shown`, the set, unless it is empty. */
apl_status set_check_complete(const struct shard *shards, uint32_t count, const char *shown, apl_error *err);

#endif
