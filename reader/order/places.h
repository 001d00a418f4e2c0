/*
 * Places: to which bin a delivery goes. Keyed: anyone with the key computes the same, whatever else has been computed.
 *
 * Where the window covers the split, each delivery has a hash of its own, and with it a bin: independent and alike, so that bins that
 * are shuffled by themselves and laid end to end are a uniform permutation (Rao, 1961; Sandelius, 1962).
 *
 * Below that, what a block has is spread evenly over the bins to come: its deliveries in random order s(0) ... s(n-1), the k-th by
 * floor(bins x (s(k) + v) / n), with one random v of [0, 1). Each delivery by itself is uniform over the bins; but any m bins in a row
 * have n x m / bins of the block, to within one on either side: a batch has hardly ever two of them.
 * docs/THEORY.md has the proofs.
 */
#ifndef PLACES_H
#define PLACES_H

#include "random.h"

#include <stdbool.h>
#include <stdint.h>

#define PLACES_MOST_BINS 65536u

/* The bins, of 0 ... bins-1, of the n deliveries whose numbers begin at `first`. Number x has word x mod 4 of Philox at counter x div 4. */
void places_hash(struct random_key key, uint64_t first, uint32_t n, uint32_t bins, uint16_t *place);

/* How many of these go to each bin: adds to count[bins]. And which of them, 0 ... n-1, go to one bin, into found[n + 1], ascending. */
void places_count(struct random_key key, uint64_t first, uint32_t n, uint32_t bins, uint32_t *count);
uint32_t places_find(struct random_key key, uint64_t first, uint32_t n, uint32_t bins, uint32_t bin,
                     uint32_t *found);

/* How many bins after the one that is the oldest when their block enters the n deliveries of the block go, 1 ... bins. `start`: of a block that
 * enters when nothing stands, 0 ... bins, by what stands in a ring of bins that has always run, so that the first bins are like all
 * later ones: the chance of 0 and 1 is as bins, that of d as bins - d + 1. */
void places_block(struct random_key key, uint32_t n, uint32_t bins, bool start, uint32_t *delay);

/* The same numbers, ascending: how many deliveries go where, without which. */
void places_sorted(struct random_key key, uint32_t n, uint32_t bins, bool start, uint32_t *delay);

/* A key of one of many: of the block of this number, of the bin of this lane and turn. Philox with another key, or another counter. */
struct random_key places_key(struct random_key key, uint64_t lane, uint64_t number);

/* Shuffles n numbers: Fisher and Yates, in Durstenfeld's form. */
void places_shuffle(struct random_key key, uint32_t *numbers, uint32_t n);

#endif
