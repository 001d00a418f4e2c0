/* Pictures that can be learnt: a drawn shape or texture on a blotchy ground. Whole numbers only, so that
 * every machine draws the same. */
#ifndef DRAW_H
#define DRAW_H

#include <stdint.h>

#define SHAPES        10
#define HUES          10
#define SIDE          32
#define PICTURE_BYTES (3 * SIDE * SIDE)

extern const char *const shape_names[SHAPES];
extern const char *const hue_names[HUES];

/* A stream of random numbers (SplitMix64). */
uint64_t draw_random(uint64_t *state);

/* A number from 0 ... n-1. */
unsigned draw_below(uint64_t *state, unsigned n);

/* Draws picture `number`: all red, all green, all blue. hue < 0: any. */
void draw_picture(uint64_t seed, uint64_t number, unsigned shape, int hue, uint8_t pixels[PICTURE_BYTES]);

#endif
