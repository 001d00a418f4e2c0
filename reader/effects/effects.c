/* One effect after another: see effects.h. */
#include "effects.h"

#include "jitter.h"
#include "status.h"

bool effects_any(const apl_transform *t)
{
    return jitter_any(t) || t->grey_p > 0;
}

static void make_grey(struct effects *e, const apl_transform *t, const struct effect_draws *draws,
                      struct picture *p)
{
    uint32_t words[4];
    size_t n = picture_plane(p);
    if (t->grey_p <= 0 || p->channels != 3)
        return;
    effect_words(draws, DRAW_GREY, words);
    if (!effect_happens(words[0], t->grey_p))
        return;
    const uint8_t *const rgb[3] = {p->pixels, p->pixels + n, p->pixels + 2 * n};
    e->colour->grey(rgb, n, p->pixels);
    if (t->grey_plane) {
        p->channels = 1;
        return;
    }
    memcpy(p->pixels + n, p->pixels, n);
    memcpy(p->pixels + 2 * n, p->pixels, n);
}

apl_status effects_apply(struct effects *e, const apl_transform *t, const struct effect_draws *draws,
                         struct picture *p, apl_error *err)
{
    if (!e->colour)
        e->colour = colour_for(cpu_variant());
    uint8_t *spare = scratch_reserve(&e->plane, picture_plane(p));
    if (!spare)
        return fail_nomem(err);
    jitter_apply(e->colour, t, draws, p, spare);
    make_grey(e, t, draws, p);
    return APL_OK;
}

void effects_free(struct effects *e)
{
    scratch_free(&e->plane);
}
