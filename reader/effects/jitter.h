/* Brightness, contrast, saturation and hue, in random order: torchvision's ColorJitter. */
#ifndef JITTER_H
#define JITTER_H

#include "effects.h"

bool jitter_any(const apl_transform *t);

/* Draws factors and order, and applies them. `spare` has room for a plane. */
void jitter_apply(const struct colour *k, const apl_transform *t, const struct effect_draws *draws,
                  const struct image *p, uint8_t *spare);

/* One of them by itself. Factors are in units of 1 / COLOUR_UNIT; a turn of the hue is from -0.5 to 0.5. Saturation and hue do
 * nothing to images of one channel. */
int32_t jitter_factor(double factor);
void jitter_brightness(const struct colour *k, const struct image *p, int32_t factor);
void jitter_contrast(const struct colour *k, const struct image *p, int32_t factor, uint8_t *spare);
void jitter_saturation(const struct colour *k, const struct image *p, int32_t factor);
void jitter_hue(const struct colour *k, const struct image *p, double turn);

#endif
