/* Products of colours from coefficients: included by each variant, whose compiler options make them differ. */
#include "colour_products.h"

#include <string.h>

#define SIDE       COEFFICIENTS_SIDE
#define SCALE_BITS 12 /* of the tables below */
#define LINE_BITS  11 /* that are dropped between the two dimensions: what is left has one bit of fraction */

/* Row k, column u: the product of luma's basis function k, along a block, and chroma's basis function u, along the same pixels, in units
 * of 2^-12. WHOLE: chroma has its resolution; HALF: half of it, for the first of the two blocks that it covers. For the second, those
 * of odd k + u have the other sign. */
typedef int16_t basis[SIDE][SIDE];
static const basis WHOLE = {{4096},
                            {0, 4096},
                            {0, 0, 4096},
                            {0, 0, 0, 4096},
                            {0, 0, 0, 0, 4096},
                            {0, 0, 0, 0, 0, 4096},
                            {0, 0, 0, 0, 0, 0, 4096},
                            {0, 0, 0, 0, 0, 0, 0, 4096}};
static const basis HALF = {
    {4096, 3711, 0, -1303, 0, 871, 0, -738},
    {0, 1670, 4017, 3178, 0, -1416, 0, 1116},
    {0, -283, 0, 1942, 3784, 2907, 0, -1420},
    {0, 78, 0, -332, 0, 1670, 3406, 2948},
    {0, 0, 0, 0, 0, 0, 0, 0},
    {0, -52, 0, 222, 0, -1116, -2276, -1970},
    {0, 117, 0, -805, -1567, -1204, 0, 588},
    {0, -332, -799, -632, 0, 282, 0, -222},
};
static const basis SECOND_HALF = {
    {4096, -3711, 0, 1303, 0, -871, 0, 738},
    {0, 1670, -4017, 3178, 0, -1416, 0, 1116},
    {0, 283, 0, -1942, 3784, -2907, 0, 1420},
    {0, 78, 0, -332, 0, 1670, -3406, 2948},
    {0, 0, 0, 0, 0, 0, 0, 0},
    {0, -52, 0, 222, 0, -1116, 2276, -1970},
    {0, -117, 0, 805, -1567, 1204, 0, -588},
    {0, -332, 799, -632, 0, 282, 0, -222},
};

/* Of two blocks of the same pixels. */
static int64_t product_of_equals(const struct coefficients *a, const struct coefficients *b)
{
    int16_t whole[BLOCK_VALUES] = {0};
    int64_t sum = 0;
    for (unsigned i = 0; i < a->count; i++)
        whole[a->at[i]] = a->value[i];
    for (unsigned i = 0; i < b->count; i++)
        sum += whole[b->at[i]] * b->value[i];
    return sum;
}

static const basis *basis_of(unsigned blocks, unsigned number)
{
    return blocks == 1 ? &WHOLE : number == 0 ? &HALF : &SECOND_HALF;
}

/* What luma is worth for each coefficient of chroma: along its rows, in units of 2^-12; and in all, in units of 2^-13. */
typedef int32_t projection[SIDE][SIDE];

static void project_across(const struct coefficients *luma, const basis *weights, projection lines)
{
    for (unsigned i = 0; i < luma->count; i++)
        for (unsigned u = 0; u < SIDE; u++)
            lines[luma->at[i] / SIDE][u] += luma->value[i] * (*weights)[luma->at[i] % SIDE][u];
}

/* Adds those of the blocks in row `y` of the MCU, for the rows of chroma that are `wanted`. */
static void project(const struct mcu *mcu, unsigned y, unsigned wanted, projection out)
{
    const basis *weights = basis_of(mcu->down, y);
    projection lines = {{0}};
    unsigned rows = 0;
    for (unsigned x = 0; x < mcu->across; x++) {
        const struct coefficients *luma = &mcu->luma[y * mcu->across + x];
        project_across(luma, basis_of(mcu->across, x), lines);
        rows |= luma->rows;
    }
    for (; rows; rows &= rows - 1) {
        unsigned row = (unsigned)__builtin_ctz(rows);
        int16_t line[SIDE];
        for (unsigned u = 0; u < SIDE; u++)
            line[u] = (int16_t)((lines[row][u] + (1 << (LINE_BITS - 1))) >> LINE_BITS);
        for (unsigned left = wanted; left; left &= left - 1) {
            unsigned v = (unsigned)__builtin_ctz(left);
            for (unsigned u = 0; u < SIDE; u++)
                out[v][u] += (*weights)[row][v] * line[u];
        }
    }
}

/* Rounded down. */
static int64_t product(projection luma, const struct coefficients *chroma)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < chroma->count; i++)
        sum += (int64_t)luma[chroma->at[i] / SIDE][chroma->at[i] % SIDE] * chroma->value[i];
    return sum >> (2 * SCALE_BITS - LINE_BITS);
}

static bool is_flat(const struct coefficients *block)
{
    return block->count == 1;
}

static void colour_products(const struct mcu *mcu, int64_t of[3])
{
    const struct coefficients *chroma = mcu->chroma;
    unsigned blocks = mcu->across * mcu->down;
    of[2] = product_of_equals(&chroma[0], &chroma[1]);
    if (is_flat(&chroma[0]) && is_flat(&chroma[1])) {
        int64_t sum = 0;
        for (unsigned i = 0; i < blocks; i++)
            sum += mcu->luma[i].value[0];
        of[0] = sum * chroma[0].value[0], of[1] = sum * chroma[1].value[0];
    } else if (blocks == 1) {
        of[0] = product_of_equals(mcu->luma, &chroma[0]), of[1] = product_of_equals(mcu->luma, &chroma[1]);
    } else {
        projection all = {{0}};
        for (unsigned y = 0; y < mcu->down; y++)
            project(mcu, y, chroma[0].rows | chroma[1].rows, all);
        of[0] = product(all, &chroma[0]), of[1] = product(all, &chroma[1]);
    }
}
