/* Sums over pixels: see colours.h. Those of coefficients are in block_colours.c. */
#include "colours.h"

#include "byte_sums.h"

#include <math.h>

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
    into->with_products += from->with_products;
    for (unsigned c = 0; c < COLOURS; c++) {
        into->sum[c] = added(into->sum[c], from->sum[c]);
        into->squares[c] += from->squares[c];
        into->products[c] = added(into->products[c], from->products[c]);
        into->pixel_products[c] = added(into->pixel_products[c], from->pixel_products[c]);
    }
}

/* How red, green and blue are made of luma and chroma (JFIF). */
static const double weights[COLOURS][COLOURS] = {{1, 0, 1.402}, {1, -0.344136, -0.714136}, {1, 1.772, 0}};

/* The covariance of two of the three: by products over pixels, if those of all images are known. */
static long double covariance(const struct colour_sums *s, unsigned a, unsigned b)
{
    long double n = (long double)s->pixels;
    const int64_t *products = s->with_products == s->images ? s->pixel_products : s->products;
    long double both = a == b ? (long double)s->squares[a] : (long double)products[a + b - 1];
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
