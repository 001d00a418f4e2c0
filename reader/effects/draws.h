/* The random numbers of one record's effects: functions of seed, epoch, id and copy, not of the field. */
#ifndef DRAWS_H
#define DRAWS_H

#include "random.h"

#include <stdbool.h>

struct effect_draws {
    uint64_t key, id;
    uint32_t copy;
};

/* What four numbers are for. They never change their meaning. */
enum effect_draw {
    DRAW_JITTER = 0,      /* is it done; the order of its parts */
    DRAW_FACTORS = 1,     /* brightness, contrast, saturation, hue */
    DRAW_GREY = 2,        /* is it done */
    DRAW_BLUR = 3,        /* is it done; how much */
    DRAW_ERASE = 4,       /* is it done */
    DRAW_AFFINE = 5,      /* is it done; degrees; how far to the right, and down */
    DRAW_SCALE = 6,       /* scale; shear of x, and of y */
    DRAW_PERSPECTIVE = 7, /* is it done; where its corners go, across, and down: three */
    DRAW_ELASTIC = 10,    /* is it done */
    DRAW_BOX = 16,        /* which rectangle is erased: one for each try */
    DRAW_POLICY = 64,     /* which operation; how much; which way: one for each operation */
    DRAW_NOISE = 1 << 20  /* values that an erased rectangle is filled with, one for each eight */
};

/* Of the same kind, beyond what noise can take: how far pixels are moved to the right, and down, one for each four. */
#define DRAW_ELASTIC_RIGHT 0xC0000000u
#define DRAW_ELASTIC_DOWN  0xE0000000u

struct effect_draws effect_draws(uint64_t seed, uint64_t epoch, uint64_t id, uint32_t copy);

void effect_words(const struct effect_draws *draws, uint32_t number, uint32_t words[4]);

/* With probability p. */
static inline bool effect_happens(uint32_t word, double p)
{
    return word < p * 0x1p32;
}

static inline double effect_between(const double bounds[2], uint32_t word)
{
    return bounds[0] + (bounds[1] - bounds[0]) * (word * 0x1p-32);
}

/* One of 0 ... count - 1. */
static inline uint32_t effect_one_of(uint32_t count, uint32_t word)
{
    return (uint32_t)((uint64_t)word * count >> 32);
}

#endif
