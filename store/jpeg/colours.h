/*
 * Sums over the pixels of images, from which the mean and standard deviation of red, green and blue follow: of JPEG images they are
 * taken from their coefficients, and no pixel is made. Integers only, so that they are the same on every machine, whatever the order
 * in which they are added. docs/FORMAT.md says exactly what they are (IMAGES).
 */
#ifndef COLOURS_H
#define COLOURS_H

#include "rendering.h"

#define COLOURS 3

enum colours_kind { COLOURS_RGB, COLOURS_YCC };

struct colour_sums {
    uint64_t images, pixels;
    int64_t sum[COLOURS]; /* of red, green and blue; or of luma and chroma, each less 128 */
    uint64_t squares[COLOURS];
    /* COLOURS_YCC: of luma and blue, luma and red, blue and red: of the MCUs' means, and over pixels, which stores of before format 1.5 do
     * not have. */
    int64_t products[COLOURS], pixel_products[COLOURS];
    uint64_t with_products; /* images whose products over pixels are known: all that count, or none */
};

/* Those of one JPEG image, by its coefficients; of no image if its components are red, green and blue. */
struct colour_sums colours_of_blocks(const struct blocks *b, const struct rendering *r);

/* Those of one image of planes of bytes, one after another: grey, and red, green and blue, each with or without alpha. Of other
 * numbers of channels, and of no pixels: no image. */
struct colour_sums colours_of_planes(const uint8_t *planes, unsigned channels, size_t pixels);

void colours_add(struct colour_sums *into, const struct colour_sums *from);

/* Mean and standard deviation of red, green or blue (`channel` 0, 1 or 2); there must be pixels. */
void colours_figures(const struct colour_sums *s, enum colours_kind kind, unsigned channel, double *mean,
                     double *std);

#endif
