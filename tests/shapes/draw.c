/* Draws shapes by their signed distances, in sixteenths of a pixel. */
#include "draw.h"

#include <stdlib.h>

const char *const shape_names[SHAPES] = {"circle",   "square",   "triangle",     "cross",    "ring",
                                         "hstripes", "vstripes", "checkerboard", "dstripes", "dots"};
const char *const hue_names[HUES] = {"red",  "orange", "yellow", "lime", "green",
                                     "teal", "blue",   "purple", "pink", "grey"};

static const uint8_t hues[HUES][3] = {{200, 40, 40},   {220, 130, 40}, {215, 205, 60}, {140, 210, 60},
                                      {40, 140, 60},   {40, 150, 150}, {50, 80, 200},  {130, 60, 180},
                                      {220, 120, 170}, {130, 130, 130}};

/* sin(2 pi i / 64) * 4096 for the first quarter turn. */
static const int quarter[17] = {0,    401,  799,  1189, 1567, 1931, 2276, 2598, 2896,
                                3166, 3406, 3612, 3784, 3920, 4017, 4076, 4096};

uint64_t draw_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

unsigned draw_below(uint64_t *state, unsigned n)
{
    return (unsigned)((draw_random(state) >> 32) * n >> 32);
}

static int between(uint64_t *state, int low, int high)
{
    return low + (int)draw_below(state, (unsigned)(high - low + 1));
}

static int sine(int turn)
{
    turn &= 63;
    int half = turn & 31;
    int value = quarter[half <= 16 ? half : 32 - half];
    return turn < 32 ? value : -value;
}

/* Where and how the shape stands; lengths in sixteenths of a pixel. */
struct pose {
    unsigned shape;
    int x, y, radius;
    int sin, cos; /* times 4096 */
    int period, phase;
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* About how far (u, v) lies outside a circle: exact on its edge, which is all that is seen. */
static int circle(int u, int v, int radius)
{
    return (u * u + v * v - radius * radius) / (2 * radius);
}

/* How far a point is outside the nearest of parallel stripes. */
static int stripes(int u, const struct pose *p)
{
    int t = (u + p->phase + 64 * p->period) % p->period;
    return abs(t - p->period / 2) - p->period / 4;
}

static int fold(int u, const struct pose *p)
{
    return (u + p->phase + 64 * p->period) % p->period - p->period / 2;
}

/* How much of a pixel this far outside is covered: 0 ... 16. */
static int cover(int distance)
{
    return distance <= -8 ? 16 : distance >= 8 ? 0 : 8 - distance;
}

static int covered(const struct pose *p, int u, int v)
{
    int a = abs(u), b = abs(v), r = p->radius;
    switch (p->shape) {
    case 0:
        return cover(circle(u, v, r));
    case 1:
        return cover(larger(a, b) - r * 7 / 8);
    case 2:
        return cover(larger(v, (a * 1773 / 1024 - v) / 2) - r / 2);
    case 3:
        return cover(larger((a < b ? a : b) - r / 3, larger(a, b) - r));
    case 4:
        return cover(larger(circle(u, v, r), -circle(u, v, r * 9 / 16)));
    case 7: {
        int across = cover(stripes(u, p)), down = cover(stripes(v, p));
        return (across * (16 - down) + down * (16 - across)) / 16;
    }
    case 9:
        return cover(circle(fold(u, p), fold(v, p), p->period * 3 / 10));
    default: /* stripes, turned by their pose */
        return cover(stripes(v, p));
    }
}

static struct pose pose_of(uint64_t *random, unsigned shape)
{
    struct pose p = {.shape = shape};
    int turn = between(random, -3, 3); /* of 64 */
    if (shape == 6)
        turn += 16;
    if (shape == 8)
        turn += draw_below(random, 2) ? 8 : -8;
    p.x = between(random, 12 * 16, 20 * 16);
    p.y = between(random, 12 * 16, 20 * 16);
    p.radius = between(random, 7 * 16, 13 * 16);
    p.sin = sine(turn);
    p.cos = sine(turn + 16);
    p.period = between(random, 5 * 16, 10 * 16);
    p.phase = between(random, 0, p.period - 1);
    return p;
}

static int luma(const int colour[3])
{
    return (2 * colour[0] + 5 * colour[1] + colour[2]) / 8;
}

static void pick_colour(uint64_t *random, int hue, int colour[3])
{
    int h = hue < 0 ? (int)draw_below(random, HUES) : hue, light = between(random, -45, 35);
    for (int c = 0; c < 3; c++)
        colour[c] = hues[h][c] + light + between(random, -12, 12);
}

/* The light on a picture: a slope, and blotches between the corners of a grid of 8 x 8 pixels. */
struct light {
    int right, down;
    int blotch[5][5];
};

static struct light light_of(uint64_t *random)
{
    struct light l = {.right = between(random, -20, 20), .down = between(random, -20, 20)};
    int strength = between(random, 4, 28);
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++)
            l.blotch[y][x] = between(random, -strength, strength);
    return l;
}

static int light_at(const struct light *l, int x, int y)
{
    const int *top = &l->blotch[y / 8][x / 8], *bottom = &l->blotch[y / 8 + 1][x / 8];
    int across = x % 8, down = y % 8;
    int blotch = (top[0] * (8 - across) + top[1] * across) * (8 - down) +
                 (bottom[0] * (8 - across) + bottom[1] * across) * down;
    return (l->right * (x - 16) + l->down * (y - 16)) / 16 + blotch / 64;
}

static uint8_t clamp(int v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* Adds light and noise; most of the noise is the same in the three colours, as a camera's is. */
static void put_pixel(uint64_t *random, int grain, const int mixed[3], int light, uint8_t *pixel)
{
    uint64_t r = draw_random(random);
    int shared = (int)(r & 255) + (int)(r >> 8 & 255) - 255;
    for (int c = 0; c < 3; c++) {
        int own = (int)(r >> (16 + 8 * c) & 255) - 127;
        pixel[c * SIDE * SIDE] = clamp(mixed[c] + light + (shared * grain + own * grain / 4) / 128);
    }
}

void draw_picture(uint64_t seed, uint64_t number, unsigned shape, int hue, uint8_t pixels[PICTURE_BYTES])
{
    uint64_t random = seed * 0xd1342543de82ef95u + number;
    random = draw_random(&random);
    struct pose p = pose_of(&random, shape);
    struct light light = light_of(&random);
    int figure[3], ground[3], mixed[3], grain = between(&random, 1, 7);
    pick_colour(&random, hue, figure);
    do
        pick_colour(&random, -1, ground);
    while (abs(luma(figure) - luma(ground)) < 40);
    for (int i = 0; i < SIDE * SIDE; i++) {
        int x = i % SIDE, y = i / SIDE, dx = 16 * x + 8 - p.x, dy = 16 * y + 8 - p.y;
        int in = covered(&p, (dx * p.cos + dy * p.sin) / 4096, (dy * p.cos - dx * p.sin) / 4096);
        for (int c = 0; c < 3; c++)
            mixed[c] = (figure[c] * in + ground[c] * (16 - in)) / 16;
        put_pixel(&random, grain, mixed, light_at(&light, x, y), &pixels[i]);
    }
}
