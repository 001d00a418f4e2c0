/* Draws boxes and windows: see crop.h. Only operations that IEEE 754 defines to the bit, so that every machine draws the same. */
#include "crop.h"

#include "exact.h"
#include "random.h"
#include "status.h"

#include <math.h>

#define TRIES 10
#define WORDS 4 /* drawn at a time */

struct crop_draws crop_draws(uint64_t seed, uint64_t epoch, uint64_t id, uint32_t copy)
{
    uint64_t key = random_epoch_key(seed, epoch, RANDOM_CROP).low;
    return (struct crop_draws){.key = key, .id = id, .copy = copy};
}

static void draw_words(struct crop_draws *d, uint32_t words[WORDS])
{
    const uint32_t counter[4] = {(uint32_t)d->id, (uint32_t)(d->id >> 32), d->copy, d->block++};
    philox(d->key, counter, words);
}

static double between(const double bounds[2], uint32_t word)
{
    return bounds[0] + (bounds[1] - bounds[0]) * (word * 0x1p-32);
}

/* One of 0 ... room - 1. */
static uint32_t one_of(uint32_t room, uint32_t word)
{
    return (uint32_t)((uint64_t)word * room >> 32);
}

/* To the nearest whole number, to the even one of two, as Python's round(). */
static double nearest(double x)
{
    return rint(x);
}

/* ------------------------------------------------------------------------------------ random resized crop */

static bool draw_box(const struct crop_rules *rules, const double log_ratio[2], struct crop_draws *draws,
                     struct crop_plan *plan, uint32_t width, uint32_t height)
{
    uint32_t words[WORDS];
    draw_words(draws, words);
    double area = (double)width * height * between(rules->scale, words[0]);
    double ratio = exact_exp(between(log_ratio, words[1]));
    double w = nearest(sqrt(area * ratio)), h = nearest(sqrt(area / ratio));
    if (w < 1 || h < 1 || w > width || h > height)
        return false;
    plan->box.width = (uint32_t)w;
    plan->box.height = (uint32_t)h;
    plan->box.top = one_of(height - plan->box.height + 1, words[2]);
    plan->box.left = one_of(width - plan->box.width + 1, words[3]);
    return true;
}

/* The largest box in the middle whose ratio is allowed. */
static void middle_box(const struct crop_rules *rules, struct crop_plan *plan, uint32_t width,
                       uint32_t height)
{
    double ratio = (double)width / height, w = width, h = height;
    if (ratio < rules->ratio[0])
        h = nearest(width / rules->ratio[0]);
    else if (ratio > rules->ratio[1])
        w = nearest(height * rules->ratio[1]);
    plan->box.width = w < 1 ? 1 : w < width ? (uint32_t)w : width;
    plan->box.height = h < 1 ? 1 : h < height ? (uint32_t)h : height;
    plan->box.left = (width - plan->box.width) / 2;
    plan->box.top = (height - plan->box.height) / 2;
}

static void plan_random_resized(const struct crop_rules *rules, uint32_t width, uint32_t height,
                                struct crop_draws *draws, struct crop_plan *plan)
{
    const double log_ratio[2] = {exact_log(rules->ratio[0]), exact_log(rules->ratio[1])};
    bool found = false;
    for (int k = 0; k < TRIES && !found; k++)
        found = draw_box(rules, log_ratio, draws, plan, width, height);
    if (!found)
        middle_box(rules, plan, width, height);
    plan->width = rules->width;
    plan->height = rules->height;
}

/* ---------------------------------------------------------------------------------------- resize, crop */

static apl_status plan_resize(const struct crop_rules *rules, uint32_t width, uint32_t height,
                              struct crop_plan *plan, apl_error *err)
{
    uint64_t w = rules->resize_width, h = rules->resize_height, side = rules->short_side;
    if (side) {
        w = width <= height ? side : side * width / height;
        h = width <= height ? side * height / width : side;
    }
    if (w > CROP_LONGEST || h > CROP_LONGEST)
        return fail(err, APL_E_INVALID,
                    "an image of %u x %u pixels would become %llu x %llu, more than %d on a side", width,
                    height, (unsigned long long)w, (unsigned long long)h, CROP_LONGEST);
    plan->width = (uint32_t)w;
    plan->height = (uint32_t)h;
    return APL_OK;
}

/* Where a crop in the middle begins. */
static int32_t middle_of(uint32_t size, uint32_t crop)
{
    if (crop > size)
        return -(int32_t)((crop - size) / 2);
    return (int32_t)nearest((size - crop) / 2.0);
}

/* One side of an image, and how much it is padded. */
struct padded {
    uint32_t size, before, after;
};

static struct padded padded_side(const struct crop_rules *rules, uint32_t size, uint32_t crop, int side)
{
    struct padded p = {size, rules->pads[side], rules->pads[side + 2]};
    if (rules->centre)
        return p;
    p.before += rules->pad;
    p.after += rules->pad;
    uint32_t all = size + p.before + p.after, lacks = all < crop && rules->pad_if_needed ? crop - all : 0;
    p.before += lacks;
    p.after += lacks;
    return p;
}

/* Is there as much of it as is to be reflected? */
static bool can_reflect(const struct crop_rules *rules, const struct padded *p)
{
    uint32_t most = p->before > p->after ? p->before : p->after,
             twice = rules->padding.mode == APL_PAD_REFLECT;
    bool reflects = twice || rules->padding.mode == APL_PAD_SYMMETRIC;
    return !reflects || most + twice <= p->size;
}

/* Where a random crop begins; false: it is larger than what there is. */
static bool random_of(const struct padded *p, uint32_t crop, uint32_t word, int32_t *at)
{
    uint32_t all = p->size + p->before + p->after;
    if (all < crop)
        return false;
    *at = (int32_t)one_of(all - crop + 1, word) - (int32_t)p->before;
    return true;
}

static apl_status plan_window(const struct crop_rules *rules, struct crop_draws *draws,
                              struct crop_plan *plan, apl_error *err)
{
    uint32_t words[WORDS];
    struct padded across = padded_side(rules, plan->width, rules->width, 0);
    struct padded down = padded_side(rules, plan->height, rules->height, 1);
    if (!can_reflect(rules, &across) || !can_reflect(rules, &down))
        return fail(err, APL_E_INVALID, "an image of %u x %u pixels is too small to be padded by reflections",
                    plan->width, plan->height);
    if (rules->centre) {
        plan->window.top =
            middle_of(plan->height + down.before + down.after, rules->height) - (int32_t)down.before;
        plan->window.left =
            middle_of(plan->width + across.before + across.after, rules->width) - (int32_t)across.before;
        return APL_OK;
    }
    draw_words(draws, words);
    if (random_of(&down, rules->height, words[2], &plan->window.top) &&
        random_of(&across, rules->width, words[3], &plan->window.left))
        return APL_OK;
    return fail(err, APL_E_INVALID, "an image of %u x %u pixels is smaller than the crop of %u x %u",
                plan->width, plan->height, rules->width, rules->height);
}

apl_status crop_plan(const struct crop_rules *rules, uint32_t width, uint32_t height, struct crop_draws draws,
                     struct crop_plan *plan, apl_error *err)
{
    *plan = (struct crop_plan){
        .box = {0, 0, width, height}, .width = width, .height = height, .padding = rules->padding};
    plan->window.width = rules->width;
    plan->window.height = rules->height;
    if (rules->sizing == CROP_RANDOM_RESIZED) {
        plan_random_resized(rules, width, height, &draws, plan);
        return APL_OK;
    }
    if (rules->sizing == CROP_RESIZE)
        TRY(plan_resize(rules, width, height, plan, err));
    return plan_window(rules, &draws, plan, err);
}
