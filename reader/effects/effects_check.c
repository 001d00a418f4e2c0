/* What is asked of effects, checked and completed: see effects.h. */
#include "effects.h"

#include "blur.h"
#include "elastic.h"
#include "jitter.h"
#include "motion.h"
#include "perspective.h"
#include "policy.h"
#include "ranges.h"
#include "status.h"

#include <math.h>

static apl_status check_channels(const char *field, unsigned channels, const char *what, apl_error *err)
{
    if (channels == 1 || channels == 3)
        return APL_OK;
    return fail(err, APL_E_INVALID, "field %s: %s is for images of 1 or 3 channels; these have %u", field,
                what, channels);
}

static apl_status check_jitter(const char *field, unsigned channels, apl_transform *t, apl_error *err)
{
    const struct {
        const char *name;
        const double *range;
        double least, most;
    } all[] = {{"brightness", t->brightness, 0, COLOUR_MOST},
               {"contrast", t->contrast, 0, COLOUR_MOST},
               {"saturation", t->saturation, 0, COLOUR_MOST},
               {"hue", t->hue, -0.5, 0.5}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!range_within(all[i].range, all[i].least, all[i].most))
            return fail(err, APL_E_INVALID, "field %s: %s from %g to %g; wanted: a range from %g to %g",
                        field, all[i].name, all[i].range[0], all[i].range[1], all[i].least, all[i].most);
    if (!range_is_probability(t->jitter_p))
        return fail(err, APL_E_INVALID, "field %s: jitter_p is a probability, from 0 to 1, not %g", field,
                    t->jitter_p);
    t->jitter_p = t->jitter_p > 0 ? t->jitter_p : 1;
    return jitter_any(t) ? check_channels(field, channels, "colour jitter", err) : APL_OK;
}

static apl_status check_grey(const char *field, unsigned channels, apl_transform *t, apl_error *err)
{
    if (!range_is_probability(t->grey_p))
        return fail(err, APL_E_INVALID, "field %s: grey_p is a probability, from 0 to 1, not %g", field,
                    t->grey_p);
    if (t->grey_plane && t->grey_p > 0 && t->grey_p < 1)
        return fail(err, APL_E_INVALID,
                    "field %s: grey_plane makes all images grey, which a grey_p of %g contradicts", field,
                    t->grey_p);
    t->grey_plane = t->grey_plane != 0;
    t->grey_p = t->grey_plane ? 1 : t->grey_p;
    return t->grey_p > 0 ? check_channels(field, channels, "grey", err) : APL_OK;
}

static apl_status check_blur(const char *field, apl_transform *t, apl_error *err)
{
    const unsigned *size = t->blur_size, most = BLUR_LONGEST;
    if (size[0] == 0 && size[1] == 0)
        return APL_OK;
    if (size[0] % 2 == 0 || size[1] % 2 == 0 || size[0] > most || size[1] > most)
        return fail(err, APL_E_INVALID, "field %s: a blur of %u x %u pixels; wanted: odd numbers to %u",
                    field, size[0], size[1], most);
    if (size[0] / 2 >= t->crop_width || size[1] / 2 >= t->crop_height)
        return fail(err, APL_E_INVALID, "field %s: a blur of %u x %u pixels, of a crop of %u x %u", field,
                    size[0], size[1], t->crop_width, t->crop_height);
    range_default(t->blur_sigma, 0.1, 2);
    if (!range_within(t->blur_sigma, 1e-3, 1e3))
        return fail(err, APL_E_INVALID, "field %s: a blur of sigma %g to %g; wanted: 0.001 to 1000", field,
                    t->blur_sigma[0], t->blur_sigma[1]);
    if (!range_is_probability(t->blur_p))
        return fail(err, APL_E_INVALID, "field %s: blur_p is a probability, from 0 to 1, not %g", field,
                    t->blur_p);
    t->blur_p = t->blur_p > 0 ? t->blur_p : 1;
    return APL_OK;
}

static apl_status check_policy(const char *field, unsigned channels, apl_transform *t, apl_error *err)
{
    if ((unsigned)t->policy > APL_POLICY_RAND || (unsigned)t->policy_interpolation > APL_BILINEAR)
        return fail(err, APL_E_INVALID, "field %s: a policy or an interpolation that there is not", field);
    if (t->policy == APL_POLICY_NONE)
        return APL_OK;
    t->policy_blend = t->policy_blend != 0;
    t->policy_ops = t->policy_ops ? t->policy_ops : 2;
    t->policy_bins = t->policy_bins ? t->policy_bins : 31;
    if (t->policy_ops > POLICY_MOST_OPS || t->policy_bins < 2 || t->policy_bins > POLICY_MOST_BINS ||
        t->policy_magnitude >= t->policy_bins)
        return fail(err, APL_E_INVALID,
                    "field %s: %u operations of magnitude %u of %u; wanted: at most %d, below 2 to %d", field,
                    t->policy_ops, t->policy_magnitude, t->policy_bins, POLICY_MOST_OPS, POLICY_MOST_BINS);
    for (unsigned c = 0; c < channels; c++)
        if (!(t->policy_fill[c] >= 0 && t->policy_fill[c] <= 255))
            return fail(err, APL_E_INVALID, "field %s: policy_fill[%u] is %g; wanted: 0 to 255", field, c,
                        (double)t->policy_fill[c]);
    return check_channels(field, channels, "a policy", err);
}

static apl_status check_erase_value(const char *field, unsigned channels, const apl_transform *t,
                                    apl_error *err)
{
    bool bytes = t->dtype == APL_U8;
    if (t->erase == APL_ERASE_NOISE && bytes)
        return fail(err, APL_E_INVALID,
                    "field %s: u8 cannot be erased by normal noise: set dtype to a float (Python: ToFloat32)",
                    field);
    for (unsigned c = 0; t->erase != APL_ERASE_NOISE && c < channels; c++) {
        bool holds = bytes ? t->erase_value[c] >= 0 && t->erase_value[c] <= 255 : isfinite(t->erase_value[c]);
        if (!holds)
            return fail(err, APL_E_INVALID, "field %s: erase_value[%u] is %g; wanted: %s", field, c,
                        (double)t->erase_value[c], bytes ? "0 to 255, as the result is u8" : "a number");
    }
    return APL_OK;
}

static apl_status check_erase(const char *field, unsigned channels, apl_transform *t, apl_error *err)
{
    if ((unsigned)t->erase > APL_ERASE_NOISE)
        return fail(err, APL_E_INVALID, "field %s: erase is %u, which no way to erase has", field,
                    (unsigned)t->erase);
    if (!range_is_probability(t->erase_p))
        return fail(err, APL_E_INVALID, "field %s: erase_p is a probability, from 0 to 1, not %g", field,
                    t->erase_p);
    if (t->erase_p <= 0)
        return APL_OK;
    range_default(t->erase_area, 0.02, 0.33);
    range_default(t->erase_ratio, 0.3, 3.3);
    if (!range_within(t->erase_area, 0, 1) ||
        !range_within(t->erase_ratio, RANGE_LEAST_RATIO, 1 / RANGE_LEAST_RATIO))
        return fail(
            err, APL_E_INVALID,
            "field %s: erasing %g to %g of the area, of height / width %g to %g; wanted: 0 to 1, %g to %g",
            field, t->erase_area[0], t->erase_area[1], t->erase_ratio[0], t->erase_ratio[1],
            RANGE_LEAST_RATIO, 1 / RANGE_LEAST_RATIO);
    return check_erase_value(field, channels, t, err);
}

apl_status effects_check(const char *field, unsigned channels, apl_transform *t, apl_error *err)
{
    TRY(motion_check(field, channels, t, err));
    TRY(perspective_check(field, channels, t, err));
    TRY(elastic_check(field, channels, t, err));
    TRY(check_policy(field, channels, t, err));
    TRY(check_jitter(field, channels, t, err));
    TRY(check_grey(field, channels, t, err));
    TRY(check_blur(field, t, err));
    return check_erase(field, channels, t, err);
}
