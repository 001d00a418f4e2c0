/* Images by coloured blocks: an upper half block has the colour of the text above, and that of the background below. */
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>

struct colour {
    uint8_t rgb[3];
};

static struct colour colour_at(const struct image *image, size_t x, size_t y)
{
    size_t pixel = y * image->width + x;
    return (struct colour){
        {draw_sample(image, pixel, 0), draw_sample(image, pixel, 1), draw_sample(image, pixel, 2)}};
}

/* The steps of the colour cube in the palette of 256 are 0, 95, 135, 175, 215, 255. */
static int cube_step(unsigned v)
{
    return v < 48 ? 0 : v < 115 ? 1 : (int)(v - 35) / 40;
}

static int cube_value(int step)
{
    return step ? 55 + 40 * step : 0;
}

static int distance(const struct colour *c, int r, int g, int b)
{
    int d[3] = {c->rgb[0] - r, c->rgb[1] - g, c->rgb[2] - b};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* Its number among 256 colours: of the cube, or of the greys 8, 18, ... 238, whichever is nearer. */
static int palette_number(const struct colour *c)
{
    int r = cube_step(c->rgb[0]), g = cube_step(c->rgb[1]), b = cube_step(c->rgb[2]);
    int mean = (c->rgb[0] + c->rgb[1] + c->rgb[2]) / 3, grey = mean < 8     ? 0
                                                               : mean > 238 ? 23
                                                                            : (mean - 3) / 10;
    int level = 8 + 10 * grey;
    bool is_grey =
        distance(c, level, level, level) < distance(c, cube_value(r), cube_value(g), cube_value(b));
    return is_grey ? 232 + grey : 16 + 36 * r + 6 * g + b;
}

/* `what`: 38 for the text, 48 for its background. */
static void put_colour(int what, const struct colour *c, bool truecolor)
{
    if (truecolor)
        printf("\033[%d;2;%u;%u;%um", what, c->rgb[0], c->rgb[1], c->rgb[2]);
    else
        printf("\033[%d;5;%dm", what, palette_number(c));
}

static void put_cell(const struct image *image, size_t x, size_t y, const struct terminal *t)
{
    struct colour above = colour_at(image, x, y);
    put_colour(t->utf8 ? 38 : 48, &above, t->truecolor);
    if (t->utf8 && y + 1 < image->height) {
        struct colour below = colour_at(image, x, y + 1);
        put_colour(48, &below, t->truecolor);
    }
    fputs(t->utf8 ? "\u2580" : "  ", stdout);
}

int draw_blocks(const struct image *image, const struct terminal *terminal)
{
    for (size_t y = 0; y < image->height; y += terminal->utf8 ? 2 : 1) {
        for (size_t x = 0; x < image->width; x++)
            put_cell(image, x, y, terminal);
        fputs("\033[0m\n", stdout);
    }
    return 0;
}
