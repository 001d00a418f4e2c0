/*
 * The bins: a fixed ring of locked arrays of deliveries, of any length. A keyed hash scatters the deliveries of an epoch over them; each is
 * shuffled by itself, and they are drained one after the other. Threads that have nothing better to do fill and shuffle while one takes.
 *
 *     blocks enter ──▶ fill: a hash of each delivery is its bin
 *                        │
 *                        ▼
 *          ┌─────┬─────┬─────┬─────┬─────┐
 *          │ t   │ t+1 │ t+2 │  …  │ t+w │   each with a lock
 *          └─────┴─────┴─────┴─────┴─────┘
 *            │      └ ripe: nothing can come into it any more, so that any thread may shuffle it
 *            ▼
 *          taken, in batches
 *
 * Three rules say what comes into which bin, and when a bin is ripe:
 *
 *   whole     The window covers the split (`reader/order/places.h`): bins lie end to end over the epoch. All blocks enter at once; threads take
 *             chunks of them, and sort each by bin in a place of its own. A bin is the list of its runs in all chunks, in order, so
 *             that it is the same whoever filled what; when all chunks are filled, all bins are ripe. The order is a uniform
 *             permutation, and does not depend on where blocks begin.
 *   ring      The window is smaller (`reader/order/entering.h`): whoever takes lets blocks in at each turn, and spreads each over the w bins after the oldest.
 *             So the bin after that is ripe. When the last block has entered, what stands beyond the oldest is spread once more.
 *   arriving  Free order: a loader puts a block when that is decoded, over the oldest bin and those after it. The oldest is closed when it is
 *             taken; what meets a closed bin goes to another by a second hash. Nothing here depends on what a record is.
 *
 * In sequence (`sequential`) there are no bins. With lanes, each has bins of its own, and positions go round the lanes that have any left.
 *
 * One thread at a time begins, seeks, takes; any number help, or put. Locks are held for work of one bin or chunk, never while anything is
 * loaded or another function is called; no call waits but for threads that are filling or shuffling. docs/THEORY.md has the proofs.
 */
#ifndef BINS_H
#define BINS_H

#include "plan.h"

struct bins;

/* The subset must outlive the bins. APL_E_UNSUPPORTED unless blocks x stride x reuse is below 2^32. */
apl_status bins_new(const struct plan_options *options, const struct subset *subset, struct bins **bins,
                    apl_error *err);
void bins_free(struct bins *bins);

/* Goes to the beginning of an epoch. In whole and ring order, the first to take or help fills the bins. */
void bins_begin(struct bins *bins, uint64_t epoch);

/* Goes to a place of the epoch that has been begun, right after that: counts say which bin it is in, and no other is shuffled. `evicts`: the
 * caller asks bins_past() and bins_is_gone(). False: the bins cannot, and nothing has been done; *failed: out of memory. */
bool bins_jump(struct bins *bins, uint64_t position, bool evicts, bool *failed);

/* Then: has an entered block nothing left? And of those that have: the n deliveries that are before that place, which are the caller's
 * to free. */
bool bins_is_gone(const struct bins *bins, uint32_t block);
uint32_t *bins_past(struct bins *bins, size_t *n);

/* The next `n` deliveries, or as many as are left in the epoch; arriving: as stand. Returns how many; fewer than that, with *failed
 * set, if memory runs out. */
size_t bins_take(struct bins *bins, uint32_t *deliveries, size_t n, bool *failed);

/* -------------------------------------------------------------------------------------------- helping */

/* A chunk to fill, or a bin to shuffle. */
struct bins_work {
    enum { BINS_FILL, BINS_SHUFFLE } what;
    uint32_t number; /* of the chunk, or of the bin's lane */
    uint64_t turn;   /* of the bin */
    uint16_t *places;
};

/* Takes a piece of work, if there is any; who has taken it must do it, and soon. Both from any thread. */
bool bins_claim(struct bins *bins, struct bins_work *work);
void bins_do(struct bins *bins, const struct bins_work *work);

/* ------------------------------------------------------------------------------------------- arriving */

/* Puts n deliveries of a block, numbers[i] being their numbers, ascending. From any thread, but while an epoch begins. False: out of
 * memory, and some of them may be missing. */
bool bins_put(struct bins *bins, const uint32_t *deliveries, const uint32_t *numbers, uint32_t n);

/* What has been put and not been taken. From any thread. */
uint64_t bins_standing(const struct bins *bins);

/* --------------------------------------------------------------------------------------------- asking */

/* The blocks of the subset (their places in it) in random order, as they are dealt to the lanes, which take them in turn. */
const uint32_t *bins_order(const struct bins *bins);

/* The blocks that have entered by now, in the order in which they have, and how many they are. */
const uint32_t *bins_entered(const struct bins *bins, uint32_t *count);

/* The lane that a block belongs to. */
unsigned bins_lane(const struct bins *bins, uint32_t block);

/* Deliveries so far in this epoch, and in all of it. */
uint64_t bins_position(const struct bins *bins);
uint64_t bins_length(const struct bins *bins);

#endif
