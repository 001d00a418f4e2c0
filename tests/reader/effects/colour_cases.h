/* The kernels of colours on drawn pixels: what one variant makes of them, as a digest; in plain C, so that it runs where there is no
 * test framework. */
#ifndef COLOUR_CASES_H
#define COLOUR_CASES_H

#include "colour.h"
#include "samples.h"

#include <stdlib.h>
#include <string.h>

#define COLOUR_CASES  300
#define COLOUR_PIXELS 400

/* Of all that colours_digest() makes, by whatever machine. */
#define COLOURS_DIGEST 0x372c6ec8f069c69u

static inline uint32_t colour_below(uint32_t *state, uint32_t bound)
{
    return (sample_random(state) >> 4) % bound;
}

/* Three planes, each in memory of its own that ends where they end. */
struct colour_case {
    uint8_t *plane[3];
    size_t n;
    int32_t factor, shift, turn;
};

static inline void colour_case_draw(struct colour_case *c, uint32_t seed)
{
    uint32_t state = seed * 2654435761u + 1, kind = colour_below(&state, 4);
    c->n = colour_below(&state, COLOUR_PIXELS);
    c->factor = (int32_t)colour_below(&state, colour_below(&state, 4) ? 3 * COLOUR_UNIT : 100 * COLOUR_UNIT);
    c->shift = (COLOUR_UNIT - c->factor) * (int32_t)colour_below(&state, 256);
    c->turn = (int32_t)colour_below(&state, 6 * HUE_SEXTANT);
    for (int i = 0; i < 3; i++) {
        c->plane[i] = malloc(c->n + 1);
        if (!c->plane[i])
            abort();
        for (size_t k = 0; k < c->n; k++)
            c->plane[i][k] = (uint8_t)(kind == 0   ? colour_below(&state, 256)
                                       : kind == 1 ? colour_below(&state, 2) * 255
                                       : kind == 2 ? k
                                                   : 100 + colour_below(&state, 4));
        c->plane[i][c->n] = 77;
    }
}

static inline uint64_t colour_case_hash(struct colour_case *c, uint64_t hash)
{
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k <= c->n; k++)
            hash = (hash ^ c->plane[i][k]) * 0x100000001b3u;
    return hash;
}

static inline void colour_case_run(struct colour_case *c, const struct colour *k, unsigned which)
{
    if (which == 0)
        k->line(c->plane[1], c->n, c->factor, c->shift);
    else if (which == 1)
        k->grey((const uint8_t *const *)c->plane, c->n, c->plane[c->n % 3]);
    else if (which == 2)
        k->saturate(c->plane, c->n, c->factor);
    else if (which == 3)
        k->turn(c->plane, c->n, c->turn);
    else
        c->plane[0][c->n] = (uint8_t)k->sum(c->plane[0], c->n);
}

static inline uint64_t colours_digest(const struct colour *k)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < COLOUR_CASES; i++)
        for (unsigned which = 0; which < 5; which++) {
            struct colour_case c;
            colour_case_draw(&c, i);
            colour_case_run(&c, k, which);
            hash = colour_case_hash(&c, hash);
            for (int p = 0; p < 3; p++)
                free(c.plane[p]);
        }
    return hash;
}

#endif
