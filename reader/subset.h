/* The records of a split, block by block. */
#ifndef SUBSET_H
#define SUBSET_H

#include "store.h"

struct subset_block {
    uint64_t number;         /* among all blocks of the store */
    uint64_t first_id;       /* of the block */
    uint32_t records, count; /* in the block; of these, in the split */
    uint64_t first;          /* records of the split in the blocks before this one */
    const uint16_t *members; /* which of the block's records are in the split, ascending; NULL: all of them */
};

/*
 * A record of a split is known by its reference: the block's place in the subset times `stride`, plus the
 * record's place among the block's members. References have gaps where blocks are not full; they fit in 32
 * bits.
 */
struct subset {
    uint64_t records;
    unsigned source; /* number of the source's split that all of them are of */
    uint32_t blocks, stride;
    struct subset_block *block;
};

/* The split of that name: the store's own or that of a split file (NULL: the store's first). */
apl_status subset_open(const apl_store *store, const char *split, struct subset *subset, apl_error *err);
void subset_close(struct subset *subset);

static inline uint64_t subset_id(const struct subset *s, uint32_t reference)
{
    const struct subset_block *b = &s->block[reference / s->stride];
    uint32_t i = reference % s->stride;
    return b->first_id + (b->members ? b->members[i] : i);
}

#endif
