/*
 * Which blocks are in memory, on their way, or to be evicted: what becomes of a block from when it enters an epoch until its last
 * delivery has been made, by this reader or by another rank. If the window covers the split, the cache keeps: a block that has been
 * loaded is there for good. With the reader's lock held, unless said otherwise.
 */
#ifndef BLOCK_CACHE_H
#define BLOCK_CACHE_H

#include "decoded.h"
#include "load_ring.h"
#include "retention.h"
#include "standing.h"

struct bins;
struct job;

struct block_cache {
    bool keeps;
    struct standing standing;
    struct decoded *decoded; /* whose values the slab has, where the cache keeps; NULL: they are its own */
    struct load_ring entered,
        demanded; /* blocks to load: as they enter, and (where it keeps) as planned batches need them */
    struct retention retention;
    uint64_t epoch;     /* whose blocks enter */
    uint32_t announced; /* how many of these have been queued */
    uint32_t
        beyond; /* before which place in the epoch's order blocks have been asked for, though they have not entered */
    uint32_t in;            /* where the cache keeps: how many are there for good */
    uint32_t loading;       /* how many are on their way */
    uint64_t varying_bytes; /* of values of varying shape in blocks that are here, whoever else shares them */
};

apl_status cache_open(apl_reader *r, const size_t *value_bytes, uint32_t slots, apl_error *err);
void cache_free(apl_reader *r);

/* No reader to come shares what a thread of this one is stuck in. */
void cache_retire(apl_reader *r);

/* Blocks of another epoch begin to enter. */
void cache_begin_epoch(apl_reader *r, uint64_t epoch);

/* Is the block of a lane that other ranks read? Then it is loaded only if a batch of this one comes to need it. */
bool cache_is_foreign(const apl_reader *r, const struct bins *bins, uint32_t index);

/* Queues the blocks that have entered since the last time. */
void cache_announce(apl_reader *r, const struct bins *bins);

/* Makes sure that the blocks of a planned batch are loaded soon, or at all where other ranks read their lanes. */
void cache_demand(apl_reader *r, const struct job *job);

/* Takes a block to load, with slots for it; false if no block is wanted, or there is no room. */
bool cache_take(apl_reader *r, struct load_item *item);

/* A block that was taken has been loaded, or could not be. ragged: of each field of varying shape, its values; may be NULL. */
void cache_loaded(apl_reader *r, struct load_item item, struct raw_column *ragged, apl_status status,
                  const apl_error *error);

/* Gives back the slots that a batch has been collated from; without the lock. `slots` is scratch for its rows. */
void cache_release(apl_reader *r, const struct job *job, uint32_t *slots);

/* The deliveries of a batch have been made. */
void cache_consume(apl_reader *r, struct job *job);

/* A batch is dropped: if its deliveries have not been made, because a block of it is bad, they will not come either. */
void cache_forgo(apl_reader *r, const struct job *job);

/* Deliveries of the epoch that this reader will not make: another rank does, or they were made before it was opened. */
void cache_pass(apl_reader *r, const uint32_t *deliveries, size_t n);

/* A planned batch has a part of this delivery, which another batch ends: its block stays until both are collated. */
void cache_hold(apl_reader *r, uint32_t delivery);

/* Evicts all that is not kept, and queues nothing; only while no thread is at work. */
void cache_clear(apl_reader *r);

/* Is all of the split here for good? */
bool cache_is_whole(const apl_reader *r);

/* Is a block of the epoch before still being loaded, whose place the next one needs? */
bool cache_loads_late(const apl_reader *r);

/* Any block that is being loaded; false: none is. */
bool cache_finds_loading(const apl_reader *r, uint32_t *index);

/* Slots that are taken. */
uint32_t cache_standing(struct block_cache *c);

/* Do blocks make room for others? */
static inline bool cache_evicts(const struct block_cache *c)
{
    return !c->keeps;
}

static inline const struct cached_block *cache_block(const struct block_cache *c, uint64_t epoch,
                                                     uint32_t index)
{
    return standing_block(&c->standing, epoch, index);
}

#endif
