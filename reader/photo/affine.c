/* Affine maps: see affine.h. */
#include "affine.h"

#include "exact.h"

static int64_t units(double value)
{
    return (int64_t)rint(value * (double)AFFINE_UNIT);
}

static const struct affine_map same = {.xx = AFFINE_UNIT, .yy = AFFINE_UNIT};

/* Shears are about the upper left corner, half a pixel from the middle of the first. */
struct affine_map affine_shear_x(double shear)
{
    struct affine_map m = same;
    m.xy = units(shear);
    m.x0 = m.xy / 2;
    return m;
}

struct affine_map affine_shear_y(double shear)
{
    struct affine_map m = same;
    m.yx = units(shear);
    m.y0 = m.yx / 2;
    return m;
}

struct affine_map affine_move(int32_t right, int32_t down)
{
    struct affine_map m = same;
    m.x0 = -right * AFFINE_UNIT;
    m.y0 = -down * AFFINE_UNIT;
    return m;
}

/* Of a centre at c, counted from the middle of the first pixel, what `rest` of it the map leaves behind. */
static int64_t left_behind(double c, int64_t from_x, double x, int64_t from_y, double y)
{
    return (int64_t)trunc((double)AFFINE_UNIT * c - (double)from_x * x - (double)from_y * y);
}

struct affine_map affine_of(const struct affine_motion *o)
{
    double turn = o->degrees, shear_y = exact_cosine(o->shear[1]);
    double shear_x = exact_sine(o->shear[0]) / exact_cosine(o->shear[0]);
    double across = exact_cosine(turn - o->shear[1]) / shear_y,
           down = exact_sine(turn - o->shear[1]) / shear_y;
    double x = o->centre[0] - 0.5, y = o->centre[1] - 0.5;
    struct affine_map m = {.xx = units((exact_cosine(turn) - down * shear_x) / o->zoom),
                           .xy = units((across * shear_x + exact_sine(turn)) / o->zoom),
                           .yx = units(-down / o->zoom),
                           .yy = units(across / o->zoom)};
    m.x0 = left_behind(x, m.xx, x, m.xy, y) - m.xx * o->right - m.xy * o->down;
    m.y0 = left_behind(y, m.yx, x, m.yy, y) - m.yx * o->right - m.yy * o->down;
    return m;
}

/* The inverse of the map, whose points lie half a pixel from the corners of pixels. */
void affine_point(const struct affine_map *m, const double from[2], double to[2])
{
    double unit = (double)AFFINE_UNIT, xx = (double)m->xx / unit, xy = (double)m->xy / unit,
           yx = (double)m->yx / unit, yy = (double)m->yy / unit, area = xx * yy - xy * yx;
    double x = from[0] - 0.5 - (double)m->x0 / unit, y = from[1] - 0.5 - (double)m->y0 / unit;
    to[0] = (yy * x - xy * y) / area + 0.5;
    to[1] = (xx * y - yx * x) / area + 0.5;
}
