/* Which variant of assemble() is the fastest on this machine. */
#include "assemble_variants.h"

#include <stdalign.h>
#include <stdatomic.h>

#define TYPES        4
#define ARRANGEMENTS 3 /* planar, three channels interleaved, any number of them interleaved */
#define HEIGHT       8
#define WIDEST       (2 * ASSEMBLE_RUN)
#define MOST         4 /* channels */
#define IMAGES       8
#define BYTES        24576 /* of results: so few that they stay in the nearest cache */

/* What is raced: as much as makes a difference to the loops. */
struct kind {
    unsigned type, arrangement;
    bool any; /* rows that are not as long as a run */
};

static struct kind raced_kind(const struct assembly *a)
{
    struct kind kind = {.any = a->out_width != ASSEMBLE_RUN || a->width < ASSEMBLE_RUN};
    kind.type = a->dtype == APL_U8 ? 0 : a->dtype == APL_F32 ? 1 : a->dtype == APL_F16 ? 2 : 3;
    if (a->layout == APL_NHWC && a->channels > 1)
        kind.arrangement = a->channels == 3 ? 1 : 2;
    return kind;
}

struct race {
    struct assembly assembly;
    size_t images;
    const uint8_t *sources[IMAGES];
    uint8_t *out;
};

static void run_raced(enum cpu_variant variant, void *user)
{
    struct race *race = user;
    static const struct placement flipped[IMAGES] = {
        {.flip = true}, {.left = 2}, {.flip = true}, {.left = 1}};
    assemble_for(variant)(&race->assembly, race->sources, flipped, race->images, race->out);
}

static enum cpu_variant race(const struct assembly *a)
{
    static const uint8_t source[MOST * HEIGHT * WIDEST];
    alignas(64) uint8_t out[BYTES];
    struct kind kind = raced_kind(a);
    unsigned width = kind.any ? WIDEST : ASSEMBLE_RUN;
    struct race race = {.assembly = {.channels = kind.arrangement == 2 ? MOST : 3,
                                     .height = HEIGHT,
                                     .width = width,
                                     .pad = 1,
                                     .out_height = HEIGHT,
                                     .out_width = width,
                                     .dtype = a->dtype,
                                     .layout = kind.arrangement ? APL_NHWC : APL_NCHW},
                        .out = out};
    race.images = BYTES / assemble_bytes(&race.assembly);
    race.images = race.images < IMAGES ? race.images : IMAGES;
    for (unsigned i = 0; i < IMAGES; i++)
        race.sources[i] = source;
    for (unsigned c = 0; c < MOST; c++)
        race.assembly.scale[c] = 1;
    return cpu_fastest(run_raced, &race);
}

enum cpu_variant assemble_variant(const struct assembly *assembly)
{
    static atomic_uchar found[TYPES][ARRANGEMENTS][2]; /* 0: not yet; else the variant, from 1 */
    struct kind kind = raced_kind(assembly);
    atomic_uchar *own = &found[kind.type][kind.arrangement][kind.any];
    /* Two threads may race at once, and either's answer will do: the variants give the same bytes. */
    unsigned variant = atomic_load_explicit(own, memory_order_relaxed);
    if (!variant) {
        variant = 1 + (unsigned)race(assembly);
        atomic_store_explicit(own, (unsigned char)variant, memory_order_relaxed);
    }
    return (enum cpu_variant)(variant - 1);
}
