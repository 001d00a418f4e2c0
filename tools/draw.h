/* Drawing images of 8 bits, grey or RGB, on stdout, for terminals. The cursor is then on a line of its own below. Each returns 0, or, after
 * saying why, an exit status. */
#ifndef DRAW_H
#define DRAW_H

#include "image.h"
#include "terminal.h"

/* A PNG by kitty's graphics protocol. */
int draw_kitty(const struct image *image);

/* Sixels, of at most 252 colours, dithered. */
int draw_sixel(const struct image *image);

/* A cell for two pixels, one above the other; in a terminal without UTF-8, two cells for each pixel. */
int draw_blocks(const struct image *image, const struct terminal *terminal);

/* The sample of channel c (0 ... 2) of a pixel, grey or not. */
static inline uint8_t draw_sample(const struct image *image, size_t pixel, unsigned c)
{
    return image->pixels[pixel * image->channels + (image->channels == 3 ? c : 0)];
}

#endif
