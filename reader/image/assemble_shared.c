/* What all variants of assemble() share: the size of a result, and where its crop is. */
#include "assemble_variants.h"

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
