/* Values that contradict what their fields are said to be are refused, record by record; what is common in good data is counted. */
#include "kind_values.h"

#include "image_sides.h"
#include "store_fixture.h"

#include <math.h>

TestSuite(kind_values, .init = fx_set_up, .fini = fx_tear_down);

static const int64_t three[3] = {3, -1, -1}, boxes[2] = {-1, 4}, any[1] = {-1}, points[3] = {-1, 2, 3},
                     plane[3] = {1, -1, -1};

/* A writer with an image of 6 x 4 pixels, and one more field beside it, of that kind. */
static apl_writer *begin(const char *kind_text, apl_dtype dtype, unsigned ndim, const int64_t *shape)
{
    apl_writer *w;
    apl_kind kind;
    char field[APL_MAX_NAME + 1];
    OK(apl_writer_open(fx_path("db"), &(apl_writer_options){.size = sizeof(apl_writer_options), .replace = 1},
                       &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, three, &fx_err));
    OK(apl_kind_parse("image,chw", NULL, &kind, &fx_err));
    OK(apl_writer_set_kind(w, "image", &kind, &fx_err));
    OK(apl_kind_parse(kind_text, field, &kind, &fx_err));
    OK(apl_writer_add_field(w, field, dtype, APL_TARGET, ndim, shape, &fx_err));
    OK(apl_writer_set_kind(w, field, &kind, &fx_err));
    return w;
}

static apl_status append(apl_writer *w, const void *data, const int64_t *shape)
{
    static const uint8_t pixels[3 * 4 * 6];
    static const int64_t sides[3] = {3, 4, 6};
    return apl_writer_append(w, (const apl_value[]){{pixels, sides}, {data, shape}}, &fx_err);
}

static apl_kind_counts counts_of(const apl_writer *w, const char *field)
{
    apl_kind_counts c;
    cr_assert_eq(apl_writer_counts(w, field, &c), APL_OK);
    return c;
}

static void finish(apl_writer *w, uint64_t records)
{
    apl_progress p;
    apl_writer_progress(w, &p);
    cr_assert_eq(p.records, records);
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

/* A box in that form, and what is wrong with it; NULL: nothing is. */
struct box_case {
    const char *form;
    float box[4];
    const char *why;
};

Test(kind_values, boxes)
{
    static const struct box_case cases[] = {
        {"xyxy", {1, 1, 3, 2}, NULL},
        {"xyxy", {1, 1, 1, 2}, NULL},
        {"xyxy",
         {40, 30, 10, 8},
         "record 0, b: [40, 30, 10, 8] has right < left in form xyxy (if these are x, y, width, height: "
         "--field b=boxes,xywh)"},
        {"xyxy", {1, 3, 2, 1}, "b: [1, 3, 2, 1] has bottom < top in form xyxy (if"},
        {"xyxy", {1, NAN, 2, 1}, "b: [1, nan, 2, 1] is not of numbers alone in form xyxy"},
        {"xyxy", {1, 1, INFINITY, 1}, "is not of numbers alone"},
        {"xywh", {4, 3, 1, 1}, NULL},
        {"xywh", {4, 3, -1, 1}, "[4, 3, -1, 1] has a width below 0 in form xywh"},
        {"cxcywh", {4, 3, 1, -1}, "has a height below 0 in form cxcywh"},
        {"yxyx", {1, 2, 3, 4}, NULL},
        {"yxyx", {3, 2, 1, 4}, "has bottom < top in form yxyx"},
        {"yxyx-rel", {0, 0.5f, 1, 0.25f}, "has right < left in form yxyx-rel"},
        {"cxcywh-rel", {0.5f, 0.5f, 1, 1}, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char kind[64];
        const int64_t one[2] = {1, 4};
        static const float good[4] = {0, 0, 1, 1};
        snprintf(kind, sizeof kind, "b=boxes,%s", cases[i].form);
        apl_writer *w = begin(kind, APL_F32, 2, boxes);
        OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
        if (cases[i].why) {
            FAILS(APL_E_INVALID, append(w, cases[i].box, one));
            SAYS(cases[i].why);
        } else
            OK(append(w, cases[i].box, one));
        OK(append(w, good, one));
        finish(w, cases[i].why ? 1 : 2);
    }
}

Test(kind_values, boxes_that_are_counted)
{
    static const float some[5][4] = {
        {0, 0, 6, 4}, {0, 0, 6.5f, 4}, {1, 1, 1, 3}, {-1, 0, 1, 1}, {7, 5, 7, 5}};
    const int64_t five[2] = {5, 4}, none[2] = {0, 4};
    apl_writer *w = begin("b=boxes", APL_F32, 2, boxes);
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    OK(append(w, some, five));
    OK(append(w, NULL, none));
    apl_kind_counts c = counts_of(w, "b");
    cr_assert(c.elements == 5 && c.outside == 3 && c.no_area == 2);
    cr_assert_eq(counts_of(w, "image").elements, 0);
    cr_assert_eq(apl_writer_counts(w, "other", &c), APL_E_NOTFOUND);
    cr_assert_eq(apl_writer_counts(NULL, "b", &c), APL_E_INVALID);
    finish(w, 2);
}

Test(kind_values, boxes_of_every_type_of_number)
{
    static const struct {
        apl_dtype dtype;
        uint8_t bad[32];
    } cases[] = {
        {APL_U8, {4, 0, 1, 1}},
        {APL_I8, {1, 0, 0xff, 1}},
        {APL_U16, {4, 0, 0, 0, 1, 0, 1, 0}},
        {APL_I32, {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0}},
        {APL_F16, {0, 0x3c, 0, 0, 0, 0x38, 0, 0x3c}}, /* 1, 0, 0.5, 1 */
        {APL_F16, {0, 0x7e, 0, 0, 0, 0x3c, 0, 0x3c}}, /* NaN */
        {APL_BF16, {0x80, 0x3f, 0, 0, 0, 0x3f, 0x80, 0x3f}},
        {APL_F64, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0,    0,
                   0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const int64_t one[2] = {1, 4};
        apl_writer *w = begin("b=boxes", cases[i].dtype, 2, boxes);
        OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
        FAILS(APL_E_INVALID, append(w, cases[i].bad, one));
        OK(append(w, (const uint8_t[32]){0}, one));
        cr_assert_eq(counts_of(w, "b").no_area, 1);
        finish(w, 1);
    }
}

Test(kind_values, as_many_elements_as_what_they_are_of)
{
    static const float b[2][4] = {{0, 0, 1, 1}, {0, 0, 1, 1}};
    static const uint8_t pixels[3 * 4 * 6], labels[3] = {1, 2, 3};
    const int64_t sides[3] = {3, 4, 6}, two[2] = {2, 4}, right[1] = {2}, wrong[1] = {3}, few[1] = {1},
                  minus[1] = {-1};
    apl_kind kind;
    apl_writer *w = begin("b=boxes", APL_F32, 2, boxes);
    OK(apl_writer_add_field(w, "labels", APL_U8, APL_TARGET, 1, any, &fx_err));
    OK(apl_kind_parse("label,per=b", NULL, &kind, &fx_err));
    OK(apl_writer_set_kind(w, "labels", &kind, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    apl_value values[] = {{pixels, sides}, {b, two}, {labels, wrong}};
    FAILS(APL_E_INVALID, apl_writer_append(w, values, &fx_err));
    SAYS("record 0, labels: 3 elements per 'b', which has 2");
    FAILS(APL_E_INVALID, apl_writer_check(w, values, &fx_err));
    cr_assert_str_eq(fx_err.message, "labels: 3 elements per 'b', which has 2");
    values[2].shape = right;
    OK(apl_writer_check(w, values, &fx_err));
    OK(apl_writer_append(w, values, &fx_err));
    values[2].shape = few;
    FAILS(APL_E_INVALID, apl_writer_append(w, values, &fx_err));
    SAYS("labels: 1 element per 'b', which has 2");
    values[2].shape = minus;
    FAILS(APL_E_INVALID, apl_writer_append(w, values, &fx_err));
    apl_writer_close(w);
}

Test(kind_values, masks_as_large_as_their_image)
{
    static const uint8_t mask[24] = {[20] = 255};
    const int64_t right[3] = {1, 4, 6}, wrong[3] = {1, 6, 4};
    apl_writer *w = begin("seg=mask,ignore=255", APL_U8, 3, plane);
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    FAILS(APL_E_INVALID, append(w, mask, wrong));
    SAYS("seg: 4 x 6 pixels, and 'image' has 6 x 4: a mask is as large as its image");
    OK(append(w, mask, right));
    OK(append(w, (const uint8_t[24]){0}, right));
    cr_assert_eq(counts_of(w, "seg").ignored, 1);
    finish(w, 2);
}

Test(kind_values, points_that_are_counted)
{
    static const float two[2][2][3] = {{{1, 1, 2}, {9, 1, 0}}, {{9, 1, 1}, {6, 4, 2}}};
    const int64_t shape[3] = {2, 2, 3};
    apl_writer *w = begin("k=keypoints,xyv", APL_F32, 3, points);
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    OK(append(w, two, shape));
    apl_kind_counts c = counts_of(w, "k");
    cr_assert(c.elements == 4 && c.hidden == 1 && c.outside == 1);
    finish(w, 1);
}

Test(kind_values, sides_of_files)
{
    static const uint8_t jpeg[] = {0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff,
                                   0xc2, 0,    17,   8,    1, 2, 3, 4, 3};
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13,
                                  'I',  'H', 'D', 'R', 0,    1,    0,    2,    0, 0, 3, 4};
    int64_t sides[2];
    cr_assert(image_sides(jpeg, sizeof jpeg, sides) && sides[0] == 0x102 && sides[1] == 0x304);
    cr_assert(image_sides(png, sizeof png, sides) && sides[0] == 0x304 && sides[1] == 0x10002);
    cr_assert(image_sides(jpeg, 18, sides), "what follows does not matter");
    for (size_t n = 0; n < 18; n++)
        cr_assert_not(image_sides(jpeg, n, sides), "%zu", n);
    cr_assert_not(image_sides(png, sizeof png - 1, sides));
    cr_assert_not(image_sides("\xff\xd8\xff\xda\0\1\2\3\4\5\6\7\10", 13, sides));
    cr_assert_not(image_sides("nothing of the kind", 19, sides));
}
