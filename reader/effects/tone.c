/* Each value of a channel by a table of its own, and sharpness: see tone.h. */
#include "tone.h"

#include "colour_pixel.h"

#define VALUES 256

static void look_up(uint8_t *values, size_t n, const uint8_t table[VALUES])
{
    for (size_t i = 0; i < n; i++)
        values[i] = table[values[i]];
}

void tone_posterize(const struct image *p, unsigned bits)
{
    uint8_t table[VALUES];
    for (unsigned v = 0; v < VALUES; v++)
        table[v] = (uint8_t)(v & (0xff00u >> bits));
    look_up(p->pixels, p->channels * image_plane(p), table);
}

void tone_solarize(const struct image *p, double threshold)
{
    uint8_t table[VALUES];
    for (unsigned v = 0; v < VALUES; v++)
        table[v] = (uint8_t)((float)v >= (float)threshold ? 255 - v : v);
    look_up(p->pixels, p->channels * image_plane(p), table);
}

static void tone_count(const uint8_t *plane, size_t n, uint32_t counts[VALUES])
{
    memset(counts, 0, VALUES * sizeof *counts);
    for (size_t i = 0; i < n; i++)
        counts[plane[i]]++;
}

/* The least and the most value that there are. */
static void find_ends(const uint32_t counts[VALUES], unsigned *least, unsigned *most)
{
    for (*least = 0; *least < VALUES - 1 && counts[*least] == 0;)
        ++*least;
    for (*most = VALUES - 1; *most > 0 && counts[*most] == 0;)
        --*most;
}

void tone_autocontrast(const struct image *p)
{
    size_t n = image_plane(p);
    for (unsigned c = 0; c < p->channels; c++) {
        uint32_t counts[VALUES];
        uint8_t table[VALUES];
        unsigned least, most;
        tone_count(p->pixels + c * n, n, counts);
        find_ends(counts, &least, &most);
        if (least >= most)
            continue;
        float scale = (float)(most - least) * (1.0f / 255.0f);
        for (unsigned v = 0; v < VALUES; v++)
            table[v] = v < least ? 0 : (uint8_t)colour_byte((int32_t)((float)(v - least) / scale));
        look_up(p->pixels + c * n, n, table);
    }
}

void tone_equalize(const struct image *p)
{
    size_t n = image_plane(p);
    for (unsigned c = 0; c < p->channels; c++) {
        uint32_t counts[VALUES], least, most;
        uint64_t before = 0;
        uint8_t table[VALUES];
        tone_count(p->pixels + c * n, n, counts);
        find_ends(counts, &least, &most);
        uint64_t step = (n - counts[most]) / 255;
        if (step == 0)
            continue;
        for (unsigned v = 0; v < VALUES; before += counts[v++]) {
            uint64_t value = (before + step / 2) / step;
            table[v] = (uint8_t)(value < 255 ? value : 255);
        }
        look_up(p->pixels + c * n, n, table);
    }
}

/* The mean of a pixel and its neighbours, which count 5 and 1 each, rounded. */
static int32_t smoothed(const uint8_t *at, size_t width)
{
    const uint8_t *above = at - width, *below = at + width;
    int32_t around = above[-1] + above[0] + above[1] + at[-1] + at[1] + below[-1] + below[0] + below[1];
    return (2 * (around + 5 * at[0]) + 13) / 26;
}

void tone_sharpen(const struct image *p, const uint8_t *from, int32_t factor)
{
    for (unsigned c = 0; c < p->channels; c++)
        for (size_t y = 1; y + 1 < p->height; y++)
            for (size_t x = 1; x + 1 < p->width; x++) {
                size_t at = c * image_plane(p) + y * p->width + x;
                p->pixels[at] = colour_saturated(from[at], smoothed(from + at, p->width), factor);
            }
}
