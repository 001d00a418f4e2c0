/* The tables of operations: see policy.h. */
#include "policy.h"

#include "affine.h"
#include "jitter.h"
#include "motion.h"
#include "tone.h"

#include <math.h>

/* Number `at` of `bins` from `first` to `last`, as torch.linspace() rounds them: 15 of 31 from 0 to 32 is a little less than 16. */
static float step_of(float first, float last, unsigned bins, unsigned at)
{
    float step = (last - first) / (float)(bins - 1);
    return at < bins / 2 ? fmaf(step, (float)at, first) : fmaf(-step, (float)(bins - 1 - at), last);
}

/* How far an operation goes at most; 0: it has no magnitude. */
static float furthest(const apl_transform *t, enum policy_kind kind, unsigned height, unsigned width)
{
    bool wide = t->policy == APL_POLICY_TRIVIAL_WIDE;
    switch (kind) {
    case POLICY_SHEAR_X:
    case POLICY_SHEAR_Y:
        return wide ? 0.99f : 0.3f;
    case POLICY_TRANSLATE_X:
        return wide ? 32.0f : (float)(150.0 / 331.0 * width);
    case POLICY_TRANSLATE_Y:
        return wide ? 32.0f : (float)(150.0 / 331.0 * height);
    case POLICY_ROTATE:
        return wide ? 135.0f : 30.0f;
    case POLICY_BRIGHTNESS:
    case POLICY_COLOR:
    case POLICY_CONTRAST:
    case POLICY_SHARPNESS:
        return wide ? 0.99f : 0.9f;
    default:
        return 0;
    }
}

struct policy_operation policy_draw(const apl_transform *t, const struct effect_draws *draws, unsigned which,
                                    unsigned height, unsigned width)
{
    uint32_t words[4];
    effect_words(draws, DRAW_POLICY + which, words);
    struct policy_operation o = {.kind = (enum policy_kind)effect_one_of(POLICY_KINDS, words[0])};
    bool wide = t->policy == APL_POLICY_TRIVIAL_WIDE;
    unsigned bins = t->policy_bins, at = wide ? effect_one_of(bins, words[1]) : t->policy_magnitude;
    if (o.kind == POLICY_POSTERIZE)
        o.magnitude = rintf(8 - (float)at / ((float)(bins - 1) / (wide ? 6.0f : 4.0f)));
    else if (o.kind == POLICY_SOLARIZE)
        o.magnitude = 255 * (double)step_of(1, 0, bins, at);
    else
        o.magnitude = (double)step_of(0, furthest(t, o.kind, height, width), bins, at);
    if (o.kind < POLICY_POSTERIZE && words[2] >> 31)
        o.magnitude = -o.magnitude;
    return o;
}

static void move_pixels(const apl_transform *t, const struct affine_map *map, const struct image *p,
                        uint8_t *copy)
{
    bool filled = t->policy_blend;
    for (unsigned c = 0; c < p->channels; c++)
        filled |= t->policy_fill[c] > 0;
    motion_apply(map, t->policy_fill, t->policy_interpolation == APL_BILINEAR, filled, p, copy);
}

static void change_colours(const struct colour *k, struct policy_operation o, const struct image *p,
                           uint8_t *copy, uint8_t *spare)
{
    int32_t factor = jitter_factor(1 + o.magnitude);
    switch (o.kind) {
    case POLICY_BRIGHTNESS:
        jitter_brightness(k, p, factor);
        break;
    case POLICY_COLOR:
        jitter_saturation(k, p, factor);
        break;
    case POLICY_CONTRAST:
        jitter_contrast(k, p, factor, spare);
        break;
    case POLICY_SHARPNESS:
        memcpy(copy, p->pixels, p->channels * image_plane(p));
        tone_sharpen(p, copy, factor);
        break;
    case POLICY_POSTERIZE:
        tone_posterize(p, (unsigned)o.magnitude);
        break;
    case POLICY_SOLARIZE:
        tone_solarize(p, o.magnitude);
        break;
    case POLICY_AUTOCONTRAST:
        tone_autocontrast(p);
        break;
    case POLICY_EQUALIZE:
        tone_equalize(p);
        break;
    default:
        break;
    }
}

void policy_operate(const struct colour *k, const apl_transform *t, struct policy_operation o,
                    const struct image *p, uint8_t *copy, uint8_t *spare)
{
    struct affine_map map;
    if (o.kind == POLICY_SHEAR_X)
        map = affine_shear_x(o.magnitude);
    else if (o.kind == POLICY_SHEAR_Y)
        map = affine_shear_y(o.magnitude);
    else if (o.kind == POLICY_TRANSLATE_X)
        map = affine_move((int32_t)o.magnitude, 0);
    else if (o.kind == POLICY_TRANSLATE_Y)
        map = affine_move(0, (int32_t)o.magnitude);
    else if (o.kind == POLICY_ROTATE)
        map = affine_of(&(struct affine_motion){
            .degrees = -o.magnitude, .zoom = 1, .centre = {p->width / 2.0, p->height / 2.0}});
    else {
        change_colours(k, o, p, copy, spare);
        return;
    }
    move_pixels(t, &map, p, copy);
}
