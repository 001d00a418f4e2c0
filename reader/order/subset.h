/* The records that a reader is to read, block by block: those of a split of one store, or of several. */
#ifndef SUBSET_H
#define SUBSET_H

#include "store.h"

struct subset_block {
    uint64_t number;         /* among all blocks of its store */
    uint64_t first_id;       /* of the block */
    uint32_t records, count; /* in the block; of these, in the subset */
    uint32_t part;           /* the number of the part that it is of */
    uint64_t before;         /* records of the subset in the blocks before this one */
    const uint16_t *chosen;  /* which of the block's records they are, ascending; NULL: all of them */
};

/* A store, and the split of it that is read. */
struct subset_part {
    const apl_store *store;
    const char *split; /* NULL: the store's first. Not looked at once the subset is open */
    /* found out: */
    uint64_t first_id; /* of the store's record 0: ids go on from store to store */
    uint64_t records;  /* in the subset */
};

/*
 * A record of a subset is known by its reference: the block's place in the subset times `stride`, plus the
 * record's place among those chosen of the block. References have gaps where blocks are not full; they fit in 32
 * bits.
 */
struct subset {
    uint64_t records;
    uint32_t blocks, stride;
    struct subset_block *block; /* part after part, ascending by id */
    uint32_t parts;
    struct subset_part *part;
};

/* Some records by their ids, distinct and in any order. */
struct subset_ids {
    const uint64_t *ids; /* NULL: all records */
    size_t count;
};

/* The split of that name: the store's own or that of a split file (NULL: the store's first). */
apl_status subset_open(const apl_store *store, const char *split, struct subset *subset, apl_error *err);

/* The records of all parts that are in `ids`. APL_E_INVALID for an id that is in none of the splits, or that
 * comes twice. */
apl_status subset_open_parts(const struct subset_part *parts, uint32_t count, struct subset_ids ids,
                             struct subset *subset, apl_error *err);
void subset_close(struct subset *subset);

/* The name of the part's split, while the subset is being opened. */
static inline const char *subset_split(const struct subset_part *part)
{
    return part->split ? part->split : part->store->splits[0].name;
}

/* The number of the split whose mean and deviation images of the part are normalised by; -1: its store has none. */
static inline int subset_training_split(const struct subset_part *part)
{
    return apl_store_find_split(part->store, "train");
}

static inline uint64_t subset_id(const struct subset *s, uint32_t reference)
{
    const struct subset_block *b = &s->block[reference / s->stride];
    uint32_t i = reference % s->stride;
    return b->first_id + (b->chosen ? b->chosen[i] : i);
}

#endif
