/* One pass over the samples of each channel: see turn.h. */
#include "turn.h"

/* Where the samples of an upright image stand in the other: its first, and the way from one to the next, along a row and from row
 * to row. */
struct steps {
    ptrdiff_t first, across, down;
};

/*
 * By EXIF the image's first row and column are: 1 top, left; 2 top, right; 3 bottom, right; 4 bottom, left; 5 left, top; 6 right,
 * top; 7 right, bottom; 8 left, bottom. `height` and `width` are the image's as it is.
 */
static struct steps steps_of(unsigned orientation, ptrdiff_t height, ptrdiff_t width)
{
    ptrdiff_t right = width - 1, bottom = (height - 1) * width;
    switch (orientation) {
    case 2:
        return (struct steps){right, -1, width};
    case 3:
        return (struct steps){bottom + right, -1, -width};
    case 4:
        return (struct steps){bottom, 1, -width};
    case 5:
        return (struct steps){0, width, 1};
    case 6:
        return (struct steps){bottom, -width, 1};
    case 7:
        return (struct steps){bottom + right, -width, -1};
    case 8:
        return (struct steps){right, width, -1};
    default:
        return (struct steps){0, 1, width};
    }
}

static void turn_bytes(const uint8_t *from, struct steps steps, uint32_t height, uint32_t width, uint8_t *to)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            *to++ = from[steps.first + y * steps.down + x * steps.across];
}

static void turn_words(const uint8_t *from, struct steps steps, uint32_t height, uint32_t width, uint8_t *to)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++, to += 2)
            memcpy(to, from + 2 * (steps.first + y * steps.down + x * steps.across), 2);
}

apl_status raster_turn(struct raster *s, unsigned orientation, struct scratch *spare, apl_error *err)
{
    struct steps steps = steps_of(orientation, s->height, s->width);
    bool swaps = orientation >= 5 && orientation <= 8;
    uint32_t height = swaps ? s->width : s->height, width = swaps ? s->height : s->width;
    size_t plane = (size_t)height * width * (s->bits / 8);
    if (orientation < 2 || orientation > 8)
        return APL_OK;
    if (!scratch_reserve(spare, s->channels * plane))
        return fail_nomem(err);
    for (unsigned c = 0; c < s->channels; c++)
        (s->bits == 16 ? turn_words : turn_bytes)(s->data + c * plane, steps, height, width,
                                                  spare->data + c * plane);
    raster_exchange(s, spare, height, width);
    return APL_OK;
}
