/* Which records are looked at, if not all are. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdint.h>

struct sample_plan {
    uint64_t records, block_records; /* of the store; both above 0 */
    uint64_t block_bytes;            /* decoded */
    uint64_t most;                   /* records to look at; above 0 */
    uint64_t most_bytes;             /* to decode, as long as that leaves a block */
};

/* How many records that will be, at most plan->most. */
uint64_t sample_size(const struct sample_plan *plan);

/*
 * Their ids, ascending: equally many from each of some blocks, which are spread evenly over the store; all if they are few. The same for
 * the same plan, but without a period.
 */
uint64_t sample_ids(const struct sample_plan *plan, uint64_t *ids);

#endif
