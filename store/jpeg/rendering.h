/*
 * What makes pixels of the coefficients of a JPEG image. An indexed image says it twice: in its own head, by which readers decode, and in
 * the headers of the file that it restores. Both are read into this one struct, and the two are compared whole.
 */
#ifndef RENDERING_H
#define RENDERING_H

#include "blocks.h"

enum image_colours { IMAGE_GREY, IMAGE_YCC, IMAGE_RGB };

/* Without padding, which the compiler checks, and zeros where there is nothing: so equal ones are equal byte by byte, and a member
 * that is added is compared, too. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
struct rendering {
    struct frame frame;
    enum image_colours colours;
    uint8_t tables[BLOCKS_COMPONENTS][BLOCK_VALUES]; /* of quantisation, of each component, in zigzag order */
};
#pragma GCC diagnostic pop

static inline bool rendering_same(const struct rendering *a, const struct rendering *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

#endif
