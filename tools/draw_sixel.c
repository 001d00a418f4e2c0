/*
 * Images by sixels: strips of six rows; in each, a line for each colour, whose characters tell which of the six pixels of a column have
 * it. Colours are those of a cube of 6 x 7 x 6, as the eye sees green best, and errors go on to neighbours (Floyd and Steinberg).
 */
#include "args.h"
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRIP   6u
#define COLOURS 252u

static const int levels[3] = {6, 7, 6};

/* ----------------------------------------------------------------------------------------------- colours */

/* What rows still owe each sample: of this row and the next, with room for a pixel before and behind. */
struct errors {
    int *here, *below;
};

static void pass_on(struct errors *e, size_t at, int error)
{
    e->here[at + 3] += error * 7;
    e->below[at - 3] += error * 3;
    e->below[at] += error * 5;
    e->below[at + 3] += error;
}

static int nearest_level(unsigned c, int wanted)
{
    int v = wanted < 0 ? 0 : wanted > 255 ? 255 : wanted;
    return (v * (levels[c] - 1) + 127) / 255;
}

static uint8_t choose(const struct image *image, size_t pixel, size_t x, struct errors *e)
{
    int number = 0;
    for (unsigned c = 0; c < 3; c++) {
        size_t at = 3 * (x + 1) + c;
        int wanted = draw_sample(image, pixel, c) + e->here[at] / 16, level = nearest_level(c, wanted);
        pass_on(e, at, wanted - level * 255 / (levels[c] - 1));
        number = number * levels[c] + level;
    }
    return (uint8_t)number;
}

static bool quantise(const struct image *image, uint8_t *numbers)
{
    size_t row = 3 * (image->width + 2);
    int *room = calloc(2 * row, sizeof *room);
    struct errors e = {room, room ? room + row : NULL};
    for (size_t y = 0; room && y < image->height; y++) {
        for (size_t x = 0; x < image->width; x++)
            numbers[y * image->width + x] = choose(image, y * image->width + x, x, &e);
        e = (struct errors){e.below, e.here};
        memset(e.below, 0, row * sizeof *e.below);
    }
    free(room);
    return room != NULL;
}

static void put_palette(void)
{
    for (int i = 0; i < (int)COLOURS; i++)
        printf("#%d;2;%d;%d;%d", i, i / (levels[1] * levels[2]) * 100 / (levels[0] - 1),
               i / levels[2] % levels[1] * 100 / (levels[1] - 1), i % levels[2] * 100 / (levels[2] - 1));
}

/* ------------------------------------------------------------------------------------------------ strips */

struct strip {
    const uint8_t *numbers;
    size_t width, height; /* at most STRIP rows */
};

static int sixel_at(const struct strip *s, size_t x, uint8_t colour)
{
    int bits = 0;
    for (size_t y = 0; y < s->height; y++)
        bits |= (s->numbers[y * s->width + x] == colour) << y;
    return '?' + bits;
}

/* Runs of four and more are shorter with their length before them. */
static void put_run(int sixel, size_t length)
{
    if (length > 3)
        printf("!%zu%c", length, sixel);
    for (size_t i = 0; length <= 3 && i < length; i++)
        putchar(sixel);
}

static void put_colour_line(const struct strip *s, uint8_t colour)
{
    size_t from = 0;
    printf("#%d", colour);
    for (size_t x = 1; x <= s->width; x++)
        if (x == s->width || sixel_at(s, x, colour) != sixel_at(s, from, colour)) {
            put_run(sixel_at(s, from, colour), x - from);
            from = x;
        }
    putchar('$');
}

static void put_strip(const struct strip *s)
{
    bool used[COLOURS] = {false};
    for (size_t i = 0; i < s->width * s->height; i++)
        used[s->numbers[i]] = true;
    for (unsigned colour = 0; colour < COLOURS; colour++)
        if (used[colour])
            put_colour_line(s, (uint8_t)colour);
    putchar('-');
}

int draw_sixel(const struct image *image)
{
    uint8_t *numbers = malloc(image->width * image->height + 1);
    if (!numbers || !quantise(image, numbers)) {
        free(numbers);
        return failed("out of memory");
    }
    printf("\033P0;1q\"1;1;%zu;%zu", image->width, image->height);
    put_palette();
    for (size_t y = 0; y < image->height; y += STRIP) {
        size_t left = image->height - y;
        struct strip strip = {numbers + y * image->width, image->width, left < STRIP ? left : STRIP};
        put_strip(&strip);
    }
    fputs("\033\\\n", stdout);
    free(numbers);
    return 0;
}
