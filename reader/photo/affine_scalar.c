/* The reference: one pixel after another. See affine_take.h. */
#include "affine_take.h"

#define UNIT (1u << AFFINE_WEIGHT)
#define HALF (1u << (2 * AFFINE_WEIGHT - 1))

void affine_blend_scalar(const struct affine_run *run, const uint8_t *plane, uint32_t width, uint8_t *out)
{
    for (uint32_t i = 0; i < run->count; i++) {
        const uint8_t *top = plane + run->at[i], *bottom = top + width;
        uint32_t right = run->right[i], low = run->low[i];
        uint32_t above = top[0] * (UNIT - right) + top[1] * right;
        uint32_t below = bottom[0] * (UNIT - right) + bottom[1] * right;
        out[i] = (uint8_t)((above * (UNIT - low) + below * low + HALF) >> (2 * AFFINE_WEIGHT));
    }
}
