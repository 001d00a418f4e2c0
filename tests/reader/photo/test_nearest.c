/* Windows of masks that go beyond the image: what is seen there, in each mode. */
#include "geometry.h"
#include "nearest.h"

#include <criterion/criterion.h>

TestSuite(nearest);

#define WIDTH  5
#define HEIGHT 4
#define FILL   200

static int reflected(int at, int size)
{
    at = abs(at);
    return at < size ? at : 2 * (size - 1) - at;
}

/* As numpy.pad() calls it: the edge comes twice. */
static int symmetric(int at, int size)
{
    return at < 0 ? -1 - at : at < size ? at : 2 * size - 1 - at;
}

static int edge(int at, int size)
{
    return at < 0 ? 0 : at < size ? at : size - 1;
}

static uint8_t expected(const uint8_t *image, apl_pad mode, int x, int y)
{
    if (mode == APL_PAD_ZERO)
        return x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT ? FILL : image[y * WIDTH + x];
    int (*place)(int, int) = mode == APL_PAD_EDGE ? edge : mode == APL_PAD_REFLECT ? reflected : symmetric;
    return image[place(y, HEIGHT) * WIDTH + place(x, WIDTH)];
}

Test(nearest, pads_as_it_should)
{
    static const apl_pad modes[] = {APL_PAD_ZERO, APL_PAD_EDGE, APL_PAD_REFLECT, APL_PAD_SYMMETRIC};
    static const uint8_t fill = FILL;
    uint8_t image[WIDTH * HEIGHT], out[11 * 10];
    for (uint8_t i = 0; i < sizeof image; i++)
        image[i] = i;
    for (size_t m = 0; m < 4; m++)
        for (unsigned flip = 0; flip < 4; flip++) {
            struct scratch scratch = {0};
            struct geometry g = geometry_window(WIDTH, HEIGHT, -3, -3, 11, 10);
            const struct nearest_planes planes = {.count = 1, .element = 1, .fill = &fill};
            g.plan.padding.mode = modes[m];
            g.flip = flip & 1;
            g.vertical_flip = flip & 2;
            cr_assert(nearest_take(&scratch, &g, &planes, image, out));
            for (int y = 0; y < 10; y++)
                for (int x = 0; x < 11; x++)
                    cr_assert_eq(out[(flip & 2 ? 9 - y : y) * 11 + (flip & 1 ? 10 - x : x)],
                                 expected(image, modes[m], x - 3, y - 3), "mode %zu: %d, %d", m, x, y);
            scratch_free(&scratch);
        }
}
