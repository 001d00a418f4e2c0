/* Pixels that each wait for the one before; for whoever has defined a vector and its operations (filter_kernel.h). */
#ifndef FILTER_CHAIN_H
#define FILTER_CHAIN_H

/* Where chains of pixels stand, one in each byte. */
struct chain {
    vec west, northwest;
};

/* The next pixel of a chain. What hangs on west is kept short: four operations from pixel to pixel. */
static inline vec advance(struct chain *c, vec north, vec residual)
{
    vec low = vec_min(c->west, north), high = vec_max(c->west, north);
    vec ahead = vec_add(vec_add(residual, north), c->west);
    vec pixel = vec_sub(ahead, vec_min(vec_max(c->northwest, low), high));
    c->west = pixel;
    c->northwest = north;
    return pixel;
}

#endif
