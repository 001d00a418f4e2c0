/* Planes that are scaled by taking the nearest element, so that no value comes out that did not go in: masks. As torchvision's
 * nearest interpolation has it. */
#ifndef NEAREST_H
#define NEAREST_H

#include "geometry.h"
#include "scratch.h"

#include <stddef.h>

/* Writes the window of `planes` planes of geometry->height rows, of elements of 1, 2, 4 or 8 bytes: what lies beyond them is 0,
 * unless it is reflected. False: out of memory. */
bool nearest_take(struct scratch *scratch, const struct geometry *geometry, const uint8_t *source,
                  unsigned planes, size_t element, uint8_t *out);

#endif
