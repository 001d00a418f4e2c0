/* What all forms of the inverse DCT share: factors, the places of coefficients, and blocks whose samples are all the same. */
#ifndef IDCT_H
#define IDCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Factors of the transform by Loeffler, Ligtenberg and Moschytz ("Practical fast 1-D DCT algorithms with 11 multiplications",
 * 1989), and of the forms of it with 4 and 2 results, times 2^13. */
#define IDCT_BITS 13
#define F_0_211   1730
#define F_0_298   2446
#define F_0_390   3196
#define F_0_509   4176
#define F_0_541   4433
#define F_0_601   4926
#define F_0_720   5906
#define F_0_765   6270
#define F_0_850   6967
#define F_0_899   7373
#define F_1_061   8697
#define F_1_175   9633
#define F_1_272   10426
#define F_1_451   11893
#define F_1_501   12299
#define F_1_847   15137
#define F_1_961   16069
#define F_2_053   16819
#define F_2_172   17799
#define F_2_562   20995
#define F_3_072   25172
#define F_3_624   29692

/* Columns are left with this many bits behind the point. */
#define IDCT_PASS1 2

/* Of a block of dequantised coefficients, row by row: `size` x `size` samples, where size is 8, 4 or 2. */
void idct_block(const int16_t values[64], unsigned size, uint8_t *out, size_t stride);

static inline int16_t idct_low16(int32_t x)
{
    return (int16_t)(uint16_t)x;
}

static inline uint8_t idct_sample(int32_t x)
{
    return (uint8_t)(x < -128 ? 0 : x > 127 ? 255 : x + 128);
}

/* The samples of a block that has a DC coefficient alone. */
static inline uint8_t idct_flat(int16_t dc, int16_t quant, unsigned size)
{
    int16_t value = idct_low16(dc * quant);
    if (size ==
        1) /* libjpeg-turbo has no other code for this than C, whose numbers are wider, but wrap at 10 bits */
        return idct_sample((int32_t)((uint32_t)((dc * quant + 4) >> 3) << 22) >> 22);
    if (size == 2)
        return idct_sample((int32_t)(((uint32_t)value << 17) + (1u << 19)) >> 20);
    return idct_sample((idct_low16(value * (1 << IDCT_PASS1)) + 16) >> 5);
}

static inline void idct_fill(uint8_t *out, size_t stride, unsigned size, uint8_t sample)
{
    uint64_t row = sample * 0x0101010101010101u;
    for (unsigned y = 0; y < size; y++, out += stride)
        if (size == 8)
            memcpy(out, &row, 8);
        else
            memcpy(out, &row, size);
}

#endif
