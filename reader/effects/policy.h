/* Operations drawn from a table: torchvision's TrivialAugmentWide and RandAugment. */
#ifndef POLICY_H
#define POLICY_H

#include "effects.h"

#define POLICY_MOST_OPS  64
#define POLICY_MOST_BINS 1024

/* In the order of torchvision's tables. */
enum policy_kind {
    POLICY_IDENTITY,
    POLICY_SHEAR_X,
    POLICY_SHEAR_Y,
    POLICY_TRANSLATE_X,
    POLICY_TRANSLATE_Y,
    POLICY_ROTATE,
    POLICY_BRIGHTNESS,
    POLICY_COLOR,
    POLICY_CONTRAST,
    POLICY_SHARPNESS,
    POLICY_POSTERIZE,
    POLICY_SOLARIZE,
    POLICY_AUTOCONTRAST,
    POLICY_EQUALIZE,
    POLICY_KINDS
};

struct policy_operation {
    enum policy_kind kind;
    double magnitude; /* in the units of the kind, with its sign */
};

/* Draws operation number `which` for an image of this size. */
struct policy_operation policy_draw(const apl_transform *t, const struct effect_draws *draws, unsigned which,
                                    unsigned height, unsigned width);

/* `copy` has room for the image and AFFINE_BEYOND bytes more, `spare` for a plane. */
void policy_operate(const struct colour *k, const apl_transform *t, struct policy_operation operation,
                    const struct image *p, uint8_t *copy, uint8_t *spare);

#endif
