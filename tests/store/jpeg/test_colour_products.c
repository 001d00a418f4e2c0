/* Products of luma and chroma from coefficients: the same by every variant, and what pixels give. */
#include "colour_products.h"
#include "samples.h"

#include <criterion/criterion.h>

#include <math.h>

#define SIDE 8
#define MOST 2047

static uint32_t state = 1;

/* Of `density` of 16 coefficients. */
static void draw_block(struct coefficients *b, unsigned density, int most)
{
    *b = (struct coefficients){.count = 0};
    for (unsigned k = 0; k < BLOCK_VALUES; k++) {
        if (k > 0 && sample_random(&state) % 16 >= density)
            continue;
        int value = (int)(sample_random(&state) % (2 * (unsigned)most + 1)) - most;
        b->at[b->count] = (uint8_t)k;
        b->value[b->count++] = (int16_t)(density == 16 && most == MOST ? (value < 0 ? -MOST : MOST) : value);
        b->rows |= 1u << k / SIDE;
    }
}

/* All samplings, densities from the first coefficient alone to all of them, and values as large as can be. */
static struct mcu draw_mcu(unsigned i)
{
    static const unsigned densities[] = {0, 1, 4, 12, 16};
    struct mcu m = {.across = 1 + i % 2, .down = 1 + i / 2 % 2};
    int most = i % 5 == 4 ? MOST : 200;
    for (unsigned k = 0; k < m.across * m.down; k++)
        draw_block(&m.luma[k], densities[i / 4 % 5], most);
    for (unsigned k = 0; k < 2; k++)
        draw_block(&m.chroma[k], densities[i / 20 % 5], most);
    return m;
}

#define CASES 200

Test(colour_products, of_every_variant_are_the_same)
{
    for (unsigned i = 0; i < CASES; i++) {
        struct mcu m = draw_mcu(i);
        int64_t reference[3];
        colour_products_scalar(&m, reference);
        for (unsigned v = CPU_SCALAR; v < CPU_VARIANTS; v++) {
            int64_t of[3];
            if (!cpu_can(v))
                continue;
            colour_products_for(v)(&m, of);
            cr_assert_arr_eq(of, reference, sizeof of, "%s, case %u", cpu_variant_name(v), i);
        }
    }
}

static double basis_at(unsigned k, unsigned x)
{
    return k == 0 ? sqrt(1.0 / 8) : cos((2 * x + 1) * k * 3.14159265358979323846 / 16) / 2;
}

static double pixel(const struct coefficients *b, unsigned y, unsigned x)
{
    double sum = 0;
    for (unsigned i = 0; i < b->count; i++)
        sum += b->value[i] * basis_at(b->at[i] / SIDE, y) * basis_at(b->at[i] % SIDE, x);
    return sum;
}

static double energy(const struct coefficients *b)
{
    double sum = 0;
    for (unsigned i = 0; i < b->count; i++)
        sum += b->value[i] * b->value[i];
    return sum;
}

/* Of luma and chroma `c`, over luma's pixels; *error: what rounding may change: weights by 2^-13, and luma by a quarter along each line. */
static double product_of_pixels(const struct mcu *m, unsigned c, double *error)
{
    double sum = 0, luma = 0;
    for (unsigned y = 0; y < m->down * SIDE; y++)
        for (unsigned x = 0; x < m->across * SIDE; x++)
            sum += pixel(&m->luma[y / SIDE * m->across + x / SIDE], y % SIDE, x % SIDE) *
                   pixel(&m->chroma[c], y / m->down, x / m->across);
    for (unsigned i = 0; i < m->across * m->down; i++)
        luma += energy(&m->luma[i]);
    *error = (sqrt(luma) / 4096 + 1) * sqrt(energy(&m->chroma[c]) * m->across * m->down) + 1;
    return sum;
}

Test(colour_products, are_those_of_pixels)
{
    for (unsigned i = 0; i < CASES; i++) {
        struct mcu m = draw_mcu(i);
        int64_t of[3];
        colour_products_scalar(&m, of);
        for (unsigned c = 0; c < 2; c++) {
            double error, is = product_of_pixels(&m, c, &error);
            cr_assert(fabs((double)of[c] - is) <= error, "case %u: %lld, not %g (within %g)", i,
                      (long long)of[c], is, error);
        }
        double both = 0;
        for (unsigned k = 0; k < BLOCK_VALUES; k++)
            both += pixel(&m.chroma[0], k / SIDE, k % SIDE) * pixel(&m.chroma[1], k / SIDE, k % SIDE);
        cr_assert(fabs((double)of[2] - both) < 1, "case %u: %lld, not %g", i, (long long)of[2], both);
    }
}
