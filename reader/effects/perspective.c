/* Four corners, and the map between a square and them: see perspective.h. */
#include "perspective.h"

#include "ranges.h"
#include "status.h"

bool perspective_any(const apl_transform *t)
{
    return t->perspective_distortion != 0;
}

apl_status perspective_check(const char *field, unsigned channels, apl_transform *t, apl_error *err)
{
    if (!range_is_probability(t->perspective_distortion))
        return fail(err, APL_E_INVALID, "field %s: perspective_distortion of %g; wanted: 0 to 1", field,
                    t->perspective_distortion);
    if (!range_is_probability(t->perspective_p))
        return fail(err, APL_E_INVALID, "field %s: perspective_p is a probability, from 0 to 1, not %g",
                    field, t->perspective_p);
    if ((unsigned)t->perspective_interpolation > APL_BILINEAR)
        return fail(err, APL_E_INVALID, "field %s: a perspective by an interpolation that there is not",
                    field);
    for (unsigned c = 0; c < channels; c++)
        if (!(t->perspective_fill[c] >= 0 && t->perspective_fill[c] <= 255))
            return fail(err, APL_E_INVALID, "field %s: perspective_fill[%u] is %g; wanted: 0 to 255", field,
                        c, (double)t->perspective_fill[c]);
    t->perspective_p = t->perspective_p > 0 ? t->perspective_p : 1;
    t->perspective_blend = t->perspective_blend != 0;
    if (!perspective_any(t) || channels == 1 || channels == 3)
        return APL_OK;
    return fail(err, APL_E_INVALID, "field %s: a perspective is for images of 1 or 3 channels; these have %u",
                field, channels);
}

/* Each corner lies in a box inwards of its own, of this many pixels. */
static uint32_t furthest_corner(double distortion, uint32_t side)
{
    return (uint32_t)(distortion * (side / 2)) + 1;
}

bool perspective_draw(const apl_transform *t, const struct effect_draws *draws, uint32_t height,
                      uint32_t width, struct perspective_corners *corners)
{
    uint32_t words[4], across[4], down[4];
    if (!perspective_any(t))
        return false;
    effect_words(draws, DRAW_PERSPECTIVE, words);
    if (!effect_happens(words[0], t->perspective_p))
        return false;
    effect_words(draws, DRAW_PERSPECTIVE + 1, across);
    effect_words(draws, DRAW_PERSPECTIVE + 2, down);
    uint32_t right = furthest_corner(t->perspective_distortion, width),
             low = furthest_corner(t->perspective_distortion, height);
    for (int i = 0; i < 4; i++) {
        uint32_t x = effect_one_of(right, across[i]), y = effect_one_of(low, down[i]);
        corners->x[i] = (int32_t)(i == 1 || i == 2 ? width - right + x : x);
        corners->y[i] = (int32_t)(i >= 2 ? height - low + y : y);
    }
    return true;
}

/* Do three of the corners lie on a line? */
static bool corners_align(const struct perspective_corners *c)
{
    for (int i = 0; i < 4; i++) {
        int j = (i + 1) % 4, k = (i + 2) % 4;
        int64_t turn = (int64_t)(c->x[j] - c->x[i]) * (c->y[k] - c->y[j]) -
                       (int64_t)(c->y[j] - c->y[i]) * (c->x[k] - c->x[j]);
        if (turn == 0)
            return true;
    }
    return false;
}

/* The inverse, but for a factor, which the quotients do not show. */
static void invert_map(const double m[9], double inverse[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int r = (j + 1) % 3, s = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            inverse[3 * i + j] = m[3 * r + c] * m[3 * s + d] - m[3 * r + d] * m[3 * s + c];
        }
}

bool perspective_of(const struct perspective_corners *c, uint32_t height, uint32_t width,
                    struct perspective *map)
{
    if (width < 2 || height < 2 || corners_align(c))
        return false;
    double x1 = c->x[1] - c->x[2], x3 = c->x[3] - c->x[2], x = c->x[0] - c->x[1] + c->x[2] - c->x[3];
    double y1 = c->y[1] - c->y[2], y3 = c->y[3] - c->y[2], y = c->y[0] - c->y[1] + c->y[2] - c->y[3];
    double unit = x1 * y3 - x3 * y1, u = (x * y3 - x3 * y) / unit, v = (x1 * y - x * y1) / unit;
    const double to[9] = {c->x[1] - c->x[0] + u * c->x[1],
                          c->x[3] - c->x[0] + v * c->x[3],
                          c->x[0],
                          c->y[1] - c->y[0] + u * c->y[1],
                          c->y[3] - c->y[0] + v * c->y[3],
                          c->y[0],
                          u,
                          v,
                          1};
    *map = (struct perspective){.width = width, .height = height};
    for (int i = 0; i < 9; i++)
        map->to[i] = to[i];
    invert_map(to, map->back);
    for (int i = 0; i < 3; i++) {
        map->back[i] *= width - 1;
        map->back[3 + i] *= height - 1;
    }
    return true;
}

static void perspective_find(const void *of, uint32_t row, uint32_t column, struct warp_places *places)
{
    const struct perspective *map = of;
    const double *m = map->back, y = row + 0.5;
    const double rest[3] = {m[1] * y + m[2], m[4] * y + m[5], m[7] * y + m[8]};
    for (uint32_t i = 0; i < places->count; i++) {
        double x = column + i + 0.5, w = m[6] * x + rest[2];
        places->x[i] = warp_place((m[0] * x + rest[0]) / w - 0.5, map->width);
        places->y[i] = warp_place((m[3] * x + rest[1]) / w - 0.5, map->height);
    }
}

static void perspective_point(const void *of, const double from[2], double to[2])
{
    const struct perspective *map = of;
    double u = from[0] / (map->width - 1), v = from[1] / (map->height - 1);
    const double *m = map->to;
    double w = m[6] * u + m[7] * v + m[8];
    to[0] = (m[0] * u + m[1] * v + m[2]) / w;
    to[1] = (m[3] * u + m[4] * v + m[5]) / w;
}

struct warp perspective_warp(const struct perspective *map)
{
    return (struct warp){perspective_find, perspective_point, map};
}
