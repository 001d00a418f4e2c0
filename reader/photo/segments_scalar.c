/* The reference: one block after another. */
#define IDCT_BLOCKS 1
#include "segments_body.h"

static void idct_group(struct group *g)
{
    int16_t values[64];
    for (int k = 0; k < 64; k++)
        values[k] = idct_low16(g->coef[k] * g->quant[k]);
    idct_block(values, g->size, g->out[0], g->stride);
    memset(g->coef, 0, 64 * sizeof *g->coef);
}

size_t segments_scalar(const struct segments *s, const struct segment_run *runs, size_t n)
{
    return decode_runs(s, runs, n);
}
