/*
 * Sums over the plane of widths and heights: see box_law.h. As the area is uniform and so is the logarithm of the ratio, boxes with sides x
 * and y, before they are rounded, are uniform over the part of the plane where both are allowed (the Jacobian is 2).
 */
#include "box_law.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define TRIES       10
#define LEAST_STEPS 16    /* of sums, for each pixel */
#define ALL_STEPS   4096u /* or for an image */
#define MOST_CELLS  65536u

struct box_law {
    double area[2], ratio[2]; /* bounds, in pixels, of x * y, and of x / y */
    uint32_t width, height;   /* of the image */
    unsigned steps;
    double fails;            /* the chance that no box fits */
    struct drawn_box middle; /* what is taken then */
    double *
        cells; /* height x (width + 1): how much is of that height, and up to that width; NULL: not worth it */
    double below[]; /* height + 1: how much of the plane is of boxes up to that height, and fits */
};

/* ------------------------------------------------------------------------------------------------ the plane */

/* How much of the line of height y is of boxes of widths of half a pixel to `most`. */
static double line_length(const struct box_law *l, double y, double most)
{
    double least = fmax(0.5, fmax(l->area[0] / y, l->ratio[0] * y));
    return fmax(0, fmin(most, fmin(l->area[1] / y, l->ratio[1] * y)) - least);
}

/* The same of all lines that are rounded to that height. */
static double strip_area(const struct box_law *l, uint32_t height, double most)
{
    double sum = 0;
    for (unsigned i = 0; i < l->steps; i++)
        sum += line_length(l, height - 0.5 + (i + 0.5) / l->steps, most);
    return sum / l->steps;
}

/* Rounds as Python does. */
static uint32_t whole_side(double side, uint32_t most)
{
    double whole = rint(side);
    return whole < 1 ? 1 : whole < most ? (uint32_t)whole : most;
}

static struct drawn_box middle_of(const struct box_rules *rules, uint32_t width, uint32_t height)
{
    double ratio = (double)width / height;
    struct drawn_box b = {.width = width, .height = height};
    if (ratio < rules->ratio[0])
        b.height = whole_side(width / rules->ratio[0], height);
    else if (ratio > rules->ratio[1])
        b.width = whole_side(height * rules->ratio[1], width);
    b.left = (width - b.width) / 2;
    b.top = (height - b.height) / 2;
    return b;
}

/* Of small images, which come so often that it is worth having all of them. */
static bool make_cells(struct box_law *l)
{
    uint64_t row = (uint64_t)l->width + 1, count = row * l->height;
    if (count > MOST_CELLS)
        return true;
    l->cells = malloc(count * sizeof *l->cells);
    for (uint32_t h = 1; l->cells && h <= l->height; h++)
        for (uint32_t w = 0; w <= l->width; w++)
            l->cells[(h - 1) * row + w] = strip_area(l, h, w + 0.5);
    return l->cells != NULL;
}

static double strip_up_to(const struct box_law *l, uint32_t height, uint32_t width)
{
    return l->cells ? l->cells[(height - 1) * ((uint64_t)l->width + 1) + width]
                    : strip_area(l, height, width + 0.5);
}

struct box_law *box_law_new(const struct box_rules *rules, uint32_t width, uint32_t height)
{
    struct box_law *l = malloc(sizeof *l + ((size_t)height + 1) * sizeof l->below[0]);
    if (!l)
        return NULL;
    double all = (double)width * height;
    *l = (struct box_law){.area = {all * rules->area[0], all * rules->area[1]},
                          .ratio = {rules->ratio[0], rules->ratio[1]},
                          .width = width,
                          .height = height,
                          .steps = ALL_STEPS / height < LEAST_STEPS ? LEAST_STEPS : ALL_STEPS / height,
                          .middle = middle_of(rules, width, height)};
    l->below[0] = 0;
    for (uint32_t h = 1; h <= height; h++)
        l->below[h] = l->below[h - 1] + strip_area(l, h, width + 0.5);
    double plane = (l->area[1] - l->area[0]) * log(l->ratio[1] / l->ratio[0]) / 2;
    double fits = plane > 0 ? fmin(1, l->below[height] / plane) : 0;
    l->fails = pow(1 - fits, TRIES);
    if (make_cells(l))
        return l;
    box_law_free(l);
    return NULL;
}

void box_law_free(struct box_law *law)
{
    if (law)
        free(law->cells);
    free(law);
}

/* ---------------------------------------------------------------------------------------------- numbers */

/* What is known of a box so far: how likely that is of one that fits, and of the one in the middle. */
struct known {
    double fits, middle;
};

/* A value of one that fits has that chance, and lower ones have those below; the one in the middle has it too, or a lower one, or a higher
 * one. Returns the number, and goes on with what is known then. */
static double number_of(struct known *k, double below, double chance, uint32_t value, uint32_t middle,
                        double share)
{
    struct known then = {k->fits * chance, value == middle ? k->middle : 0};
    double lower = k->fits * below + (middle < value ? k->middle : 0), all = k->fits + k->middle;
    double number = all > 0 ? (lower + share * (then.fits + then.middle)) / all : share;
    *k = then;
    return fmin(1, number);
}

/* One of `room` places, all alike. */
static double place_number(struct known *k, uint32_t value, uint32_t room, uint32_t middle, double share)
{
    return number_of(k, (double)value / room, 1.0 / room, value, middle, share);
}

void box_law_uniform(const struct box_law *l, const struct drawn_box *b, const double share[BOX_NUMBERS],
                     double uniform[BOX_NUMBERS])
{
    struct known k = {1 - l->fails, l->fails};
    double all = l->below[l->height] > 0 ? l->below[l->height] : 1;
    double before = l->below[b->height - 1] / all, strip = l->below[b->height] / all - before;
    uniform[0] = number_of(&k, before, strip, b->height, l->middle.height, share[0]);
    double line = strip > 0 ? strip * all : 1, narrower = strip_up_to(l, b->height, b->width - 1) / line;
    double as_wide = strip_up_to(l, b->height, b->width) / line - narrower;
    uniform[1] = number_of(&k, narrower, as_wide, b->width, l->middle.width, share[1]);
    uniform[2] = place_number(&k, b->top, l->height - b->height + 1, l->middle.top, share[2]);
    uniform[3] = place_number(&k, b->left, l->width - b->width + 1, l->middle.left, share[3]);
}
