/* Chroma is interpolated by a triangle: three parts of the nearest sample and one of the next, along each axis. See interpolate.h. */
#include "interpolate.h"

#define NEAR 3

/* How sums are rounded, of even and of odd columns, or rows; by turns up and down, so that no error adds up. */
struct rounding {
    unsigned shift, add[2];
};

static uint32_t beside(uint32_t at, bool before, uint32_t size)
{
    if (before)
        return at > 0 ? at - 1 : 0;
    return at + 1 < size ? at + 1 : at;
}

/* Nearest and next row of chroma, of a row of pixels; their first column that is there. */
struct rows {
    const uint8_t *near, *next;
    uint32_t left;
};

static struct rows rows_of(const struct interpolation *e, unsigned plane, uint32_t row)
{
    uint32_t near = row / e->down, next = beside(near, row % 2 == 0, e->plane[plane].height);
    const uint8_t *samples = e->plane[plane].samples;
    size_t stride = e->plane[plane].stride;
    uint32_t top = e->plane[plane].top;
    return (struct rows){samples + (near - top) * stride, samples + (next - top) * stride,
                         e->plane[plane].left};
}

static void repeated(const struct interpolation *e, unsigned plane, uint32_t row, uint32_t from,
                     uint32_t count, uint8_t *out)
{
    const uint8_t *near =
        e->plane[plane].samples + (row / e->down - e->plane[plane].top) * e->plane[plane].stride;
    for (uint32_t i = 0; i < count; i++)
        out[i] = near[(from + i) / e->across - e->plane[plane].left];
}

/* Between rows only. */
static void smooth_down(const struct interpolation *e, unsigned plane, uint32_t row, uint32_t from,
                        uint32_t count, uint8_t *out)
{
    struct rows r = rows_of(e, plane, row);
    for (uint32_t i = from - r.left; i < from - r.left + count; i++)
        *out++ = (uint8_t)((NEAR * r.near[i] + r.next[i] + (row % 2 ? 2u : 1u)) >> 2);
}

static void smooth_across(const struct interpolation *e, unsigned plane, uint32_t row, uint32_t from,
                          uint32_t count, uint8_t *out)
{
    struct rows r = rows_of(e, plane, row);
    bool both = e->down == 2;
    struct rounding rounding = {both ? 4 : 2, {both ? 8 : 1, both ? 7 : 2}};
    for (uint32_t x = from; x < from + count; x++) {
        uint32_t near = x / 2 - r.left, next = beside(x / 2, x % 2 == 0, e->plane[plane].width) - r.left;
        unsigned first = both ? NEAR * r.near[near] + r.next[near] : r.near[near];
        unsigned second = both ? NEAR * r.near[next] + r.next[next] : r.near[next];
        *out++ = (uint8_t)((NEAR * first + second + rounding.add[x % 2]) >> rounding.shift);
    }
}

static void make_chroma(const struct interpolation *e, unsigned plane, uint32_t row, uint32_t from,
                        uint32_t count, uint8_t *out)
{
    bool wide = e->plane[plane].width > 2; /* libjpeg interpolates no others across, nor then down */
    if (e->across == 2 && e->smooth && wide)
        smooth_across(e, plane, row, from, count, out);
    else if (e->across == 1 && e->down == 2 && e->smooth)
        smooth_down(e, plane, row, from, count, out);
    else
        repeated(e, plane, row, from, count, out);
}

static uint8_t clamped_sample(int32_t x)
{
    return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

/* What chroma adds to luma, times 2^16. */
#define RED_CR     91881
#define GREEN_CB   22554
#define GREEN_CR   46802
#define BLUE_CB    116130
#define ROUNDED(x) (((x) + (1 << 15)) >> 16)

void interpolate_row(const struct interpolation *e, uint32_t row, uint32_t from, uint32_t count,
                     uint8_t *chroma, uint8_t *const rgb[3])
{
    const uint8_t *luma =
        e->plane[0].samples + (row - e->plane[0].top) * e->plane[0].stride + (from - e->plane[0].left);
    make_chroma(e, 1, row, from, count, chroma);
    make_chroma(e, 2, row, from, count, chroma + count);
    for (uint32_t i = 0; i < count; i++) {
        int32_t y = luma[i], cb = chroma[i] - 128, cr = chroma[count + i] - 128;
        rgb[0][i] = clamped_sample(y + ROUNDED(RED_CR * cr));
        rgb[1][i] = clamped_sample(y + ROUNDED(-GREEN_CB * cb - GREEN_CR * cr));
        rgb[2][i] = clamped_sample(y + ROUNDED(BLUE_CB * cb));
    }
}
