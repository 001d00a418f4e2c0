/* Transforms of images whose size may be any, and of those that are resized: what is asked for, checked, and how one image is drawn. */
#ifndef PHOTO_TRANSFORM_H
#define PHOTO_TRANSFORM_H

#include "augment.h"
#include "photo.h"
#include "spec.h"

/* Of a random resized crop, where none are given: least and most of the area, and of the aspect ratio. */
#define BOX_AREA  0.08, 1
#define BOX_RATIO 3.0 / 4, 4.0 / 3

/* An image as it lies in a store: a file, an indexed image, or samples of a shape. */
struct photo_value {
    const void *data;
    size_t bytes;
    bool is_indexed;
    uint32_t shape[3]; /* of samples */
};

/* Are a field's images made here under this transform, or only assembled? */
bool photo_transform_makes(const apl_field *field, const apl_transform *t);

/* The shape of a value of a field of fixed shape. */
void photo_value_fixed_shape(const apl_field *field, struct photo_value *value);

/* Fills in and checks what apl_transform has for such images. */
apl_status photo_transform_check(const apl_field *field, apl_transform *t, apl_error *err);

/* How an image of that size is cropped. Errors as of crop_plan(). */
apl_status photo_transform_plan(const apl_transform *t, uint32_t width, uint32_t height,
                                struct crop_draws draws, struct crop_plan *plan, apl_error *err);

/* What draws flips and squares of such crops. `after` lives as long as `a`. */
void photo_transform_augment(const struct schema *schema, unsigned field, const apl_transform *t,
                             uint64_t seed, uint64_t epoch, apl_transform *after, struct augment *a);

/* Draws one image of a field: a file is decoded. */
apl_status photo_value_draw(struct photo *photo, const apl_field *field, const apl_transform *t,
                            const struct photo_value *value, struct crop_draws draws, uint8_t *out,
                            apl_error *err);

#endif
