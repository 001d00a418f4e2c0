/* What all variants of assemble() share: the size of a result, where its crop is, and its square. */
#include "assemble_variants.h"

#include <string.h>

#define CLEARED 32 /* bytes at a time */

size_t assemble_bytes(const struct assembly *assembly)
{
    return (size_t)assembly->channels * assembly->out_height * assembly->out_width *
           element_bytes(assembly->dtype);
}

static int32_t middle(unsigned source, unsigned pad, unsigned crop)
{
    return (int32_t)((source + 2 * pad - crop) / 2);
}

struct placement assemble_placement(const struct assembly *assembly, const struct placement *placements,
                                    size_t i)
{
    if (placements)
        return placements[i];
    return (struct placement){
        .top = middle(assembly->height, assembly->pad, assembly->out_height),
        .left = middle(assembly->width, assembly->pad, assembly->out_width),
        .cut_top = (int32_t)assembly->out_height, /* below the result: no square */
    };
}

/* What a square of side `side` covers of 0 ... size - 1. */
struct span {
    size_t begin, end;
};

static struct span covered(int32_t at, unsigned side, unsigned size)
{
    int64_t end = (int64_t)at + side;
    return (struct span){at < 0 ? 0 : (size_t)at, end < 0 ? 0 : end < size ? (size_t)end : size};
}

/* Like memset(), for rows so short that the call would cost most. */
static void clear(uint8_t *to, size_t bytes)
{
    if (bytes < CLEARED) {
        memset(to, 0, bytes);
        return;
    }
    for (size_t i = 0; i + CLEARED <= bytes; i += CLEARED)
        memset(to + i, 0, CLEARED);
    memset(to + bytes - CLEARED, 0, CLEARED);
}

void assemble_cut(const struct assembly *assembly, const struct placement *placement, void *image)
{
    struct span rows = covered(placement->cut_top, assembly->cutout, assembly->out_height);
    struct span columns = covered(placement->cut_left, assembly->cutout, assembly->out_width);
    if (rows.begin >= rows.end || columns.begin >= columns.end)
        return;
    int planar = assembly->layout == APL_NCHW;
    size_t planes = planar ? assembly->channels : 1;
    size_t pixel = element_bytes(assembly->dtype) * (planar ? 1 : assembly->channels);
    size_t row_bytes = assembly->out_width * pixel, plane_bytes = assembly->out_height * row_bytes;
    uint8_t *at = (uint8_t *)image + columns.begin * pixel;
    for (size_t plane = 0; plane < planes; plane++)
        for (size_t row = rows.begin; row < rows.end; row++)
            clear(at + plane * plane_bytes + row * row_bytes, (columns.end - columns.begin) * pixel);
}
