/*
 * The inverse DCT of blocks side by side, eight columns of each, which each variant includes with its instructions:
 *
 *   lanes                             8 * IDCT_BLOCKS numbers of 16 bits
 *   wide                              as many of 32 bits
 *   lanes_load(values), _clear()      a row of a group
 *   lanes_quant(group, row)           a row of the tables of its blocks
 *   lanes_times, _plus, _minus(a, b)  16 bits each, that wrap
 *   lanes_beyond(a)                   is a number beyond what it is before it is raised by IDCT_PASS1 bits?
 *   wide_two(a, fa, b, fb)            a * fa + b * fb
 *   wide_raised(a, bits)              a * 2^bits
 *   wide_plus, _minus(a, b)           32 bits each, that wrap
 *   wide_rounded(w, bits)             w / 2^bits, and to 16 bits, by saturation
 *   lanes_transpose(rows)             of each block
 *   lanes_put8, _put4(columns, group) to samples
 *
 * All sums are those of idct.c.
 */
#ifndef IDCT_LANES_H
#define IDCT_LANES_H

#include "segments_body.h"

INLINE void lanes_mirror(const wide *even, const wide *odd, unsigned half, unsigned bits, lanes *out)
{
    for (unsigned i = 0; i < half; i++) {
        out[i] = wide_rounded(wide_plus(even[i], odd[i]), bits);
        out[2 * half - 1 - i] = wide_rounded(wide_minus(even[i], odd[i]), bits);
    }
}

INLINE void lanes8(const lanes in[8], unsigned bits, lanes out[8])
{
    wide sum = wide_raised(lanes_plus(in[0], in[4]), IDCT_BITS);
    wide difference = wide_raised(lanes_minus(in[0], in[4]), IDCT_BITS);
    wide high = wide_two(in[2], F_0_541 + F_0_765, in[6], F_0_541);
    wide low = wide_two(in[2], F_0_541, in[6], F_0_541 - F_1_847);
    lanes a = lanes_plus(in[7], in[3]), b = lanes_plus(in[5], in[1]);
    wide c = wide_two(a, F_1_175 - F_1_961, b, F_1_175), d = wide_two(a, F_1_175, b, F_1_175 - F_0_390);
    const wide even[4] = {wide_plus(sum, high), wide_plus(difference, low), wide_minus(difference, low),
                          wide_minus(sum, high)};
    const wide odd[4] = {wide_plus(wide_two(in[7], -F_0_899, in[1], F_1_501 - F_0_899), d),
                         wide_plus(wide_two(in[5], -F_2_562, in[3], F_3_072 - F_2_562), c),
                         wide_plus(wide_two(in[5], F_2_053 - F_2_562, in[3], -F_2_562), d),
                         wide_plus(wide_two(in[7], F_0_298 - F_0_899, in[1], -F_0_899), c)};
    lanes_mirror(even, odd, 4, bits, out);
}

/* The same where the last four of eight coefficients are 0. */
INLINE void lanes8_of_4(const lanes in[4], unsigned bits, lanes out[8])
{
    const wide even[4] = {wide_two(in[0], 1 << IDCT_BITS, in[2], F_0_541 + F_0_765),
                          wide_two(in[0], 1 << IDCT_BITS, in[2], F_0_541),
                          wide_two(in[0], 1 << IDCT_BITS, in[2], -F_0_541),
                          wide_two(in[0], 1 << IDCT_BITS, in[2], -F_0_541 - F_0_765)};
    const wide odd[4] = {wide_two(in[1], F_1_501 - F_0_899 + F_1_175 - F_0_390, in[3], F_1_175),
                         wide_two(in[1], F_1_175, in[3], F_3_072 - F_2_562 + F_1_175 - F_1_961),
                         wide_two(in[1], F_1_175 - F_0_390, in[3], F_1_175 - F_2_562),
                         wide_two(in[1], F_1_175 - F_0_899, in[3], F_1_175 - F_1_961)};
    lanes_mirror(even, odd, 4, bits, out);
}

INLINE void lanes4(const lanes in[8], unsigned bits, lanes out[4])
{
    wide first = wide_raised(in[0], IDCT_BITS + 1), second = wide_two(in[2], F_1_847, in[6], -F_0_765);
    const wide even[2] = {wide_plus(first, second), wide_minus(first, second)};
    const wide odd[2] = {
        wide_plus(wide_two(in[1], F_2_562, in[3], F_0_899), wide_two(in[5], -F_0_601, in[7], -F_0_509)),
        wide_plus(wide_two(in[1], F_1_061, in[3], -F_2_172), wide_two(in[5], F_1_451, in[7], -F_0_211))};
    lanes_mirror(even, odd, 2, bits, out);
}

/* The places 0 ... LOW_PLACES of the zigzag lie within the first four rows and columns. */
#define LOW_PLACES 9

/* The first rows, dequantised, which are 0 in the group then. */
static inline void group_take(struct group *g, unsigned count, lanes *row)
{
    for (unsigned i = 0; i < count; i++) {
        row[i] = lanes_times(lanes_load(g->coef + 8 * IDCT_BLOCKS * i), lanes_quant(g, i));
        lanes_clear(g->coef + 8 * IDCT_BLOCKS * i);
    }
}

static inline void group8(struct group *g)
{
    lanes row[8], middle[8];
    group_take(g, 8, row);
    lanes8(row, IDCT_BITS - IDCT_PASS1, middle);
    lanes_transpose(middle);
    lanes8(middle, IDCT_BITS + IDCT_PASS1 + 3, row);
    lanes_put8(row, g);
}

static inline void group8_of_4(struct group *g)
{
    lanes row[4], middle[8], out[8];
    group_take(g, 4, row);
    lanes8_of_4(row, IDCT_BITS - IDCT_PASS1, middle);
    lanes_transpose(middle);
    lanes8_of_4(middle, IDCT_BITS + IDCT_PASS1 + 3, out);
    lanes_put8(out, g);
}

static inline void group4(struct group *g)
{
    lanes row[8], middle[8], out[4];
    group_take(g, 8, row);
    lanes4(row, IDCT_BITS - IDCT_PASS1 + 1, middle);
    for (int i = 4; i < 8; i++)
        middle[i] = middle[3];
    lanes_transpose(middle);
    lanes4(middle, IDCT_BITS + IDCT_PASS1 + 3 + 1, out);
    lanes_put4(out, g);
}

static void group_plainly(struct group *g)
{
    for (unsigned i = 0; i < g->count; i++) {
        int16_t values[64];
        for (int k = 0; k < 64; k++)
            values[k] = idct_low16(g->coef[(k / 8 * IDCT_BLOCKS + i) * 8 + k % 8] * g->quant[k]);
        idct_block(values, g->size, g->out[i], g->stride);
    }
    memset(g->coef, 0, IDCT_BLOCKS * 64 * sizeof *g->coef);
}

/* Two by two samples are hardly worth the trouble; nor are numbers beyond all measure, of which idct.c knows some cases. */
static void idct_group(struct group *g)
{
    lanes first = lanes_times(lanes_load(g->coef), lanes_quant(g, 0));
    if (UNLIKELY(g->size == 2 || lanes_beyond(first)))
        group_plainly(g);
    else if (g->size == 4)
        group4(g);
    else if (g->last <= LOW_PLACES)
        group8_of_4(g);
    else
        group8(g);
}

#endif
