/* A rectangle of the result at a random place that is overwritten: torchvision's RandomErasing. */
#ifndef ERASE_H
#define ERASE_H

#include "apl.h"
#include "assemble.h"
#include "draws.h"

struct erase_box {
    uint32_t top, left, height, width;
};

/* Draws the box in a result of this size; false: nothing is erased. */
bool erase_draw(const apl_transform *t, const struct effect_draws *draws, uint32_t height, uint32_t width,
                struct erase_box *box);

/* Erases the box, if one is drawn, in the result of one image, which assemble() has written. */
void erase_apply(const apl_transform *t, const struct assembly *assembly, const struct effect_draws *draws,
                 void *image);

#endif
