/* The law of boxes: numbers of right ones are uniform, whatever the image's shape; of those drawn otherwise they are not. */
#include "box_law.h"
#include "distributions.h"
#include "generator.h"

#include <criterion/criterion.h>
#include <math.h>

#define BINS 16u

static double uniform(struct generator *g)
{
    return (double)(generator_draw(g) >> 11) * 0x1p-53;
}

/* How torchvision draws a box, written anew. */
static struct drawn_box draw(const struct box_rules *r, uint32_t width, uint32_t height, struct generator *g)
{
    for (int i = 0; i < 10; i++) {
        double area = (double)width * height * (r->area[0] + (r->area[1] - r->area[0]) * uniform(g));
        double ratio = exp(log(r->ratio[0]) + log(r->ratio[1] / r->ratio[0]) * uniform(g));
        double w = rint(sqrt(area * ratio)), h = rint(sqrt(area / ratio));
        if (w >= 1 && h >= 1 && w <= width && h <= height)
            return (struct drawn_box){.left = generator_below(g, width - (uint32_t)w + 1),
                                      .top = generator_below(g, height - (uint32_t)h + 1),
                                      .width = (uint32_t)w,
                                      .height = (uint32_t)h};
    }
    double ratio = (double)width / height;
    uint32_t w = ratio > r->ratio[1] ? (uint32_t)rint(height * r->ratio[1]) : width;
    uint32_t h = ratio < r->ratio[0] ? (uint32_t)rint(width / r->ratio[0]) : height;
    w = w ? w : 1;
    h = h ? h : 1;
    return (struct drawn_box){(width - w) / 2, (height - h) / 2, w, h};
}

/* p-values of the four numbers, and of all pairs of them, when boxes are drawn by `drawn` but thought to be drawn by `rules`. */
static double least_p(const struct box_rules *rules, const struct box_rules *drawn, uint32_t width,
                      uint32_t height, unsigned boxes)
{
    double seen[BOX_NUMBERS][BINS] = {{0}}, pairs[BOX_NUMBERS][BOX_NUMBERS] = {{0}}, least = 1;
    struct box_law *law = box_law_new(rules, width, height);
    struct generator g = generator_keyed(width, height);
    for (unsigned i = 0; i < boxes; i++) {
        struct drawn_box b = draw(drawn, width, height, &g);
        double share[BOX_NUMBERS], u[BOX_NUMBERS];
        for (unsigned q = 0; q < BOX_NUMBERS; q++)
            share[q] = uniform(&g);
        box_law_uniform(law, &b, share, u);
        for (unsigned q = 0; q < BOX_NUMBERS; q++) {
            cr_assert(u[q] >= 0 && u[q] <= 1);
            seen[q][u[q] < 1 ? (unsigned)(u[q] * BINS) : BINS - 1]++;
            for (unsigned other = 0; other < q; other++)
                pairs[q][other] += 12 * (u[q] - 0.5) * (u[other] - 0.5);
        }
    }
    for (unsigned q = 0; q < BOX_NUMBERS; q++) {
        double sum = 0, due = (double)boxes / BINS;
        for (unsigned v = 0; v < BINS; v++)
            sum += (seen[q][v] - due) * (seen[q][v] - due) / due;
        least = fmin(least, chi2_upper(sum, BINS - 1));
        for (unsigned other = 0; other < q; other++)
            least = fmin(least, normal_two_sided(pairs[q][other] / sqrt(boxes)));
    }
    box_law_free(law);
    return least;
}

static const struct box_rules usual = {{0.08, 1}, {3.0 / 4, 4.0 / 3}};

Test(box_law, boxes_of_images_of_any_shape)
{
    static const uint32_t sides[][2] = {{32, 32},  {500, 375},  {375, 500}, {400, 200},
                                        {60, 300}, {1000, 100}, {7, 5},     {1, 1}};
    static const struct box_rules all[] = {{{0.08, 1}, {3.0 / 4, 4.0 / 3}},
                                           {{0.3, 0.5}, {0.5, 2}},
                                           {{0.9, 1}, {0.95, 1.05}},
                                           {{0.01, 0.02}, {3, 4}}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            double p = least_p(&all[k], &all[k], sides[i][0], sides[i][1], 20000);
            /* 10 p-values each, of 32 pairs of shape and rules */
            cr_assert(p > 1e-5, "%u x %u, %g to %g: %g", sides[i][0], sides[i][1], all[k].area[0],
                      all[k].area[1], p);
        }
}

Test(box_law, other_laws_are_found)
{
    static const struct box_rules others[] = {{{0.08, 1}, {3.0 / 4, 1.326}},
                                              {{0.085, 1}, {3.0 / 4, 4.0 / 3}},
                                              {{0.08, 0.96}, {3.0 / 4, 4.0 / 3}},
                                              {{0.08, 1}, {0.76, 4.0 / 3}}};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        double p = least_p(&usual, &others[k], 256, 192, 1000000);
        cr_assert(p < 1e-6, "%zu: %g", k, p);
    }
}
