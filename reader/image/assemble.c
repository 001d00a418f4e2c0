/* What all variants of assemble() share, and which of them runs. Gathering, which needs none. */
#include "assemble_variants.h"

#include <string.h>

#define CLEARED 32 /* bytes at a time */

size_t assemble_bytes(const struct assembly *assembly)
{
    return (size_t)assembly->channels * assembly->out_height * assembly->out_width *
           element_bytes(assembly->dtype);
}

assemble_fn *assemble_for(enum cpu_variant variant)
{
    switch (variant) {
#if defined(__x86_64__)
    case CPU_AVX2:
        return assemble_avx2;
    case CPU_AVX512:
        return assemble_avx512;
#elif defined(__aarch64__)
    case CPU_NEON:
        return assemble_neon;
#endif
    default:
        return assemble_scalar;
    }
}

/* Are the middles of the pictures, as they are stored, the pictures themselves? */
static int stays_as_it_is(const struct assembly *a)
{
    return a->dtype == APL_U8 && a->out_height == a->height && a->out_width == a->width &&
           (a->layout == APL_NCHW || a->channels == 1);
}

void assemble(const struct assembly *assembly, const uint8_t *const *sources,
              const struct placement *placements, size_t count, void *out)
{
    if (!placements && stays_as_it_is(assembly)) {
        gather(sources, assemble_bytes(assembly), count, out);
        return;
    }
    assemble_for(cpu_variant())(assembly, sources, placements, count, out);
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

void assemble_cut(const struct assembly *assembly, const struct placement *placement, void *picture)
{
    struct span rows = covered(placement->cut_top, assembly->cutout, assembly->out_height);
    struct span columns = covered(placement->cut_left, assembly->cutout, assembly->out_width);
    if (rows.begin >= rows.end || columns.begin >= columns.end)
        return;
    int planar = assembly->layout == APL_NCHW;
    size_t planes = planar ? assembly->channels : 1;
    size_t pixel = element_bytes(assembly->dtype) * (planar ? 1 : assembly->channels);
    size_t row_bytes = assembly->out_width * pixel, plane_bytes = assembly->out_height * row_bytes;
    uint8_t *at = (uint8_t *)picture + columns.begin * pixel;
    for (size_t plane = 0; plane < planes; plane++)
        for (size_t row = rows.begin; row < rows.end; row++)
            clear(at + plane * plane_bytes + row * row_bytes, (columns.end - columns.begin) * pixel);
}

static inline void gather_rows(const uint8_t *const *sources, size_t bytes, size_t count, uint8_t *out)
{
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * bytes, sources[i], bytes);
}

/* A loop of its own for each size of a number: with the size known, a copy is one load and one store. */
void gather(const uint8_t *const *sources, size_t bytes, size_t count, void *out)
{
    switch (bytes) {
    case 1:
        gather_rows(sources, 1, count, out);
        break;
    case 2:
        gather_rows(sources, 2, count, out);
        break;
    case 4:
        gather_rows(sources, 4, count, out);
        break;
    case 8:
        gather_rows(sources, 8, count, out);
        break;
    default:
        gather_rows(sources, bytes, count, out);
    }
}
