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

/* Mutates the entries of a manifest of more than 24 bytes; its checksum is not right afterwards. */
size_t mutate_entries(uint8_t *data, size_t size, size_t room, unsigned *seed);

/* The schema is that which the block is read with; NULL: the header's sum only. */
void repair_block(uint8_t *bytes, size_t size, const struct schema *schema);

#endif
