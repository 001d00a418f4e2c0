/* Which map, by numbers of the record: see motion.h. */
#include "motion.h"

#include "affine_take.h"
#include "ranges.h"
#include "status.h"

#include <math.h>

#define TURN_MOST 360.0 /* degrees */

/* Of numbers that all stand for nothing. */
static bool all_are(const double *numbers, int n, double nothing)
{
    for (int i = 0; i < n; i++)
        if (!(numbers[i] == nothing))
            return false;
    return true;
}

bool motion_any(const apl_transform *t)
{
    bool scaled = !all_are(t->affine_scale, 2, 0) && !all_are(t->affine_scale, 2, 1);
    return scaled || !all_are(t->affine_degrees, 2, 0) || !all_are(t->affine_translate, 2, 0) ||
           !all_are(t->affine_shear, 4, 0);
}

static apl_status check_ranges(const char *field, apl_transform *t, apl_error *err)
{
    if (all_are(t->affine_scale, 2, 0))
        t->affine_scale[0] = t->affine_scale[1] = 1;
    const struct {
        const char *name;
        const double *range;
        double least, most;
    } all[] = {{"affine_degrees", t->affine_degrees, -TURN_MOST, TURN_MOST},
               {"affine_scale", t->affine_scale, 1 / AFFINE_ZOOM, AFFINE_ZOOM},
               {"affine_shear of x", t->affine_shear, -AFFINE_SHEAR, AFFINE_SHEAR},
               {"affine_shear of y", t->affine_shear + 2, -AFFINE_SHEAR, AFFINE_SHEAR}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!range_within(all[i].range, all[i].least, all[i].most))
            return fail(err, APL_E_INVALID, "field %s: %s from %g to %g; wanted: a range from %g to %g",
                        field, all[i].name, all[i].range[0], all[i].range[1], all[i].least, all[i].most);
    return APL_OK;
}

static apl_status check_affine_place(const char *field, unsigned channels, const apl_transform *t,
                                     apl_error *err)
{
    const double *move = t->affine_translate, *centre = t->affine_centre;
    if (!range_is_probability(move[0]) || !range_is_probability(move[1]))
        return fail(err, APL_E_INVALID, "field %s: affine_translate of %g and %g; wanted: fractions, 0 to 1",
                    field, move[0], move[1]);
    if (t->affine_about && !(fabs(centre[0]) <= AFFINE_CENTRE && fabs(centre[1]) <= AFFINE_CENTRE))
        return fail(err, APL_E_INVALID, "field %s: affine_centre of %g, %g; wanted: at most %g pixels away",
                    field, centre[0], centre[1], AFFINE_CENTRE);
    for (unsigned c = 0; c < channels; c++)
        if (!(t->affine_fill[c] >= 0 && t->affine_fill[c] <= 255))
            return fail(err, APL_E_INVALID, "field %s: affine_fill[%u] is %g; wanted: 0 to 255", field, c,
                        (double)t->affine_fill[c]);
    return APL_OK;
}

apl_status motion_check(const char *field, unsigned channels, apl_transform *t, apl_error *err)
{
    TRY(check_ranges(field, t, err));
    if ((unsigned)t->affine_interpolation > APL_BILINEAR)
        return fail(err, APL_E_INVALID, "field %s: an interpolation that there is not", field);
    if (!range_is_probability(t->affine_p))
        return fail(err, APL_E_INVALID, "field %s: affine_p is a probability, from 0 to 1, not %g", field,
                    t->affine_p);
    t->affine_p = t->affine_p > 0 ? t->affine_p : 1;
    t->affine_about = t->affine_about != 0;
    t->affine_unblended = t->affine_unblended != 0;
    TRY(check_affine_place(field, channels, t, err));
    if (!motion_any(t) || channels == 1 || channels == 3)
        return APL_OK;
    return fail(err, APL_E_INVALID, "field %s: an affine map is for images of 1 or 3 channels; these have %u",
                field, channels);
}

/* At most a fraction of the side, either way. */
static int32_t pixels_of(double fraction, uint32_t side, uint32_t word)
{
    const double bounds[2] = {-fraction * side, fraction * side};
    return (int32_t)rint(effect_between(bounds, word));
}

bool motion_draw(const apl_transform *t, const struct effect_draws *draws, uint32_t height, uint32_t width,
                 struct affine_map *map)
{
    uint32_t words[4], more[4];
    if (!motion_any(t))
        return false;
    effect_words(draws, DRAW_AFFINE, words);
    effect_words(draws, DRAW_SCALE, more);
    if (!effect_happens(words[0], t->affine_p))
        return false;
    const struct affine_motion motion = {
        .degrees = effect_between(t->affine_degrees, words[1]),
        .right = pixels_of(t->affine_translate[0], width, words[2]),
        .down = pixels_of(t->affine_translate[1], height, words[3]),
        .zoom = effect_between(t->affine_scale, more[0]),
        .shear = {effect_between(t->affine_shear, more[1]), effect_between(t->affine_shear + 2, more[2])},
        .centre = {t->affine_about ? t->affine_centre[0] : width / 2.0,
                   t->affine_about ? t->affine_centre[1] : height / 2.0}};
    *map = affine_of(&motion);
    return true;
}

void motion_apply(const struct affine_map *map, const float *fill, bool bilinear, bool filled,
                  const struct image *p, uint8_t *copy)
{
    const struct affine_planes planes = {p->channels, p->width, p->height, 1};
    uint8_t beyond[APL_MAX_CHANNELS];
    memcpy(copy, p->pixels, p->channels * image_plane(p));
    for (unsigned c = 0; c < p->channels; c++)
        beyond[c] = (uint8_t)fill[c];
    if (bilinear)
        affine_bilinear(map, &planes, copy, filled ? beyond : NULL, p->pixels);
    else
        affine_nearest(map, &planes, copy, beyond, p->pixels);
}
