/* torchvision's posterize(), solarize(), autocontrast(), equalize() and adjust_sharpness() of u8. */
#ifndef TONE_H
#define TONE_H

#include "effects.h"

void tone_posterize(const struct picture *p,
                    unsigned bits); /* the highest bits of a value are kept: 0 ... 8 */
void tone_solarize(const struct picture *p, double threshold); /* values from there on are inverted */
void tone_autocontrast(const struct picture *p);               /* the least value becomes 0, the most 255 */
void tone_equalize(const struct picture *p);                   /* all values become about equally many */
void tone_sharpen(const struct picture *p, const uint8_t *from, int32_t factor); /* `from`: a copy of it */

#endif
