/* How an image came to its place in a batch: what masks and boxes that belong to it follow. */
#ifndef GEOMETRY_H
#define GEOMETRY_H

#include "affine.h"
#include "crop.h"

struct geometry {
    uint32_t width, height; /* of the image, in pixels */
    struct crop_plan plan;
    bool flip, vertical_flip;
    bool moved; /* by the map, after all that, within the window */
    struct affine_map map;
};

/* Of an image that is neither scaled nor flipped: a window of it from (left, top) on. */
static inline struct geometry geometry_window(uint32_t width, uint32_t height, int32_t left, int32_t top,
                                              uint32_t window_width, uint32_t window_height)
{
    return (struct geometry){.width = width,
                             .height = height,
                             .plan = {.box = {0, 0, width, height},
                                      .width = width,
                                      .height = height,
                                      .window = {left, top, window_width, window_height}}};
}

#endif
