/* Making sums right that a mutation made wrong, so that what they guard is reached. */
#ifndef REPAIR_H
#define REPAIR_H

#include "block.h"
#include "manifest.h"

/* A number below `below`, of the mutator's own: libFuzzer gives a seed for each mutation. */
unsigned draw(unsigned *seed, unsigned below);

/* Writes a number of some interest, such as one of the edges of what fits, to `bytes` bytes. */
void put_interesting(uint8_t *at, unsigned bytes, unsigned *seed);

void repair_manifest(uint8_t *bytes, size_t size);

/* The schema is that which the block is read with; NULL: the header's sum only. */
void repair_block(uint8_t *bytes, size_t size, const struct schema *schema);

#endif
