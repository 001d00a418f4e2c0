/* Boxes follow their image: one that is drawn into it lies where it was drawn, however the image is turned and resized. */
#include "boxes_moved.h"

#include "turn.h"

#include <criterion/criterion.h>
#include <string.h>

#define WIDE 7u
#define HIGH 5u

/* A box drawn into an image, from left, top to right, bottom; turned; and where it lies then, as corners. */
static void draw_turned(unsigned orientation, const uint32_t box[4], struct raster *s, double corners[4])
{
    struct image_info info = {.channels = 1, .height = HIGH, .width = WIDE, .bits = 8};
    struct scratch spare = {0};
    cr_assert_eq(raster_begin(s, &info, NULL), APL_OK);
    for (uint32_t y = 0; y < HIGH; y++)
        for (uint32_t x = 0; x < WIDE; x++)
            s->data[y * WIDE + x] = x >= box[0] && x < box[2] && y >= box[1] && y < box[3];
    cr_assert_eq(raster_turn(s, orientation, &spare, NULL), APL_OK);
    memcpy(corners, (const double[4]){1e9, 1e9, 0, 0}, 4 * sizeof *corners);
    for (uint32_t y = 0; y < s->height; y++)
        for (uint32_t x = 0; x < s->width; x++) {
            if (!s->data[y * s->width + x])
                continue;
            corners[0] = x < corners[0] ? x : corners[0];
            corners[1] = y < corners[1] ? y : corners[1];
            corners[2] = x + 1 > corners[2] ? x + 1 : corners[2];
            corners[3] = y + 1 > corners[3] ? y + 1 : corners[3];
        }
    scratch_free(&spare);
}

static void as_form(apl_form form, const double c[4], double width, double height, float out[4])
{
    bool relative = form >= APL_FORM_XYXY_REL;
    const double w = c[2] - c[0], h = c[3] - c[1];
    const double all[4][4] = {{c[0], c[1], c[2], c[3]},
                              {c[0], c[1], w, h},
                              {c[0] + w / 2, c[1] + h / 2, w, h},
                              {c[1], c[0], c[3], c[2]}};
    const double *is = all[relative ? form - APL_FORM_XYXY_REL : form - APL_FORM_XYXY];
    bool turned = form == APL_FORM_YXYX_REL;
    for (unsigned i = 0; i < 4; i++)
        out[i] = (float)(is[i] / (!relative ? 1 : (i % 2 == 0) != turned ? width : height));
}

Test(boxes_moved, turned_and_resized_as_the_image)
{
    static const uint32_t box[4] = {1, 2, 4, 3};
    const double before[4] = {box[0], box[1], box[2], box[3]};
    for (unsigned orientation = 1; orientation <= 8; orientation++)
        for (apl_form form = APL_FORM_XYXY; form <= APL_FORM_YXYX_REL; form++) {
            struct raster s = {0};
            double now[4];
            float is[4], wanted[4], both[8];
            draw_turned(orientation, box, &s, now);
            struct made_image image = {.height = HIGH, .width = WIDE, .turned = (uint8_t)orientation};
            image.shape[1] = 3 * s.height, image.shape[2] = 2 * s.width;
            const double scaled[4] = {2 * now[0], 3 * now[1], 2 * now[2], 3 * now[3]};
            as_form(form, before, WIDE, HIGH, is);
            as_form(form, scaled, image.shape[2], image.shape[1], wanted);
            memcpy(both, is, sizeof is), memcpy(both + 4, is, sizeof is);
            boxes_move(&image, form, APL_F32, (uint8_t *)both, 2);
            for (unsigned i = 0; i < 8; i++)
                cr_expect_float_eq(both[i], wanted[i % 4], 1e-5, "orientation %u, form %d: %g, not %g",
                                   orientation, (int)form, (double)both[i], (double)wanted[i % 4]);
            const double large[4] = {(double)is[0], (double)is[1], (double)is[2], (double)is[3]};
            double moved[4];
            memcpy(moved, large, sizeof moved);
            boxes_move(&image, form, APL_F64, (uint8_t *)moved, 1);
            for (unsigned i = 0; i < 4; i++)
                cr_expect_float_eq(moved[i], (double)wanted[i], 1e-5);
            raster_free(&s);
        }
}
