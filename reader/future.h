/*
 * When what is read from elsewhere will be needed again: for its cache, which keeps what is needed soonest. The order of the next epoch
 * is known before this one has begun. By the clock of the cache, which counts deliveries.
 *
 * A block is needed again when it enters the next epoch. A value that is read late is needed again when its record is delivered there: to
 * know that, the next epoch is drawn to its end, where it has at most FUTURE_MOST deliveries; else it is as good as its block. What ranks
 * get there that other readers serve, or blocks of their lanes, counts as needed an epoch later than that, which is not known yet.
 */
#ifndef FUTURE_H
#define FUTURE_H

#include "bins.h"

#define FUTURE_MOST ((uint64_t)1 << 24)

struct future {
    struct disk_cache *cache; /* NULL: none, and nothing is known */
    uint64_t base, first;     /* of the clock: where this reader's first epoch begins; and which that is */
    uint32_t turn, seen;      /* see disk_cache_begin(); epochs that have been seen */
    uint64_t epoch[2];        /* whose blocks and values; by parity */
    uint32_t *order;          /* scratch */
    uint32_t *place[2];    /* of each block, in the order of the epoch after; NULL: blocks stay in memory */
    struct bins *bins;     /* NULL: values are as good as their blocks */
    uint32_t *position[2]; /* of each delivery, in the epoch after */
};

/* After the planner has been opened. */
apl_status future_open(apl_reader *r, apl_error *err);
void future_free(struct future *future);

/* Finds out what an epoch needs again. By who plans, without the reader's lock. */
void future_see(apl_reader *r, uint64_t epoch);

/* When what has this place among the blocks of an epoch is needed, if that epoch begins at `begin`, and has `length` deliveries. `own`: it
 * is read here then. Else it counts as needed an epoch later. */
uint64_t future_due(uint64_t begin, uint64_t place, uint64_t length, uint32_t blocks, bool own);

/* When block `index` of an epoch (or of that parity), or the record of a delivery, is needed after that epoch. */
uint64_t future_of_block(const apl_reader *r, uint64_t epoch, uint32_t index);
uint64_t future_of_delivery(const apl_reader *r, uint64_t epoch, uint32_t delivery);

#endif
