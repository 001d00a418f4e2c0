/* A crop seen from the side: torchvision's RandomPerspective. */
#ifndef PERSPECTIVE_H
#define PERSPECTIVE_H

#include "effects.h"
#include "warp.h"

/* Where the corners of a crop go, clockwise from the upper left one: the middles of pixels, which these are. */
struct perspective_corners {
    int32_t x[4], y[4];
};

/* The unit square to the corners: x = (to[0] u + to[1] v + to[2]) / w, y = (to[3] u + to[4] v + to[5]) / w, w = to[6] u + to[7] v + to[8];
 * and back, to pixels. */
struct perspective {
    double to[9], back[9];
    uint32_t width, height;
};

/* Does the transform ask for it? */
bool perspective_any(const apl_transform *t);

/* Checks what is asked for, and fills in defaults. */
apl_status perspective_check(const char *field, unsigned channels, apl_transform *t, apl_error *err);

/* Draws the corners of a crop of this size; false: it stays as it is. */
bool perspective_draw(const apl_transform *t, const struct effect_draws *draws, uint32_t height,
                      uint32_t width, struct perspective_corners *corners);

/* The map that takes the corners of a crop to these; false: none, as three lie on a line. */
bool perspective_of(const struct perspective_corners *corners, uint32_t height, uint32_t width,
                    struct perspective *map);

/* Of `map`, which must stay. */
struct warp perspective_warp(const struct perspective *map);

#endif
