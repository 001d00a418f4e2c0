/* What a plan touches of an image: see covered.h. */
#include "covered.h"

#include <math.h>

#define DCT_MARGIN 2

/* Of `wanted` pixels from `at` on, those within 0 ... size - 1. */
static void cover(int32_t at, uint32_t wanted, uint32_t size, uint32_t *from, uint32_t *count,
                  uint32_t *before)
{
    int64_t begin = at < 0 ? 0 : at, end = (int64_t)at + wanted;
    end = end > size ? size : end;
    *from = (uint32_t)begin;
    *count = end > begin ? (uint32_t)(end - begin) : 0;
    *before = (uint32_t)(begin - at);
}

struct covered covered_by(const struct crop_plan *plan)
{
    struct covered c;
    cover(plan->window.left, plan->window.width, plan->width, &c.left, &c.width, &c.right_of);
    cover(plan->window.top, plan->window.height, plan->height, &c.top, &c.height, &c.below);
    return c;
}

unsigned eighths_of(const struct crop_plan *plan)
{
    unsigned eighths = 8;
    while (eighths > 1 && (uint64_t)plan->box.width * eighths / 2 >= (uint64_t)plan->width * 8 * DCT_MARGIN &&
           (uint64_t)plan->box.height * eighths / 2 >= (uint64_t)plan->height * 8 * DCT_MARGIN)
        eighths /= 2;
    return eighths;
}

void covered_from(uint32_t box, uint32_t length, uint32_t size, uint32_t from, uint32_t count,
                  uint32_t *begin, uint32_t *extent)
{
    double scale = (double)length / size, reach = 8 * (scale < 1 ? 1 : scale) + 16;
    double first = floor(from * scale - reach), end = ceil((from + count) * scale + reach);
    uint32_t low = first < 0 ? 0 : (uint32_t)first, high = end < length ? (uint32_t)end : length;
    *begin = box + low;
    *extent = high - low;
}
