/* torchvision's posterize(), solarize(), autocontrast(), equalize() and adjust_sharpness() of u8. */
#ifndef TONE_H
#define TONE_H

#include "effects.h"

void tone_posterize(const struct image *p, unsigned bits); /* the highest bits of a value are kept: 0 ... 8 */
void tone_solarize(const struct image *p, double threshold); /* values from there on are inverted */
void tone_autocontrast(const struct image *p);               /* the least value becomes 0, the most 255 */
void tone_equalize(const struct image *p);                   /* all values become about equally many */
void tone_sharpen(const struct image *p, const uint8_t *from, int32_t factor); /* `from`: a copy of it */

#endif
