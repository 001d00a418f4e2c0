/* Finding images that look like a given one: all whose hashes differ in a few bits at most. */
#ifndef NEAR_H
#define NEAR_H

#include "image_hash.h"

#include <stdbool.h>

#define NEAR_MOST 31 /* bits in which hashes may differ */

struct near_index;

/* Of the records 0 ... n-1 whose `is_image` is not 0; n is below 2^32. The hashes must outlive the index. NULL: out of memory. */
struct near_index *near_index_new(const struct image_hash *hashes, const uint8_t *is_image, uint32_t n);
void near_index_free(struct near_index *index);

struct near_pair {
    uint32_t id, other;
    unsigned distance;
};

/* The record nearest to `id`, and of equally near ones the lowest, among those that `side` marks (a byte for each) and that are of
 * another group. False: none is within `bits`. */
bool near_find(const struct near_index *index, uint32_t id, unsigned bits, const uint8_t *side,
               const uint32_t *group, struct near_pair *pair);

unsigned near_distance(struct image_hash a, struct image_hash b);

#endif
