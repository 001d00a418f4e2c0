/* The inverse DCT, one sum after another: the reference. See idct.h. */
#include "idct.h"

/* Sums of 32 bits that wrap, products of 16 bits. */
static inline int32_t plus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline int32_t minus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

static inline int32_t raised(int32_t a, unsigned bits)
{
    return (int32_t)((uint32_t)a << bits);
}

static inline int32_t two(int16_t a, int32_t fa, int16_t b, int32_t fb)
{
    return plus(a * fa, b * fb);
}

static inline int16_t short_plus(int16_t a, int16_t b)
{
    return idct_low16(a + b);
}

/* Without the bits behind the point, rounded; what 16 bits do not hold becomes what is nearest to it. */
static inline int16_t rounded(int32_t sum, unsigned bits)
{
    int32_t x = plus(sum, 1 << (bits - 1)) >> bits;
    return (int16_t)(x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x);
}

static void mirror(const int32_t *even, const int32_t *odd, unsigned half, unsigned bits, int16_t *out)
{
    for (unsigned i = 0; i < half; i++) {
        out[i] = rounded(plus(even[i], odd[i]), bits);
        out[2 * half - 1 - i] = rounded(minus(even[i], odd[i]), bits);
    }
}

/* Eight coefficients to eight values, times 8 ^ (1/2) * 2 ^ IDCT_BITS. */
static void line8(const int16_t in[8], unsigned bits, int16_t out[8])
{
    int32_t sum = raised(short_plus(in[0], in[4]), IDCT_BITS);
    int32_t difference = raised(idct_low16(in[0] - in[4]), IDCT_BITS);
    int32_t high = two(in[2], F_0_541 + F_0_765, in[6], F_0_541);
    int32_t low = two(in[2], F_0_541, in[6], F_0_541 - F_1_847);
    int16_t a = short_plus(in[7], in[3]), b = short_plus(in[5], in[1]);
    int32_t c = two(a, F_1_175 - F_1_961, b, F_1_175), d = two(a, F_1_175, b, F_1_175 - F_0_390);
    const int32_t even[4] = {plus(sum, high), plus(difference, low), minus(difference, low),
                             minus(sum, high)};
    const int32_t odd[4] = {plus(two(in[7], -F_0_899, in[1], F_1_501 - F_0_899), d),
                            plus(two(in[5], -F_2_562, in[3], F_3_072 - F_2_562), c),
                            plus(two(in[5], F_2_053 - F_2_562, in[3], -F_2_562), d),
                            plus(two(in[7], F_0_298 - F_0_899, in[1], -F_0_899), c)};
    mirror(even, odd, 4, bits, out);
}

/* Eight coefficients, but for that in the middle, to four values. */
static void line4(const int16_t in[8], unsigned bits, int16_t out[4])
{
    int32_t first = raised(in[0], IDCT_BITS + 1), second = two(in[2], F_1_847, in[6], -F_0_765);
    const int32_t even[2] = {plus(first, second), minus(first, second)};
    const int32_t odd[2] = {plus(two(in[1], F_2_562, in[3], F_0_899), two(in[5], -F_0_601, in[7], -F_0_509)),
                            plus(two(in[1], F_1_061, in[3], -F_2_172), two(in[5], F_1_451, in[7], -F_0_211))};
    mirror(even, odd, 2, bits, out);
}

/* What the odd ones of eight coefficients add to, and take from, one of two values. */
static int32_t odd2(const int16_t in[8])
{
    return plus(two(in[1], F_3_624, in[3], -F_1_272), two(in[5], F_0_850, in[7], -F_0_720));
}

/* Blocks whose columns have nothing below their first coefficients are not rounded, and wrap where others stop. */
static bool is_one_row(const int16_t in[64], unsigned unused)
{
    for (unsigned k = 8; k < 64; k++)
        if (in[k] != 0 && k / 8 != unused)
            return false;
    return true;
}

static void idct_column(const int16_t in[64], unsigned x, int16_t out[8])
{
    for (unsigned y = 0; y < 8; y++)
        out[y] = in[8 * y + x];
}

static void transform(const int16_t in[64], unsigned size, uint8_t *out, size_t stride)
{
    void (*line)(const int16_t *, unsigned, int16_t *) = size == 8 ? line8 : line4;
    unsigned more = size == 4; /* bits behind the point of its factors */
    bool one_row = is_one_row(in, size == 4 ? 4 : 0);
    int16_t middle[8][8], column[8], result[8];
    for (unsigned x = 0; x < 8; x++) {
        idct_column(in, x, column);
        line(column, IDCT_BITS - IDCT_PASS1 + more, result);
        for (unsigned y = 0; y < size; y++)
            middle[y][x] = one_row ? idct_low16(in[x] * (1 << IDCT_PASS1)) : result[y];
    }
    for (unsigned y = 0; y < size; y++, out += stride) {
        line(middle[y], IDCT_BITS + IDCT_PASS1 + 3 + more, result);
        for (unsigned x = 0; x < size; x++)
            out[x] = idct_sample(result[x]);
    }
}

static void transform2(const int16_t in[64], uint8_t *out, size_t stride)
{
    int32_t first[2] = {0};
    int16_t middle[2][8] = {{0}}, column[8];
    for (unsigned x = 0; x < 8; x++) {
        idct_column(in, x, column);
        int32_t even = raised(column[0], IDCT_BITS + 2), odd = odd2(column);
        for (int y = 0; y < 2; y++) {
            int32_t sum = y == 0 ? plus(even, odd) : minus(even, odd);
            middle[y][x] = rounded(sum, IDCT_BITS - IDCT_PASS1 + 2);
            first[y] = x == 0 ? plus(sum, 1 << 12) >> 13 : first[y];
        }
    }
    for (int y = 0; y < 2; y++, out += stride) {
        int32_t even = raised(first[y], IDCT_BITS + 2), odd = odd2(middle[y]);
        out[0] = idct_sample(rounded(plus(even, odd), IDCT_BITS + IDCT_PASS1 + 3 + 2));
        out[1] = idct_sample(rounded(minus(even, odd), IDCT_BITS + IDCT_PASS1 + 3 + 2));
    }
}

void idct_block(const int16_t values[64], unsigned size, uint8_t *out, size_t stride)
{
    if (size == 2)
        transform2(values, out, stride);
    else
        transform(values, size, out, stride);
}
