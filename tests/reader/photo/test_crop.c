/* Crops: torchvision's rules on known sizes, and the distributions of what is drawn. */
#include "crop.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define DRAWS 20000

static const struct crop_rules resized = {.sizing = CROP_RANDOM_RESIZED,
                                          .height = 224,
                                          .width = 160,
                                          .scale = {0.08, 1},
                                          .ratio = {3.0 / 4, 4.0 / 3}};

static struct crop_plan planned(const struct crop_rules *rules, uint32_t width, uint32_t height, uint64_t id)
{
    struct crop_plan plan;
    apl_error err;
    cr_assert_eq(crop_plan(rules, width, height, crop_draws(7, 2, id, 0), &plan, &err), APL_OK, "%s",
                 err.message);
    cr_assert(plan.window.width == rules->width && plan.window.height == rules->height);
    cr_assert(plan.box.width > 0 && plan.box.left + plan.box.width <= width);
    cr_assert(plan.box.height > 0 && plan.box.top + plan.box.height <= height);
    return plan;
}

Test(crop, boxes_are_keyed_by_seed_epoch_record_and_copy)
{
    struct crop_plan a, b;
    for (int i = 0; i < 5; i++) {
        const struct crop_draws d[2] = {crop_draws(1, 2, 3, 4), crop_draws(i == 0 ? 9 : 1, i == 1 ? 9 : 2,
                                                                           i == 2 ? 9 : 3, i == 3 ? 9 : 4)};
        cr_assert_eq(crop_plan(&resized, 500, 375, d[0], &a, NULL), APL_OK);
        cr_assert_eq(crop_plan(&resized, 500, 375, d[1], &b, NULL), APL_OK);
        cr_assert_eq(memcmp(&a, &b, sizeof a) == 0, i == 4);
    }
}

/* The area is uniform and the ratio log-uniform where boxes of any of them fit. */
Test(crop, small_boxes_have_uniform_areas_and_log_uniform_ratios)
{
    struct crop_rules rules = resized;
    unsigned area[10] = {0}, ratio[10] = {0};
    double left = 0, top = 0;
    rules.scale[0] = 0.1;
    rules.scale[1] = 0.5;
    for (uint64_t id = 0; id < DRAWS; id++) {
        struct crop_plan p = planned(&rules, 3000, 3000, id);
        double share = (double)p.box.width * p.box.height / 9e6,
               log_ratio = log((double)p.box.width / p.box.height);
        cr_assert(p.width == 160 && p.height == 224 && p.window.left == 0 && p.window.top == 0);
        area[(int)fmin(9, fmax(0, (share - 0.1) / 0.04))]++;
        ratio[(int)fmin(9, fmax(0, (log_ratio / log(4.0 / 3) + 1) * 5))]++;
        left += p.box.left / (double)(3000 - p.box.width);
        top += p.box.top / (double)(3000 - p.box.height);
    }
    for (int i = 0; i < 10; i++) { /* five standard deviations */
        cr_assert(abs((int)area[i] - DRAWS / 10) < 5 * sqrt(DRAWS * 0.09), "area %d: %u", i, area[i]);
        cr_assert(abs((int)ratio[i] - DRAWS / 10) < 5 * sqrt(DRAWS * 0.09), "ratio %d: %u", i, ratio[i]);
    }
    cr_assert(fabs(left / DRAWS - 0.5) < 5 * sqrt(1 / 12.0 / DRAWS) &&
              fabs(top / DRAWS - 0.5) < 5 * sqrt(1 / 12.0 / DRAWS));
}

Test(crop, an_image_in_which_no_box_fits_gives_its_middle)
{
    struct crop_plan p = planned(&resized, 1000, 10, 1);
    cr_assert(p.box.width == 13 && p.box.height == 10 && p.box.left == 493 && p.box.top == 0);
    p = planned(&resized, 10, 1000, 1);
    cr_assert(p.box.width == 10 && p.box.height == 13 && p.box.left == 0 && p.box.top == 493);
    struct crop_rules larger = resized; /* no box has a hundred times the area */
    larger.scale[0] = larger.scale[1] = 100;
    p = planned(&larger, 40, 41, 1);
    cr_assert(p.box.width == 40 && p.box.height == 41);
    p = planned(&resized, 1, 1, 1);
    cr_assert(p.box.width == 1 && p.box.height == 1);
}

Test(crop, a_short_side_keeps_the_ratio_rounded_down)
{
    const struct crop_rules rules = {
        .sizing = CROP_RESIZE, .short_side = 256, .height = 224, .width = 224, .centre = true};
    struct crop_plan p = planned(&rules, 500, 375, 0);
    cr_assert(p.width == 341 && p.height == 256 && p.box.width == 500 && p.box.height == 375);
    cr_assert(p.window.left == 58 && p.window.top == 16); /* 58.5, to the even */
    p = planned(&rules, 333, 500, 0);
    cr_assert(p.width == 256 && p.height == 384 && p.window.left == 16 && p.window.top == 80);
}

Test(crop, both_sides_may_be_given)
{
    struct crop_rules rules = {.sizing = CROP_RESIZE,
                               .resize_height = 100,
                               .resize_width = 301,
                               .height = 100,
                               .width = 100,
                               .centre = true};
    struct crop_plan p = planned(&rules, 500, 375, 0);
    cr_assert(p.width == 301 && p.height == 100 && p.window.left == 100 && p.window.top == 0); /* 100.5 */
    rules.resize_width = 303;
    p = planned(&rules, 500, 375, 0);
    cr_assert_eq(p.window.left, 102); /* 101.5: to the even one, as Python rounds */
}

/* Reflections do not repeat the edge, symmetric ones do: of as many pixels as the image has only these can be made. */
Test(crop, an_image_is_reflected_if_it_is_large_enough)
{
    for (uint32_t size = 3; size <= 6; size++)
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            struct crop_rules rules = {.height = 4, .width = 4, .pads = {4, 4, 4, 4}};
            struct crop_plan plan;
            apl_error err;
            rules.padding.mode = symmetric ? APL_PAD_SYMMETRIC : APL_PAD_REFLECT;
            cr_assert_eq(crop_plan(&rules, size, 9, crop_draws(1, 1, 1, 0), &plan, &err),
                         size >= (symmetric ? 4u : 5u) ? APL_OK : APL_E_INVALID, "%u pixels", size);
        }
}

Test(crop, a_middle_larger_than_the_image_is_padded)
{
    const struct crop_rules rules = {.height = 10, .width = 11, .centre = true};
    struct crop_plan p = planned(&rules, 4, 5, 0);
    cr_assert(p.width == 4 && p.height == 5 && p.window.left == -3 && p.window.top == -2);
}

Test(crop, random_windows_reach_every_place)
{
    const struct crop_rules rules = {.height = 8, .width = 8, .pad = 2};
    unsigned left[9] = {0}, top[7] = {0};
    for (uint64_t id = 0; id < DRAWS; id++) {
        struct crop_plan p = planned(&rules, 12, 10, id);
        left[p.window.left + 2]++;
        top[p.window.top + 2]++;
    }
    for (int i = 0; i < 9; i++)
        cr_assert(fabs(left[i] - DRAWS / 9.0) < 5 * sqrt(DRAWS / 9.0), "left %d: %u", i, left[i]);
    for (int i = 0; i < 7; i++)
        cr_assert(fabs(top[i] - DRAWS / 7.0) < 5 * sqrt(DRAWS / 7.0), "top %d: %u", i, top[i]);
}

Test(crop, a_random_crop_larger_than_the_image_is_padded_or_an_error)
{
    struct crop_rules rules = {.height = 20, .width = 8, .pad_if_needed = true};
    for (uint64_t id = 0; id < 200; id++) {
        struct crop_plan p =
            planned(&rules, 12, 15, id); /* padded by 5 above and below, as torchvision does */
        cr_assert(p.window.top >= -5 && p.window.top <= 0 && p.window.left >= 0 && p.window.left <= 4);
    }
    struct crop_plan plan;
    apl_error err;
    rules.pad_if_needed = false;
    cr_assert_eq(crop_plan(&rules, 12, 15, crop_draws(1, 1, 1, 0), &plan, &err), APL_E_INVALID);
    cr_assert_str_eq(err.message, "an image of 12 x 15 pixels is smaller than the crop of 8 x 20");
}

Test(crop, what_would_become_too_large_is_an_error)
{
    const struct crop_rules rules = {.sizing = CROP_RESIZE, .short_side = 256, .height = 224, .width = 224};
    struct crop_plan plan;
    apl_error err;
    cr_assert_eq(crop_plan(&rules, 60000, 2, crop_draws(1, 1, 1, 0), &plan, &err), APL_E_INVALID);
    cr_assert_str_eq(err.message,
                     "an image of 60000 x 2 pixels would become 7680000 x 256, more than 32768 on a side");
}
