/* What an audit has no test for, by name. */
#include "not_tested.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *only_one(const apl_transform *t)
{
    const char *names[NOT_TESTED_MOST];
    cr_assert_eq(not_tested(t, NULL, names), 1);
    return names[0];
}

Test(not_tested, nothing_of_what_has_a_law)
{
    const char *names[NOT_TESTED_MOST];
    apl_transform t = APL_TRANSFORM_INIT;
    cr_assert_eq(not_tested(NULL, NULL, names), 0);
    t.pad = 4;
    t.crop_height = t.crop_width = 24;
    t.flip = APL_FLIP_RANDOM;
    t.flip_p = 0.5;
    t.cutout = 8;
    t.affine_scale[0] = t.affine_scale[1] = 1; /* as it is completed */
    t.scale = APL_SCALE_NORMALISE;
    t.grey_p = 1;
    cr_assert_eq(not_tested(&t, NULL, names), 0);
}

#define NAMED(text, ...)                      \
    do {                                      \
        apl_transform t = APL_TRANSFORM_INIT; \
        __VA_ARGS__;                          \
        cr_assert_str_eq(only_one(&t), text); \
    } while (0)

Test(not_tested, each_operation_by_each_of_its_members)
{
    NAMED("alternating flips", t.flip = APL_FLIP_ALTERNATING);
    NAMED("flips with a probability of their own", t.flip = APL_FLIP_RANDOM; t.flip_p = 0.3);
    NAMED("vertical flips", t.vertical_flip_p = 0.5);
    NAMED("affine maps", t.affine_degrees[0] = -10);
    NAMED("affine maps", t.affine_translate[1] = 0.1);
    NAMED("affine maps", t.affine_scale[0] = 0.9; t.affine_scale[1] = 1);
    NAMED("affine maps", t.affine_shear[3] = 5);
    NAMED("perspectives", t.perspective_distortion = 0.5);
    NAMED("elastic deformations", t.elastic_alpha[1] = 50);
    NAMED("policies", t.policy = APL_POLICY_RAND);
    NAMED("colour jitter", t.brightness[1] = 1.5);
    NAMED("colour jitter", t.contrast[0] = 0.5);
    NAMED("colour jitter", t.saturation[1] = 2);
    NAMED("colour jitter", t.hue[0] = -0.1);
    NAMED("random grey", t.grey_p = 0.1);
    NAMED("blur", t.blur_size[0] = t.blur_size[1] = 3);
    NAMED("erasing", t.erase_p = 0.5);
}

Test(not_tested, batches_that_are_mixed)
{
    const char *names[NOT_TESTED_MOST];
    apl_blend blend = APL_BLEND_INIT;
    cr_assert_eq(not_tested(NULL, &blend, names), 1);
    cr_assert_str_eq(names[0], "MixUp and CutMix");
}
