/* Boxes that follow their image: see boxes_moved.h. */
#include "boxes_moved.h"

#include <string.h>

/* Where a point is once the image has been turned, from that orientation to an upright one: see images/turn.c. */
static void turn_point(unsigned orientation, double width, double height, double *x, double *y)
{
    double right = width - *x, bottom = height - *y, left = *x, top = *y;
    const double turned[9][2] = {{left, top},     {left, top},     {right, top},
                                 {right, bottom}, {left, bottom},  {top, left},
                                 {bottom, left},  {bottom, right}, {top, right}};
    *x = turned[orientation <= 8 ? orientation : 0][0];
    *y = turned[orientation <= 8 ? orientation : 0][1];
}

static bool is_in_parts(apl_form form)
{
    return form >= APL_FORM_XYXY_REL && form <= APL_FORM_YXYX_REL;
}

static apl_form base_of(apl_form form)
{
    return is_in_parts(form) ? form - APL_FORM_XYXY_REL + APL_FORM_XYXY : form;
}

/* Left, top, right, bottom. */
static void to_corners(apl_form form, const double b[4], double c[4])
{
    switch (base_of(form)) {
    case APL_FORM_XYWH:
        memcpy(c, (const double[4]){b[0], b[1], b[0] + b[2], b[1] + b[3]}, 4 * sizeof *c);
        break;
    case APL_FORM_CXCYWH:
        memcpy(c, (const double[4]){b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2},
               4 * sizeof *c);
        break;
    case APL_FORM_YXYX:
        memcpy(c, (const double[4]){b[1], b[0], b[3], b[2]}, 4 * sizeof *c);
        break;
    default:
        memcpy(c, b, 4 * sizeof *c);
    }
}

static void from_corners(apl_form form, const double c[4], double b[4])
{
    double width = c[2] - c[0], height = c[3] - c[1];
    switch (base_of(form)) {
    case APL_FORM_XYWH:
        memcpy(b, (const double[4]){c[0], c[1], width, height}, 4 * sizeof *b);
        break;
    case APL_FORM_CXCYWH:
        memcpy(b, (const double[4]){c[0] + width / 2, c[1] + height / 2, width, height}, 4 * sizeof *b);
        break;
    case APL_FORM_YXYX:
        memcpy(b, (const double[4]){c[1], c[0], c[3], c[2]}, 4 * sizeof *b);
        break;
    default:
        memcpy(b, c, 4 * sizeof *b);
    }
}

static void move_box(const struct made_image *image, apl_form form, double b[4])
{
    double c[4], width = image->width, height = image->height;
    bool swaps = image->turned >= 5 && image->turned <= 8, relative = is_in_parts(form);
    double across = relative ? 1 : image->shape[2] / (swaps ? height : width);
    double down = relative ? 1 : image->shape[1] / (swaps ? width : height);
    to_corners(form, b, c);
    for (unsigned i = 0; i < 4; i += 2)
        turn_point(image->turned, relative ? 1 : width, relative ? 1 : height, &c[i], &c[i + 1]);
    const double upright[4] = {(c[0] < c[2] ? c[0] : c[2]) * across, (c[1] < c[3] ? c[1] : c[3]) * down,
                               (c[0] < c[2] ? c[2] : c[0]) * across, (c[1] < c[3] ? c[3] : c[1]) * down};
    from_corners(form, upright, b);
}

void boxes_move(const struct made_image *image, apl_form form, apl_dtype dtype, uint8_t *boxes, size_t n)
{
    float single[4];
    double b[4];
    for (size_t i = 0; i < n; i++, boxes += 4 * apl_dtype_size(dtype)) {
        memcpy(single, boxes, sizeof single);
        for (unsigned k = 0; k < 4; k++)
            b[k] = (double)single[k];
        if (dtype == APL_F64)
            memcpy(b, boxes, sizeof b);
        move_box(image, form, b);
        for (unsigned k = 0; k < 4; k++)
            single[k] = (float)b[k];
        memcpy(boxes, dtype == APL_F64 ? (const void *)b : single, 4 * apl_dtype_size(dtype));
    }
}
