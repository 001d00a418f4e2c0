/* A block of the split, as it is cached: its stage, and the memory that it holds. */
#ifndef CACHED_BLOCK_H
#define CACHED_BLOCK_H

#include "block.h"
#include "slab.h"
#include "subset.h"

enum block_stage {
    BLOCK_OUT,     /* not here, and nobody waits for it */
    BLOCK_QUEUED,  /* to be loaded */
    BLOCK_LOADING, /* a thread is at it */
    BLOCK_IN,      /* its slots can be read */
    BLOCK_BAD      /* it could not be loaded: see error */
};

/* A block of the split. Once its stage is BLOCK_IN or BLOCK_BAD, who has a batch to collate of it may read it without the lock. */
struct cached_block {
    enum block_stage stage;
    bool stays;      /* its slots are held for the next epoch, which needs it early */
    bool demanded;   /* a planned batch waits for it */
    bool asked;      /* the kernel has been told that it will be read */
    uint32_t left;   /* deliveries to come, of this epoch */
    uint32_t *slots; /* of each chosen record; NULL where the cache keeps: then they are its first + i */
    uint16_t
        *passed; /* of each chosen record: deliveries that went to others before it was loaded; NULL: none */
    struct raw_column *ragged; /* of each field of varying shape, in `decoded` if there is that; NULL: none */
    apl_error *error;          /* of a bad block */
};

/* The slot of the i-th chosen record of a block; NO_SLOT: the epoch's sample has it not. */
#define NO_SLOT UINT32_MAX
static inline uint32_t cached_slot(const struct cached_block *b, const struct subset_block *block, uint32_t i)
{
    return b->slots ? b->slots[i] : (uint32_t)block->before + i;
}

/* Takes slots for the chosen records that an epoch's sample has (cumulative: as delivery_sample() says; NULL: all), each good for its
 * deliveries. False: too few are left, or (*nomem) no memory. */
bool cached_take_slots(struct cached_block *b, struct slab *slab, const struct subset_block *block,
                       const uint32_t *cumulative, unsigned reuse, bool *nomem);

/* The slots of a block of the epoch before, for that many more deliveries of each. False: out of memory, and they are given back. */
bool cached_share_slots(struct cached_block *b, const struct cached_block *before, struct slab *slab,
                        uint32_t count, unsigned deliveries);

/* What the loader has made of it: its values of varying shape, and the error if it is bad. */
void cached_loaded(struct cached_block *b, struct raw_column *ragged, const apl_error *error);

/* Bytes that its values of varying shape take up, of so many fields. */
uint64_t cached_varying_bytes(const struct cached_block *b, unsigned fields);

/* A delivery of a record goes to another rank: gives its slot back, or notes that for when there is one. False: out of memory. */
bool cached_pass(struct cached_block *b, struct slab *slab, uint32_t count, uint32_t nth);

/* Gives back slots of records whose deliveries went to others before the block was there; or forgets about these. */
void cached_give_passed(struct cached_block *b, struct slab *slab, uint32_t count);
void cached_forget_passed(struct cached_block *b);

/* Forgets a block, such as one whose deliveries have all been made, by this reader or by others. ragged_fields: of so many fields
 * its values of varying shape are its own; 0: other readers share them. Returns the bytes of
 * those that are freed. */
uint64_t cached_evict(struct cached_block *b, unsigned ragged_fields);

#endif
