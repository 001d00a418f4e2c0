/* Images made upright: each orientation of EXIF, on an image whose samples are all different. */
#include "turn.h"

#include <criterion/criterion.h>

TestSuite(turn, .timeout = 60);

/* What 2 x 3 samples, 0 to 5, become. */
static const struct {
    uint32_t height, width;
    uint8_t samples[6];
} turned[9] = {{2, 3, {0, 1, 2, 3, 4, 5}}, {2, 3, {0, 1, 2, 3, 4, 5}}, {2, 3, {2, 1, 0, 5, 4, 3}},
               {2, 3, {5, 4, 3, 2, 1, 0}}, {2, 3, {3, 4, 5, 0, 1, 2}}, {3, 2, {0, 3, 1, 4, 2, 5}},
               {3, 2, {3, 0, 4, 1, 5, 2}}, {3, 2, {5, 2, 4, 1, 3, 0}}, {3, 2, {2, 5, 1, 4, 0, 3}}};

static void turn_samples(unsigned orientation, unsigned bits)
{
    const struct image_info info = {.channels = 2, .height = 2, .width = 3, .bits = bits};
    struct raster s = {.data = NULL};
    struct scratch spare = {NULL, 0};
    apl_error err;
    size_t bytes = bits / 8;
    cr_assert_eq(raster_begin(&s, &info, &err), APL_OK);
    for (uint16_t i = 0; i < 12; i++) {
        uint16_t value = (uint16_t)(bits == 16 ? 1000 * i : i);
        memcpy(s.data + i * bytes, &value, bytes);
    }
    cr_assert_eq(raster_turn(&s, orientation, &spare, &err), APL_OK);
    cr_assert(s.height == turned[orientation].height && s.width == turned[orientation].width);
    for (unsigned i = 0; i < 12; i++) {
        unsigned from = turned[orientation].samples[i % 6] + i / 6 * 6;
        uint16_t is = 0, value = (uint16_t)(bits == 16 ? 1000 * from : from);
        memcpy(&is, s.data + i * bytes, bytes);
        cr_assert_eq(is, value, "orientation %u, sample %u", orientation, i);
    }
    raster_free(&s);
    scratch_free(&spare);
}

Test(turn, each_orientation)
{
    for (unsigned orientation = 0; orientation <= 8; orientation++) {
        turn_samples(orientation, 8);
        turn_samples(orientation, 16);
    }
}
