/* The square that is set to 0 in a result: compiled into each variant of assemble(), in the widest stores that it has. */
#ifndef ASSEMBLE_CUT_H
#define ASSEMBLE_CUT_H

#include "assemble_variants.h"

#include <stdbool.h>
#include <string.h>

#define CLEARED 32 /* bytes at a time */

/* Like memset(), for rows so short that the call would cost most. */
static inline void assemble_clear(uint8_t *to, size_t bytes)
{
    if (bytes < CLEARED) {
        memset(to, 0, bytes);
        return;
    }
    size_t at = 0;
    for (; at + CLEARED <= bytes; at += CLEARED)
        memset(to + at, 0, CLEARED);
    if (at < bytes)
        memset(to + bytes - CLEARED, 0, CLEARED);
}

/* What a square of side `side` covers of 0 ... size - 1. */
struct span {
    size_t begin, end;
};

static inline struct span assemble_covered(int32_t at, unsigned side, unsigned size)
{
    int64_t end = (int64_t)at + side;
    return (struct span){at < 0 ? 0 : (size_t)at, end < 0 ? 0 : end < size ? (size_t)end : size};
}

/* Sets the square to 0 in the result of one image. */
static inline void assemble_cut(const struct assembly *assembly, const struct placement *placement,
                                void *image)
{
    struct span rows = assemble_covered(placement->cut_top, assembly->cutout, assembly->out_height);
    struct span columns = assemble_covered(placement->cut_left, assembly->cutout, assembly->out_width);
    if (rows.begin >= rows.end || columns.begin >= columns.end)
        return;
    bool planar = assembly->layout == APL_NCHW;
    size_t planes = planar ? assembly->channels : 1;
    size_t pixel = element_bytes(assembly->dtype) * (planar ? 1 : assembly->channels);
    size_t row_bytes = assembly->out_width * pixel, plane_bytes = assembly->out_height * row_bytes;
    size_t bytes = (columns.end - columns.begin) * pixel;
    uint8_t *at = (uint8_t *)image + columns.begin * pixel;
    for (size_t plane = 0; plane < planes; plane++)
        for (size_t row = rows.begin; row < rows.end; row++)
            assemble_clear(at + plane * plane_bytes + row * row_bytes, bytes);
}

#endif
