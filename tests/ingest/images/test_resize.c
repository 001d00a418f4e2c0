/* Decoded images, scaled: which size they become, and that 8 and 16 bits become the same. */
#include "resize.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(resize, .timeout = 60);

#define HEIGHT 37u
#define WIDTH  53u

static void becomes(struct image_sizes rules, uint32_t height, uint32_t width, uint32_t to_height,
                    uint32_t to_width)
{
    uint32_t h = height, w = width;
    cr_assert_eq(resize_size(&rules, &h, &w), h != height || w != width);
    cr_assert(h == to_height && w == to_width, "%u x %u became %u x %u", height, width, h, w);
}

Test(resize, sizes)
{
    struct image_sizes shorter = {.shorter = 256}, both = {.height = 10, .width = 20},
                       most = {.longest = 100};
    becomes(shorter, 500, 375, 341, 256);
    becomes(shorter, 375, 500, 256, 341);
    becomes(shorter, 100, 100, 256, 256);
    becomes(shorter, 256, 300, 256, 300);
    becomes(shorter, 1, 4000, 256, 1024000);
    becomes(both, 500, 500, 10, 20);
    becomes(both, 10, 20, 10, 20);
    becomes(most, 100, 100, 100, 100);
    becomes(most, 99, 1, 99, 1);
    becomes(most, 400, 300, 100, 75);
    becomes(most, 4000, 1, 100, 1);
    becomes((struct image_sizes){.shorter = 50, .longest = 60}, 100, 400, 15, 60);
    becomes((struct image_sizes){0}, 3, 5, 3, 5);
}

/* A picture of which each sample is a slow wave; of 16 bits: 257 times as much. */
static void draw(struct raster *s, unsigned channels, unsigned bits)
{
    const struct image_info info = {.channels = channels, .height = HEIGHT, .width = WIDTH, .bits = bits};
    apl_error err;
    cr_assert_eq(raster_begin(s, &info, &err), APL_OK);
    for (uint32_t i = 0; i < channels * HEIGHT * WIDTH; i++) {
        uint32_t x = i % WIDTH, y = i / WIDTH % HEIGHT, c = i / WIDTH / HEIGHT;
        uint16_t value = (uint16_t)(128 + 120 * sin(x * 0.1 * (c + 1)) * cos(y * 0.15));
        uint16_t wide = (uint16_t)(value * 257);
        if (bits == 16)
            memcpy(s->data + 2 * (size_t)i, &wide, 2);
        else
            s->data[i] = (uint8_t)value;
    }
}

static unsigned sample(const struct raster *s, uint32_t i)
{
    uint16_t wide;
    if (s->bits == 8)
        return s->data[i];
    memcpy(&wide, s->data + 2 * (size_t)i, 2);
    return wide;
}

/* Larger, smaller, one pixel, far apart. */
static const uint32_t sizes[][2] = {{37, 53}, {74, 106}, {20, 30}, {9, 100}, {1, 1}, {100, 3}, {2, 500}};

Test(resize, sixteen_bits_become_what_eight_do)
{
    struct resizer z = {0};
    apl_error err;
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct raster narrow = {.data = NULL}, wide = {.data = NULL};
        unsigned channels = 1 + k % 4;
        draw(&narrow, channels, 8);
        draw(&wide, channels, 16);
        cr_assert_eq(raster_resize(&narrow, &z, sizes[k][0], sizes[k][1], &err), APL_OK, "%s", err.message);
        cr_assert_eq(raster_resize(&wide, &z, sizes[k][0], sizes[k][1], &err), APL_OK, "%s", err.message);
        cr_assert(narrow.height == sizes[k][0] && wide.width == sizes[k][1] && wide.bits == 16);
        for (uint32_t i = 0; i < channels * sizes[k][0] * sizes[k][1]; i++)
            cr_assert(fabs(sample(&narrow, i) * 257.0 - sample(&wide, i)) <= 200, "%u: %u, %u", i,
                      sample(&narrow, i), sample(&wide, i));
        raster_free(&narrow);
        raster_free(&wide);
    }
    resizer_free(&z);
}

/* A flat image stays flat to its edges, also white: nothing from beyond them comes in, and nothing overflows. */
Test(resize, flat)
{
    struct resizer z = {0};
    apl_error err;
    for (unsigned bits = 8; bits <= 16; bits += 8) {
        struct raster s = {.data = NULL};
        draw(&s, 3, bits);
        memset(s.data, 0xff, (size_t)3 * HEIGHT * WIDTH * bits / 8);
        cr_assert_eq(raster_resize(&s, &z, 11, 90, &err), APL_OK);
        for (uint32_t i = 0; i < 3 * 11 * 90; i++)
            cr_assert_eq(sample(&s, i), (1u << bits) - 1);
        raster_free(&s);
    }
    resizer_free(&z);
}

Test(resize, too_large)
{
    struct resizer z = {0};
    struct raster s = {.data = NULL};
    apl_error err;
    draw(&s, 1, 8);
    cr_assert_eq(raster_resize(&s, &z, 65536, 65536, &err), APL_E_UNSUPPORTED);
    cr_assert_str_eq(err.message,
                     "resized: 65536 x 65536 pixels are more than the 67108864 that are allowed");
    cr_assert(s.height == HEIGHT && s.width == WIDTH);
    raster_free(&s);
    resizer_free(&z);
}

/* The samples that a reader takes of a mask: floor(i x from / to). */
Test(resize, nearest)
{
    static const uint8_t bytes[2][3] = {{1, 2, 3}, {4, 5, 6}},
                         wide[3][5] = {{1, 1, 2, 2, 3}, {1, 1, 2, 2, 3}, {4, 4, 5, 5, 6}};
    struct scratch spare = {NULL, 0};
    for (unsigned bits = 8; bits <= 16; bits += 8) {
        const struct image_info info = {.channels = 1, .height = 2, .width = 3, .bits = bits};
        struct raster s = {.data = NULL};
        cr_assert_eq(raster_begin(&s, &info, NULL), APL_OK);
        for (size_t i = 0; i < 6; i++) {
            const uint16_t value = (uint16_t)(bytes[i / 3][i % 3] * (bits == 16 ? 257 : 1));
            memcpy(s.data + i * (bits / 8), &value, bits / 8);
        }
        cr_assert_eq(raster_resize_nearest(&s, &spare, 3, 5, NULL), APL_OK);
        cr_assert(s.height == 3 && s.width == 5 && s.bits == bits);
        for (size_t i = 0; i < 15 * (bits / 8); i++)
            cr_assert_eq(s.data[i], wide[i / (bits / 8) / 5][i / (bits / 8) % 5], "%zu", i);
        cr_assert_eq(raster_resize_nearest(&s, &spare, 1, 1, NULL), APL_OK);
        cr_assert_eq(s.data[0], 1);
        cr_assert_eq(raster_resize_nearest(&s, &spare, 1, 70000, NULL), APL_E_UNSUPPORTED);
        raster_free(&s);
    }
    scratch_free(&spare);
}
