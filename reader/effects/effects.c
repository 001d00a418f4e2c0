/* One effect after another: see effects.h. */
#include "effects.h"

#include "affine_take.h"
#include "blur.h"
#include "jitter.h"
#include "motion.h"
#include "policy.h"
#include "status.h"
#include "warps.h"

bool effects_any(const apl_transform *t)
{
    return motion_any(t) || warps_any(t) || t->policy != APL_POLICY_NONE || jitter_any(t) || t->grey_p > 0 ||
           t->blur_size[0] > 0;
}

static void make_grey(struct effects *e, const apl_transform *t, const struct effect_draws *draws,
                      struct image *p)
{
    uint32_t words[4];
    size_t n = image_plane(p);
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

static apl_status make_blurred(struct effects *e, const apl_transform *t, const struct effect_draws *draws,
                               const struct image *p, apl_error *err)
{
    uint32_t words[4];
    if (t->blur_size[0] == 0)
        return APL_OK;
    effect_words(draws, DRAW_BLUR, words);
    if (!effect_happens(words[0], t->blur_p))
        return APL_OK;
    return blur_apply(&e->rows, p, t->blur_size[0], t->blur_size[1], effect_between(t->blur_sigma, words[1]),
                      err);
}

/* A copy of the pixels, to be read while they are changed. NULL: out of memory. */
static uint8_t *copy_room(struct effects *e, const struct image *p)
{
    return scratch_reserve(&e->copy, p->channels * image_plane(p) + AFFINE_BEYOND);
}

static apl_status make_moved(struct effects *e, const apl_transform *t, const struct effect_draws *draws,
                             const struct image *p, apl_error *err)
{
    struct affine_map map;
    if (!motion_draw(t, draws, p->height, p->width, &map))
        return APL_OK;
    uint8_t *copy = copy_room(e, p);
    if (!copy)
        return fail_nomem(err);
    motion_apply(&map, t->affine_fill, t->affine_interpolation == APL_BILINEAR, !t->affine_unblended, p,
                 copy);
    return APL_OK;
}

static apl_status make_warped(struct effects *e, const apl_transform *t, const struct effect_draws *draws,
                              const struct image *p, apl_error *err)
{
    struct warps warps;
    if (!warps_any(t))
        return APL_OK;
    TRY(warps_draw(&e->field, t, draws, p->height, p->width, &warps, err));
    uint8_t *copy = copy_room(e, p);
    if (!copy)
        return fail_nomem(err);
    for (unsigned i = 0; i < warps.count; i++)
        warps_apply(&warps, i, t, p, copy);
    return APL_OK;
}

static apl_status follow_policy(struct effects *e, const apl_transform *t, const struct effect_draws *draws,
                                const struct image *p, uint8_t *spare, apl_error *err)
{
    unsigned count = t->policy == APL_POLICY_NONE ? 0 : t->policy == APL_POLICY_RAND ? t->policy_ops : 1;
    uint8_t *copy = count ? copy_room(e, p) : NULL;
    if (count && !copy)
        return fail_nomem(err);
    for (unsigned i = 0; i < count; i++)
        policy_operate(e->colour, t, policy_draw(t, draws, i, p->height, p->width), p, copy, spare);
    return APL_OK;
}

apl_status effects_apply(struct effects *e, const apl_transform *t, const struct effect_draws *draws,
                         struct image *p, apl_error *err)
{
    if (!e->colour)
        e->colour = colour_for(cpu_variant());
    uint8_t *spare = scratch_reserve(&e->plane, image_plane(p));
    if (!spare)
        return fail_nomem(err);
    TRY(make_moved(e, t, draws, p, err));
    TRY(make_warped(e, t, draws, p, err));
    TRY(follow_policy(e, t, draws, p, spare, err));
    jitter_apply(e->colour, t, draws, p, spare);
    make_grey(e, t, draws, p);
    return make_blurred(e, t, draws, p, err);
}

void effects_free(struct effects *e)
{
    scratch_free(&e->plane);
    scratch_free(&e->rows);
    scratch_free(&e->copy);
    scratch_free(&e->field);
}
