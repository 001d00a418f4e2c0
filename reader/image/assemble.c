/* assemble(), by the variant that is asked for. Gathering, which needs none. */
#include "assemble_variants.h"
#include "prefetch.h"

#include <string.h>

/* Are the middles of the images, as they are stored, the images themselves? */
static int stays_as_it_is(const struct assembly *a)
{
    return a->dtype == APL_U8 && a->out_height == a->height && a->out_width == a->width &&
           (a->layout == APL_NCHW || a->channels == 1);
}

void assemble_by(enum cpu_variant variant, const struct assembly *assembly, const uint8_t *const *sources,
                 const struct placement *placements, size_t count, void *out)
{
    if (!placements && stays_as_it_is(assembly))
        gather(sources, assemble_bytes(assembly), count, out);
    else
        assemble_for(variant)(assembly, sources, placements, count, out);
}

void assemble(const struct assembly *assembly, const uint8_t *const *sources,
              const struct placement *placements, size_t count, void *out)
{
    assemble_by(assemble_variant(assembly), assembly, sources, placements, count, out);
}

static inline void gather_rows(const uint8_t *const *sources, size_t bytes, size_t count, uint8_t *out)
{
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * bytes, sources[i], bytes);
}

static void gather_values(const uint8_t *const *sources, size_t bytes, size_t count, uint8_t *out)
{
    for (size_t i = 0; i < PREFETCH_AHEAD; i++)
        prefetch_value(sources, i, count, bytes);
    for (size_t i = 0; i < count; i++) {
        prefetch_value(sources, i + PREFETCH_AHEAD, count, bytes);
        memcpy(out + i * bytes, sources[i], bytes);
    }
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
        if (bytes < PREFETCH_LEAST)
            gather_rows(sources, bytes, count, out);
        else
            gather_values(sources, bytes, count, out);
    }
}
