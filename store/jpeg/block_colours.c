/* Sums over pixels from coefficients: see colours.h. A block's mean is an eighth of its DC, and the mean of its squares a 64th of the sum
 * of those of its coefficients, as the DCT is orthonormal. */
#include "colour_products.h"
#include "colours.h"

#define MOST 2047 /* of a coefficient times its entry of the table; more is nothing that an encoder writes */

/* Of T.81, figure A.6: row * 8 + column of each place in zigzag order. */
static const uint8_t natural[BLOCK_VALUES] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                              12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                              35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                              58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static inline int32_t dequantised(int value, int by)
{
    int product = value * by;
    if (__builtin_expect(product > MOST || product < -MOST, 0))
        product = product > 0 ? MOST : -MOST;
    return product;
}

static void take_coefficients(struct coefficients *out, const struct blocks *b, unsigned c, size_t number,
                              const uint8_t *table)
{
    const int16_t *values = b->of[c].values + number * BLOCK_VALUES;
    unsigned count = 0, rows = 0;
    uint32_t squares = 0; /* 64 have less than 32 bits */
    for (uint64_t marks = b->of[c].marks[number] | 1; marks; marks &= marks - 1) {
        int k = __builtin_ctzll(marks);
        int32_t value = dequantised(values[k], table[k]);
        squares += (uint32_t)(value * value);
        rows |= 1u << natural[k] / COEFFICIENTS_SIDE;
        out->at[count] = natural[k];
        out->value[count++] = (int16_t)value;
    }
    out->count = count;
    out->rows = rows;
    out->squares = squares;
}

/* Of `size` pixels from `number * size` on, those below `end`. */
static inline uint32_t within(uint32_t number, uint32_t size, uint32_t end)
{
    uint64_t from = (uint64_t)number * size;
    return from >= end ? 0 : end - from < size ? (uint32_t)(end - from) : size;
}

/* Sums over an image's pixels: in eighths, and in 64ths; products of means, in 64ths, and over pixels: each MCU's, times its pixels within
 * the image. */
struct totals {
    int64_t sum[COLOURS], squares[COLOURS], products[COLOURS], pixel_products[COLOURS];
};

struct walked {
    const struct blocks *blocks;
    const uint8_t (*tables)[BLOCK_VALUES];
    colour_products_fn *multiply; /* of this machine */
    uint32_t row, column;         /* of MCUs */
    struct mcu mcu;
};

/* Takes a component's blocks of the MCU, and adds what they stand for. The sum, in eighths. */
static int64_t add_component(struct walked *at, unsigned c, struct coefficients *out, struct totals *to)
{
    const struct blocks *b = at->blocks;
    const struct frame *f = &b->frame;
    uint32_t width = 8u * f->across[0] / f->across[c], height = 8u * f->down[0] / f->down[c];
    int64_t sum = 0;
    for (uint32_t y = at->row * f->down[c]; y < (at->row + 1) * f->down[c]; y++)
        for (uint32_t x = at->column * f->across[c]; x < (at->column + 1) * f->across[c]; x++, out++) {
            int64_t pixels = (int64_t)within(x, width, f->width) * within(y, height, f->height);
            take_coefficients(out, b, c, (size_t)y * b->of[c].stride + x, at->tables[c]);
            sum += out->value[0] * pixels;
            to->squares[c] += out->squares * pixels;
        }
    to->sum[c] += sum;
    return sum;
}

/* Products count for the pixels that are within the image. */
static void add_products(const struct walked *at, const int64_t sum[COLOURS], struct totals *to)
{
    const struct frame *f = &at->blocks->frame;
    const struct mcu *mcu = &at->mcu;
    int64_t of[COLOURS];
    int64_t pixels =
        (int64_t)within(at->column, 8u * mcu->across, f->width) * within(at->row, 8u * mcu->down, f->height);
    at->multiply(mcu, of);
    for (unsigned c = 0; c < 2; c++) {
        to->products[c] += sum[0] * mcu->chroma[c].value[0];
        to->pixel_products[c] += of[c] * pixels;
    }
    to->products[2] += sum[1] * mcu->chroma[1].value[0];
    to->pixel_products[2] += of[2] * pixels;
}

static void add_mcu(struct walked *at, struct totals *to)
{
    int64_t sum[COLOURS];
    sum[0] = add_component(at, 0, at->mcu.luma, to);
    if (at->blocks->frame.components < COLOURS)
        return;
    for (unsigned c = 1; c < COLOURS; c++)
        sum[c] = add_component(at, c, &at->mcu.chroma[c - 1], to);
    add_products(at, sum, to);
}

/* Divided, rounded down. */
static int64_t divided(int64_t a, int64_t by)
{
    return a >= 0 ? a / by : -((-a + by - 1) / by);
}

struct colour_sums colours_of_blocks(const struct blocks *b, const struct rendering *r)
{
    const struct frame *f = &b->frame;
    if (r->colours == IMAGE_RGB)
        return (struct colour_sums){0};
    struct walked at = {.blocks = b,
                        .tables = r->tables,
                        .multiply = colour_products_for(cpu_variant()),
                        .mcu = {.across = f->across[0], .down = f->down[0]}};
    struct totals t = {.sum = {0}};
    for (at.row = 0; at.row < f->rows; at.row++)
        for (at.column = 0; at.column < f->columns; at.column++)
            add_mcu(&at, &t);
    struct colour_sums s = {.images = 1, .pixels = (uint64_t)f->width * f->height, .with_products = 1};
    for (unsigned c = 0; c < COLOURS; c++) {
        s.sum[c] = divided(t.sum[c], 8);
        s.squares[c] = (uint64_t)t.squares[c] / 64;
        s.products[c] = divided(t.products[c], 64);
        s.pixel_products[c] = divided(t.pixel_products[c], 64 * (c < 2 ? at.mcu.across * at.mcu.down : 1));
    }
    return s;
}
