/* Where crop, flip and square of a record fall: a function of seed, epoch, stream, id and copy alone. Fields of
 * one stream are augmented alike. */
#ifndef AUGMENT_H
#define AUGMENT_H

#include "assemble.h"

#include <stddef.h>

/* Of images as they are stored. */
struct image_shape {
    unsigned channels, height, width;
};

/* What the placements of a batch have in common. */
struct augment {
    uint64_t key, side_key, epoch;
    uint32_t height_room, width_room; /* places for the crop */
    const apl_transform *transform;
    unsigned stream;
};

/* For images of this shape, to which the transform (completed: see transform.h) belongs. */
void augment_init(struct augment *a, struct image_shape of, unsigned stream, const apl_transform *transform,
                  uint64_t seed, uint64_t epoch);

/* Does anything differ from record to record? If not, all placements are the one that assemble() takes
 * without any. */
bool augment_is_random(const struct augment *a);

/* Draws the placements of n rows. */
void augment_draw(const struct augment *a, const uint64_t *ids, const uint32_t *copies, size_t n,
                  struct placement *placements);

#endif
