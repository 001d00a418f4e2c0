/*
 * Which blocks are in memory, on their way, or to be let go: what becomes of a block from when it enters an epoch until its last
 * delivery has been made, by this reader or by another rank. All functions are called with the reader's lock held.
 */
#ifndef RESIDENTS_H
#define RESIDENTS_H

#include "reader.h"

/* Queues the blocks that have entered the planned epoch since the last time. */
void residents_announce(apl_reader *r);

/* Makes sure that the blocks of a planned batch are loaded soon, or at all where other ranks read their lanes. */
void residents_demand(apl_reader *r, const struct job *job);

/* Takes a block to load, with slots for it; false if there is none, or no room. */
bool residents_take(apl_reader *r, struct load_item *item);

/* A block that was taken has been loaded, or could not be. */
void residents_loaded(apl_reader *r, struct load_item item, apl_status status, const apl_error *error);

/* One delivery of the block has been made. */
void residents_less(apl_reader *r, struct resident *b);

/* Deliveries of the planned epoch that this reader will not make: another rank does, or they were made before it was opened. */
void residents_pass(apl_reader *r, const uint32_t *deliveries, size_t n);

/* Chooses the blocks that stay for the epoch after the planned one: those that it needs first, as many as there is room for. */
void residents_choose_stay(apl_reader *r);

/* Takes from the front of the queue what has become of no use. */
void residents_trim(apl_reader *r);

/* Lets go of all that is not kept, and queues nothing; only while no thread is at work. */
void residents_clear(apl_reader *r);

/* Frees them all. */
void residents_free(apl_reader *r);

#endif
