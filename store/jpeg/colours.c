/* Sums over pixels: see colours.h. A block's mean is an eighth of its DC, and the mean of its squares a 64th of the sum of those of its
 * coefficients, as the DCT is orthonormal. */
#include "colours.h"

#include "byte_sums.h"

#include <math.h>

#define MOST 2047 /* of a coefficient times its entry of the table; more is nothing that an encoder writes */

static inline int32_t dequantised(int value, int by)
{
    int product = value * by;
    if (__builtin_expect(product > MOST || product < -MOST, 0))
        product = product > 0 ? MOST : -MOST;
    return product;
}

/* The sum of squares of a block's coefficients; of 64 it has less than 32 bits. */
static inline uint32_t energy(const int16_t *values, uint64_t marks, const uint8_t *table)
{
    int32_t dc = dequantised(values[0], table[0]);
    uint32_t sum = (uint32_t)(dc * dc);
    for (marks &= ~1ull; marks; marks &= marks - 1) {
        int k = __builtin_ctzll(marks);
        int32_t v = dequantised(values[k], table[k]);
        sum += (uint32_t)(v * v);
    }
    return sum;
}

/* Of `size` pixels from `number * size` on, those below `end`. */
static inline uint32_t within(uint32_t number, uint32_t size, uint32_t end)
{
    uint64_t from = (uint64_t)number * size;
    return from >= end ? 0 : end - from < size ? (uint32_t)(end - from) : size;
}

/* Sums in eighths, and squares in 64ths, of a component's blocks of one MCU, over the pixels that they stand for. */
struct part {
    int64_t sum, squares;
    int32_t last; /* DC of the last of them, which is the only one of chroma */
};

static struct part sum_blocks(const struct blocks *b, unsigned c, const uint8_t *table, uint32_t row,
                              uint32_t column)
{
    const struct frame *f = &b->frame;
    uint32_t width = 8u * f->across[0] / f->across[c], height = 8u * f->down[0] / f->down[c];
    struct part p = {0};
    for (uint32_t y = row * f->down[c]; y < (row + 1) * f->down[c]; y++)
        for (uint32_t x = column * f->across[c]; x < (column + 1) * f->across[c]; x++) {
            size_t number = (size_t)y * b->of[c].stride + x;
            const int16_t *values = b->of[c].values + number * BLOCK_VALUES;
            int64_t pixels = (int64_t)within(x, width, f->width) * within(y, height, f->height);
            p.last = dequantised(values[0], table[0]);
            p.sum += p.last * pixels;
            p.squares += energy(values, b->of[c].marks[number], table) * pixels;
        }
    return p;
}

/* Divided, rounded down. */
static int64_t divided(int64_t a, int64_t by)
{
    return a >= 0 ? a / by : -((-a + by - 1) / by);
}

/* Products are those of the means over an MCU, of which chroma has one block. */
struct colour_sums colours_of_blocks(const struct blocks *b, const uint8_t *const *tables)
{
    const struct frame *f = &b->frame;
    int64_t sum[COLOURS] = {0}, squares[COLOURS] = {0}, products[COLOURS] = {0};
    for (uint32_t row = 0; row < f->rows; row++)
        for (uint32_t column = 0; column < f->columns; column++) {
            struct part p[COLOURS] = {{0}};
            for (unsigned c = 0; c < f->components; c++) {
                p[c] = sum_blocks(b, c, tables[c], row, column);
                sum[c] += p[c].sum;
                squares[c] += p[c].squares;
            }
            products[0] += p[0].sum * p[1].last;
            products[1] += p[0].sum * p[2].last;
            products[2] += p[1].sum * p[2].last;
        }
    struct colour_sums s = {.images = 1, .pixels = (uint64_t)f->width * f->height};
    for (unsigned c = 0; c < COLOURS; c++) {
        s.sum[c] = divided(sum[c], 8);
        s.squares[c] = (uint64_t)squares[c] / 64;
        s.products[c] = divided(products[c], 64);
    }
    return s;
}

struct colour_sums colours_of_planes(const uint8_t *planes, unsigned channels, size_t pixels)
{
    struct colour_sums s = {0};
    if (channels < 1 || channels > 4 || pixels == 0)
        return s;
    s.images = 1;
    s.pixels = pixels;
    for (unsigned c = 0; c < COLOURS; c++) {
        const uint8_t *plane = planes + (channels < COLOURS ? 0 : c * pixels);
        struct byte_sums sums = byte_sums(plane, pixels);
        s.sum[c] = (int64_t)sums.sum;
        s.squares[c] = sums.squares;
    }
    return s;
}

/* Sums that are too large, as no images have them, are wrong, but nothing else. */
static int64_t added(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

void colours_add(struct colour_sums *into, const struct colour_sums *from)
{
    into->images += from->images;
    into->pixels += from->pixels;
    for (unsigned c = 0; c < COLOURS; c++) {
        into->sum[c] = added(into->sum[c], from->sum[c]);
        into->squares[c] += from->squares[c];
        into->products[c] = added(into->products[c], from->products[c]);
    }
}

/* How red, green and blue are made of luma and chroma (JFIF). */
static const double weights[COLOURS][COLOURS] = {{1, 0, 1.402}, {1, -0.344136, -0.714136}, {1, 1.772, 0}};

/* The covariance of two of the three. */
static long double covariance(const struct colour_sums *s, unsigned a, unsigned b)
{
    long double n = (long double)s->pixels;
    long double both = a == b ? (long double)s->squares[a] : (long double)s->products[a + b - 1];
    return both / n - (long double)s->sum[a] / n * ((long double)s->sum[b] / n);
}

void colours_figures(const struct colour_sums *s, enum colours_kind kind, unsigned channel, double *mean,
                     double *std)
{
    const double rgb[COLOURS] = {channel == 0, channel == 1, channel == 2};
    const double *w = kind == COLOURS_YCC ? weights[channel] : rgb;
    long double average = kind == COLOURS_YCC ? 128 : 0, variance = 0;
    for (unsigned a = 0; a < COLOURS; a++) {
        average += w[a] * (long double)s->sum[a] / (long double)s->pixels;
        for (unsigned b = 0; b < COLOURS; b++)
            if (w[a] != 0 && w[b] != 0)
                variance += w[a] * w[b] * covariance(s, a, b);
    }
    *mean = (double)average;
    *std = variance > 0 ? sqrt((double)variance) : 0;
}
