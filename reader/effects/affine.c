/* Affine maps in whole numbers: see affine.h. */
#include "affine.h"

#include <math.h>

#define PI           3.14159265358979323846
#define WEIGHT_POINT 12 /* bits of a bilinear weight */

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

struct affine_map affine_turn(double degrees, const struct picture *p)
{
    int64_t cosine = units(cos(degrees * PI / 180)), sine = units(sin(degrees * PI / 180));
    struct affine_map m = {.xx = cosine, .xy = -sine, .yx = sine, .yy = cosine};
    int64_t x = (int64_t)p->width - 1, y = (int64_t)p->height - 1; /* twice the middle */
    m.x0 = (x * AFFINE_UNIT - m.xx * x - m.xy * y) / 2;
    m.y0 = (y * AFFINE_UNIT - m.yx * x - m.yy * y) / 2;
    return m;
}

static bool is_inside(const struct picture *p, int64_t x, int64_t y)
{
    return x >= 0 && x < (int64_t)p->width && y >= 0 && y < (int64_t)p->height;
}

static uint8_t nearest_at(const struct picture *p, const uint8_t *plane, int64_t x, int64_t y, uint8_t fill)
{
    int64_t half = AFFINE_UNIT / 2, column = (x + half) >> AFFINE_POINT, row = (y + half) >> AFFINE_POINT;
    return is_inside(p, column, row) ? plane[(size_t)row * p->width + (size_t)column] : fill;
}

/* The sum of the four pixels around, times their weights, of those that there are. */
struct blend {
    int64_t sum, weight;
};

static void blend_add(struct blend *b, const struct picture *p, const uint8_t *plane, int64_t x, int64_t y,
                      int64_t weight)
{
    if (!is_inside(p, x, y))
        return;
    b->sum += plane[(size_t)y * p->width + (size_t)x] * weight;
    b->weight += weight;
}

/* What lies beyond the edges counts as 0; then, if there is a colour to fill with, blended with that by how much of the four is
 * beyond, as in torchvision. */
static uint8_t between_at(const struct picture *p, const uint8_t *plane, int64_t x, int64_t y, bool filled,
                          uint8_t fill)
{
    const int64_t unit = 1 << WEIGHT_POINT, all = unit * unit;
    int64_t left = x >> AFFINE_POINT, top = y >> AFFINE_POINT;
    int64_t right = (x & (AFFINE_UNIT - 1)) >> (AFFINE_POINT - WEIGHT_POINT);
    int64_t low = (y & (AFFINE_UNIT - 1)) >> (AFFINE_POINT - WEIGHT_POINT);
    struct blend b = {0, 0};
    blend_add(&b, p, plane, left, top, (unit - right) * (unit - low));
    blend_add(&b, p, plane, left + 1, top, right * (unit - low));
    blend_add(&b, p, plane, left, top + 1, (unit - right) * low);
    blend_add(&b, p, plane, left + 1, top + 1, right * low);
    if (filled)
        b.sum = ((b.sum - fill * all) * b.weight >> (2 * WEIGHT_POINT)) + fill * all;
    return (uint8_t)((b.sum + all / 2) >> (2 * WEIGHT_POINT));
}

void affine_apply(const struct affine_map *m, const uint8_t *from, const float *fill, bool bilinear,
                  const struct picture *p)
{
    bool filled = false;
    for (unsigned c = 0; c < p->channels; c++)
        filled |= fill[c] > 0;
    for (unsigned c = 0; c < p->channels; c++) {
        const uint8_t *plane = from + c * picture_plane(p);
        uint8_t *out = p->pixels + c * picture_plane(p), beyond = (uint8_t)fill[c];
        for (int64_t row = 0; row < (int64_t)p->height; row++) {
            int64_t x = m->xy * row + m->x0, y = m->yy * row + m->y0;
            for (unsigned column = 0; column < p->width; column++, x += m->xx, y += m->yx)
                *out++ = bilinear ? between_at(p, plane, x, y, filled, beyond)
                                  : nearest_at(p, plane, x, y, beyond);
        }
    }
}
