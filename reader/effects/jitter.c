/* Colours changed at random: see jitter.h. */
#include "jitter.h"

#include <math.h>

#define PARTS  4
#define ORDERS 24 /* of them */

static bool is_given(const double bounds[2])
{
    return bounds[0] != 0 || bounds[1] != 0;
}

bool jitter_any(const apl_transform *t)
{
    return is_given(t->brightness) || is_given(t->contrast) || is_given(t->saturation) || is_given(t->hue);
}

int32_t jitter_factor(double factor)
{
    return (int32_t)rint(factor * COLOUR_UNIT);
}

void jitter_brightness(const struct colour *k, const struct image *p, int32_t factor)
{
    k->line(p->pixels, p->channels * image_plane(p), factor, 0);
}

/* Blends with the mean of the image's grey: the same for all pixels. */
void jitter_contrast(const struct colour *k, const struct image *p, int32_t factor, uint8_t *spare)
{
    size_t n = image_plane(p);
    const uint8_t *grey = p->pixels;
    if (p->channels == 3) {
        const uint8_t *const rgb[3] = {p->pixels, p->pixels + n, p->pixels + 2 * n};
        k->grey(rgb, n, spare);
        grey = spare;
    }
    double mean = (double)k->sum(grey, n) / (double)n;
    k->line(p->pixels, p->channels * n, factor, (int32_t)rint(mean * (COLOUR_UNIT - factor)));
}

void jitter_saturation(const struct colour *k, const struct image *p, int32_t factor)
{
    size_t n = image_plane(p);
    uint8_t *const rgb[3] = {p->pixels, p->pixels + n, p->pixels + 2 * n};
    if (p->channels == 3)
        k->saturate(rgb, n, factor);
}

void jitter_hue(const struct colour *k, const struct image *p, double turn)
{
    size_t n = image_plane(p);
    uint8_t *const rgb[3] = {p->pixels, p->pixels + n, p->pixels + 2 * n};
    int32_t by = (int32_t)rint(turn * 6 * HUE_SEXTANT);
    if (p->channels == 3)
        k->turn(rgb, n, by < 0 ? by + 6 * HUE_SEXTANT : by);
}

/* The numbers 0 ... PARTS - 1 in one of their ORDERS orders. */
static void find_order(uint32_t which, unsigned order[PARTS])
{
    unsigned left[PARTS] = {0, 1, 2, 3};
    for (unsigned i = 0; i < PARTS; i++) {
        unsigned k = which % (PARTS - i);
        which /= PARTS - i;
        order[i] = left[k];
        left[k] = left[PARTS - 1 - i];
    }
}

static void apply_part(const struct colour *k, const struct image *p, unsigned part, double drawn,
                       uint8_t *spare)
{
    if (part == 0)
        jitter_brightness(k, p, jitter_factor(drawn));
    else if (part == 1)
        jitter_contrast(k, p, jitter_factor(drawn), spare);
    else if (part == 2)
        jitter_saturation(k, p, jitter_factor(drawn));
    else
        jitter_hue(k, p, drawn);
}

void jitter_apply(const struct colour *k, const apl_transform *t, const struct effect_draws *draws,
                  const struct image *p, uint8_t *spare)
{
    const double *const bounds[PARTS] = {t->brightness, t->contrast, t->saturation, t->hue};
    uint32_t words[4], factors[4];
    unsigned order[PARTS];
    effect_words(draws, DRAW_JITTER, words);
    if (!jitter_any(t) || !effect_happens(words[0], t->jitter_p))
        return;
    effect_words(draws, DRAW_FACTORS, factors);
    find_order(effect_one_of(ORDERS, words[1]), order);
    for (unsigned i = 0; i < PARTS; i++)
        if (is_given(bounds[order[i]]))
            apply_part(k, p, order[i], effect_between(bounds[order[i]], factors[order[i]]), spare);
}
