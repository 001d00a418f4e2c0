/* The operations without a law: see not_tested.h. */
#include "not_tested.h"

#include <stdbool.h>

static bool any(const double *bounds, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (bounds[i] != 0)
            return true;
    return false;
}

static bool jitters(const apl_transform *t)
{
    return any(t->brightness, 2) || any(t->contrast, 2) || any(t->saturation, 2) || any(t->hue, 2);
}

static bool turns(const apl_transform *t)
{
    bool scales = any(t->affine_scale, 2) && (t->affine_scale[0] != 1 || t->affine_scale[1] != 1);
    return scales || any(t->affine_degrees, 2) || any(t->affine_translate, 2) || any(t->affine_shear, 4);
}

unsigned not_tested(const apl_transform *t, const apl_blend *blend, const char *names[NOT_TESTED_MOST])
{
    const struct {
        const char *name;
        bool there;
    } all[] = {{"alternating flips", t && t->flip == APL_FLIP_ALTERNATING},
               {"flips with a probability of their own",
                t && t->flip == APL_FLIP_RANDOM && t->flip_p != 0 && t->flip_p != 0.5},
               {"vertical flips", t && t->vertical_flip_p > 0},
               {"affine maps", t && turns(t)},
               {"perspectives", t && t->perspective_distortion > 0},
               {"elastic deformations", t && any(t->elastic_alpha, 2)},
               {"policies", t && t->policy != APL_POLICY_NONE},
               {"colour jitter", t && jitters(t)},
               {"random grey", t && t->grey_p > 0 && t->grey_p < 1},
               {"blur", t && t->blur_size[0] > 0},
               {"erasing", t && t->erase_p > 0},
               {"MixUp and CutMix", blend != NULL}};
    unsigned count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].there)
            names[count++] = all[i].name;
    return count;
}
