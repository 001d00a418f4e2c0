/* Which blocks will be loaded next, so that they can be asked for before. With the reader's lock held. */
#ifndef CACHE_AHEAD_H
#define CACHE_AHEAD_H

#include "block_cache.h"

/* The blocks that will be taken next, as far as is known; returns how many, `most` at most. */
unsigned cache_next(const apl_reader *r, struct load_item *items, unsigned most);

/* The block at r->cache.beyond, which is moved on to the next one that has not entered yet, and will be loaded in this epoch. False: there is
 * none, or it is too far off, or nobody has begun the epoch. */
#define CACHE_BEYOND 1024u
bool cache_beyond(apl_reader *r, struct load_item *item);

/* Of a block that was taken and those that will be next, those for which this has not been called yet. */
#define CACHE_UNASKED 16u
unsigned cache_unasked(apl_reader *r, struct load_item taken, struct load_item *items);

#endif
