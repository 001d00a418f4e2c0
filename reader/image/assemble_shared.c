/* What all variants of assemble() share: the size of a result, and where its crop is. */
#include "assemble_variants.h"

size_t assemble_bytes(const struct assembly *assembly)
{
    return (size_t)assembly->channels * assembly->out_height * assembly->out_width *
           element_bytes(assembly->dtype);
}

int32_t assemble_middle(uint32_t rest)
{
    return (int32_t)((rest + (rest >> 1 & 1)) / 2);
}

struct placement assemble_placement(const struct assembly *assembly, const struct placement *placements,
                                    size_t i)
{
    if (placements)
        return placements[i];
    return (struct placement){
        .top = assemble_middle(assembly->height + 2 * assembly->pad - assembly->out_height),
        .left = assemble_middle(assembly->width + 2 * assembly->pad - assembly->out_width),
        .cut_top = (int32_t)assembly->out_height, /* below the result: no square */
    };
}
