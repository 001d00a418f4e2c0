/*
 * Assembly: from where images stand decoded to their places in a batch, in one pass: pad, crop, flip,
 * scale, convert, cut out. No threads, no I/O, no order, no randomness: a pure function of its arguments,
 * bit-equal on every machine.
 */
#ifndef ASSEMBLE_H
#define ASSEMBLE_H

#include "apl.h"

#include <stdbool.h>

/* What is the same for all images of a batch. Sources are u8, planar: channel, row, column. */
struct assembly {
    unsigned channels, height, width; /* of a source */
    unsigned pad;                     /* pixels on every side of the source, before cropping */
    apl_pad pad_mode; /* zero: stored value 0, scaled like any other; reflect: without repeating the edge */
    unsigned out_height, out_width; /* of the crop */
    unsigned cutout;                /* side of the square that is set to 0 in the result; 0: none */
    apl_dtype dtype;                /* of the result: APL_U8, APL_F32, APL_F16, APL_BF16 */
    apl_layout layout;
    /* Results that are floats: v * scale + bias, the product rounded to f32 before the sum is taken; halves
     * then rounded to nearest even, to infinity where they are too large. Both finite. APL_U8: v as it is. */
    float scale[APL_MAX_CHANNELS], bias[APL_MAX_CHANNELS];
};

/* What is different for each image. */
struct placement {
    int32_t top,
        left; /* of the crop in the padded source: 0 ... height + 2 pad - out_height, likewise left */
    int32_t cut_top, cut_left; /* of the square in the result; it may stick out on any side */
    bool flip;                 /* left and right, of the crop */
    bool vertical_flip;        /* top and bottom, of the crop */
};

/* Bytes of one result. */
size_t assemble_bytes(const struct assembly *assembly);

/* Where a crop in the middle begins, if `rest` of a side is left: at half of it, rounded to the even pixel, as torchvision does. */
int32_t assemble_middle(uint32_t rest);

/* Writes `count` results one after another to `out`, aligned to 64 bytes. `placements` may be NULL: the crop
 * in the middle (see assemble_middle()), no flip, no square. The caller has checked that all of it fits:
 * pad < height and width for APL_PAD_REFLECT, crops no larger than the padded source, and that no longer or
 * wider than INT32_MAX. Of memory, sources and results are touched and not a byte around them: threads may
 * write neighbouring results. */
void assemble(const struct assembly *assembly, const uint8_t *const *sources,
              const struct placement *placements, size_t count, void *out);

/* Fields without a transform: `count` values of `bytes` bytes each, one after another. */
void gather(const uint8_t *const *sources, size_t bytes, size_t count, void *out);

#endif
