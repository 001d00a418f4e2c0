/* Planes that are scaled by taking the nearest element, so that no value comes out that did not go in: masks. As torchvision's
 * nearest interpolation has it. */
#ifndef NEAREST_H
#define NEAREST_H

#include "geometry.h"
#include "scratch.h"
#include "warp.h"

#include <stddef.h>

/* Planes of geometry->height rows, of elements of 1, 2, 4 or 8 bytes. */
struct nearest_planes {
    unsigned count;
    size_t element;
    const uint8_t *fill; /* an element: what lies beyond them, unless it is reflected */
};

/* Writes their window, before the image is moved. False: out of memory. */
bool nearest_take(struct scratch *scratch, const struct geometry *geometry,
                  const struct nearest_planes *planes, const uint8_t *source, uint8_t *out);

/* The part of the scaled image that the window of a plan needs: of padding, what is reflected too. All zeros: it needs none. False: out of
 * memory. */
bool nearest_needed(struct scratch *scratch, const struct crop_plan *plan, struct crop_plan *inner);

/* Writes the window from that part, `inner`, of it. False: out of memory. */
bool nearest_pad(struct scratch *scratch, const struct crop_plan *plan, const struct crop_plan *inner,
                 unsigned channels, const uint8_t *source, uint8_t *out);

/* What the window becomes where the image is moved; `out` is another. */
void nearest_move(const struct geometry *geometry, const struct nearest_planes *planes, const uint8_t *window,
                  uint8_t *out);

/* The same for any map. */
void nearest_warp(const struct warp *warp, const struct geometry *geometry,
                  const struct nearest_planes *planes, const uint8_t *window, uint8_t *out);

#endif
