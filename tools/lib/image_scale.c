/* Changing the size and depth of images: see image_scale.h. */
#include "image_scale.h"

#include <stdlib.h>
#include <string.h>

static unsigned sample_at(const struct image *image, size_t i)
{
    uint16_t wide;
    if (image->depth == 1)
        return image->pixels[i];
    memcpy(&wide, image->pixels + 2 * i, sizeof wide);
    return wide;
}

static unsigned largest(const struct image *image)
{
    size_t samples = image->width * image->height * image->channels;
    unsigned most = 1;
    for (size_t i = 0; i < samples; i++) {
        unsigned v = sample_at(image, i);
        most = v > most ? v : most;
    }
    return most;
}

void image_simplify(struct image *image)
{
    unsigned keep = image->channels < 3 ? 1 : 3, most = image->depth == 2 ? largest(image) : 255;
    size_t pixels = image->width * image->height;
    uint8_t *to = image->pixels; /* never ahead of what is read */
    for (size_t i = 0; i < pixels; i++)
        for (unsigned c = 0; c < keep; c++)
            *to++ = (uint8_t)(sample_at(image, i * image->channels + c) * 255u / most);
    image->channels = keep;
    image->depth = 1;
}

static bool begin(const struct image *from, size_t width, size_t height, struct image *to)
{
    *to = (struct image){.width = width, .height = height, .channels = from->channels, .depth = 1};
    to->pixels = malloc(width * height * from->channels + 1);
    return to->pixels != NULL;
}

/* The mean of channel c over pixels left ... right-1 of rows top ... bottom-1. */
static uint8_t mean(const struct image *from, const size_t x[2], const size_t y[2], unsigned c)
{
    uint64_t sum = 0, n = (uint64_t)(x[1] - x[0]) * (y[1] - y[0]);
    for (size_t row = y[0]; row < y[1]; row++)
        for (size_t column = x[0]; column < x[1]; column++)
            sum += from->pixels[(row * from->width + column) * from->channels + c];
    return (uint8_t)((sum + n / 2) / n);
}

/* Where pixel i of `to` begins and ends among `from`: at least one of them. */
static void covered(size_t i, size_t from, size_t to, size_t range[2])
{
    range[0] = i * from / to;
    range[1] = (i + 1) * from / to;
}

bool image_shrink(const struct image *from, size_t width, size_t height, struct image *to)
{
    size_t x[2], y[2];
    width = from->width < width ? from->width : width;
    height = from->height < height ? from->height : height;
    if (!begin(from, width, height, to))
        return false;
    uint8_t *at = to->pixels;
    for (size_t row = 0; row < height; row++) {
        covered(row, from->height, height, y);
        for (size_t column = 0; column < width; column++) {
            covered(column, from->width, width, x);
            for (unsigned c = 0; c < from->channels; c++)
                *at++ = mean(from, x, y, c);
        }
    }
    return true;
}

bool image_enlarge(const struct image *from, size_t times, struct image *to)
{
    if (!begin(from, from->width * times, from->height * times, to))
        return false;
    size_t n = from->channels, row = to->width * n;
    for (size_t y = 0; y < to->height; y++)
        for (size_t x = 0; x < to->width; x++)
            memcpy(to->pixels + y * row + x * n, from->pixels + (y / times * from->width + x / times) * n, n);
    return true;
}

void image_fit(size_t *width, size_t *height, size_t box_width, size_t box_height)
{
    size_t w = *width, h = *height;
    if (w > box_width) {
        h = h * box_width / w;
        w = box_width;
    }
    if (h > box_height) {
        w = w * box_height / h;
        h = box_height;
    }
    *width = w ? w : 1;
    *height = h ? h : 1;
}
