/* From what readers cut out to numbers: places in padded images, in images of any size, boxes, squares; and crops that cannot be. */
#include "crop_values.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct crop_sizes of_32 = {.width = 32, .height = 32};

static apl_transform crop_of(unsigned side)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.crop_height = t.crop_width = side;
    return t;
}

static apl_crop_box whole(uint32_t width, uint32_t height, int32_t left, int32_t top)
{
    return (apl_crop_box){.image_width = width,
                          .image_height = height,
                          .width = width,
                          .height = height,
                          .resized_width = width,
                          .resized_height = height,
                          .crop_left = left,
                          .crop_top = top};
}

/* Is it wrong? */
static bool take(struct crop_values *v, apl_crop_box box, uint32_t *values)
{
    uint64_t before = v->wrong;
    crop_values_take(v, &box, 1, values);
    return v->wrong > before;
}

Test(crop_values, places_in_padded_images)
{
    apl_transform t = crop_of(32);
    struct crop_values v;
    uint32_t values[CROP_QUANTITIES];
    t.pad = 4;
    t.flip = APL_FLIP_RANDOM;
    cr_assert(crop_values_init(&v, &t, &of_32));
    cr_assert_eq(v.law.count, 3);
    cr_assert_eq(v.law.values[0], 9);
    cr_assert_str_eq(v.law.names[1], "across");
    apl_crop_box box = whole(32, 32, -4, 4);
    box.flip = 1;
    cr_assert_not(take(&v, box, values));
    cr_assert(values[0] == 8 && values[1] == 0 && values[2] == 1);
    cr_assert(take(&v, whole(32, 32, -5, 0), values));
    cr_assert(take(&v, whole(32, 32, 0, 5), values));
    box.flip = 2; /* top to bottom, which nobody asked for */
    cr_assert(take(&v, box, values));
    cr_assert_eq(v.seen, 4);
    crop_values_release(&v);
}

Test(crop_values, pads_of_each_side_and_many_places)
{
    apl_transform t = crop_of(100);
    const struct crop_sizes sizes = {.width = 120, .height = 200};
    struct crop_values v;
    uint32_t values[CROP_QUANTITIES];
    const unsigned pads[4] = {1, 2, 3, 4};
    memcpy(t.pads, pads, sizeof pads);
    cr_assert(crop_values_init(&v, &t, &sizes));
    cr_assert_eq(v.law.values[0], 16); /* of 107 places */
    cr_assert_eq(v.law.values[1], 25); /* 120 + 1 + 3 - 100 + 1 */
    cr_assert_not(take(&v, whole(120, 200, -1, -2), values));
    cr_assert(values[0] == 0 && values[1] == 0);
    cr_assert_not(take(&v, whole(120, 200, 23, 104), values));
    cr_assert(values[0] == 15 && values[1] == 24);
    cr_assert(take(&v, whole(120, 200, 24, 104), values));
    cr_assert(take(&v, whole(120, 200, 23, 105), values));
    crop_values_release(&v);
}

Test(crop_values, images_of_any_size_are_padded_if_needed)
{
    uint32_t sides[][2] = {{20, 300}, {64, 64}};
    const struct crop_sizes sizes = {.of = sides, .count = 2};
    apl_transform t = crop_of(32);
    struct crop_values v;
    uint32_t values[CROP_QUANTITIES];
    t.pad_if_needed = 1;
    cr_assert(crop_values_init(&v, &t, &sizes));
    cr_assert(v.law.count == 2 && v.law.values[0] == 16);
    cr_assert_not(take(&v, whole(20, 300, -12, 268), values)); /* 44 wide, 13 places */
    cr_assert_eq(values[0], 15);
    cr_assert_not(take(&v, whole(20, 300, 0, 0), values));
    cr_assert(take(&v, whole(20, 300, 1, 0), values));
    cr_assert(take(&v, whole(64, 64, 33, 0), values));
    crop_values_release(&v);
}

Test(crop_values, in_the_middle_nothing_is_left_to_chance)
{
    apl_transform t = crop_of(24);
    const struct crop_sizes sizes = {.width = 33, .height = 29};
    struct crop_values v;
    uint32_t values[CROP_QUANTITIES];
    t.crop_centre = 1;
    cr_assert(crop_values_init(&v, &t, &sizes));
    cr_assert_eq(v.law.count, 0);
    cr_assert_not(take(&v, whole(33, 29, 4, 2), values)); /* 4.5 and 2.5, to the even pixel */
    cr_assert(take(&v, whole(33, 29, 5, 2), values));
    cr_assert(take(&v, whole(33, 29, 4, 3), values));
    crop_values_release(&v);
}

Test(crop_values, boxes_lie_within_their_images)
{
    apl_transform t = crop_of(16);
    struct crop_values v;
    uint32_t values[CROP_QUANTITIES];
    t.sizing = APL_SIZING_RANDOM;
    t.area[0] = 0.08;
    t.area[1] = 1;
    t.ratio[0] = 3.0 / 4;
    t.ratio[1] = 4.0 / 3;
    cr_assert(crop_values_init(&v, &t, &of_32));
    cr_assert_eq(v.law.count, 4);
    apl_crop_box box = {
        .image_width = 32, .image_height = 32, .left = 22, .top = 0, .width = 10, .height = 9};
    cr_assert_not(take(&v, box, values));
    cr_assert(values[0] == 0 && values[2] == 0 && values[3] == 15, "%u %u %u", values[0], values[2],
              values[3]);
    box.left = 23;
    cr_assert(take(&v, box, values));
    box = (apl_crop_box){.image_width = 32, .image_height = 32, .width = 10};
    cr_assert(take(&v, box, values));
    box = (apl_crop_box){
        .image_width = 31, .image_height = 32, .width = 10, .height = 10}; /* of another image */
    cr_assert(take(&v, box, values));
    crop_values_release(&v);
}

Test(crop_values, squares_have_their_middle_in_the_crop)
{
    apl_transform t = crop_of(32);
    struct crop_values v;
    uint32_t values[CROP_QUANTITIES];
    t.cutout = 9;
    cr_assert(crop_values_init(&v, &t, &of_32));
    cr_assert_eq(v.law.count, 2);
    cr_assert_eq(v.law.values[0], 32);
    apl_crop_box box = whole(32, 32, 0, 0);
    box.cut_top = -4;
    box.cut_left = 27;
    cr_assert_not(take(&v, box, values));
    cr_assert(values[0] == 0 && values[1] == 31);
    box.cut_top = -5;
    cr_assert(take(&v, box, values));
    crop_values_release(&v);
}
