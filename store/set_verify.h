/* Verifying a set: each shard, as a store, and that it is the one of the list. */
#ifndef SET_VERIFY_H
#define SET_VERIFY_H

#include "store.h"

/* Verifies the shards one after another, each by `verify`; ids are told as the set has them. APL_E_CORRUPT if any is damaged or
 * missing, after all have been looked at; the error is the first one's. A shard that cannot be opened is told of as one bad block
 * for each of its splits. */
apl_status set_verify(apl_store *set, const apl_verify_options *options,
                      apl_status (*verify)(apl_store *shard, const apl_verify_options *options,
                                           apl_error *err),
                      apl_error *err);

#endif
