/* Where crop, flip and square of a record fall: a function of seed, epoch, field, id and copy alone. */
#ifndef AUGMENT_H
#define AUGMENT_H

#include "assemble.h"

#include <stddef.h>

/* What the placements of a batch have in common. */
struct augment {
    uint64_t key, side_key, epoch;
    uint32_t height_room, width_room; /* places for the crop */
    const apl_transform *transform;
    unsigned field;
};

/* For field number `field`, to which the transform (completed: see transform.h) belongs. */
void augment_init(struct augment *a, const apl_field *of, unsigned field, const apl_transform *transform,
                  uint64_t seed, uint64_t epoch);

/* Does anything differ from record to record? If not, all placements are the one that assemble() takes
 * without any. */
bool augment_is_random(const struct augment *a);

/* Draws the placements of n rows. */
void augment_draw(const struct augment *a, const uint64_t *ids, const uint32_t *copies, size_t n,
                  struct placement *placements);

#endif
