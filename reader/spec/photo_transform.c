/* What is asked of photos: see photo_transform.h. */
#include "photo_transform.h"

#include "images.h"
#include "ranges.h"
#include "transform.h"

#include <math.h>

/* Height and width of all images of the field once they are resized; 0: they differ, or are too large. */
static void resized_sides(const apl_field *f, const apl_transform *t, unsigned *height, unsigned *width)
{
    struct image_shape shape = image_shape(f);
    uint64_t h = shape.height, w = shape.width, side = t->resize_short;
    if (t->sizing == APL_SIZING_RESIZE && side && h && w) { /* as crop_plan() has it */
        uint64_t shorter = h < w ? h : w;
        h = side * h / shorter;
        w = side * w / shorter;
    } else if (t->sizing == APL_SIZING_RESIZE) {
        h = t->resize_height;
        w = t->resize_width;
    }
    bool fit = t->sizing != APL_SIZING_RANDOM && h <= CROP_LONGEST && w <= CROP_LONGEST;
    *height = fit ? (unsigned)h : 0;
    *width = fit ? (unsigned)w : 0;
}

static apl_status check_pads(const apl_field *f, apl_transform *t, apl_error *err)
{
    unsigned height, width;
    resized_sides(f, t, &height, &width);
    for (unsigned side = 0; side < 4; side++)
        if (t->pads[side] > CROP_LONGEST)
            return fail(err, APL_E_INVALID, "field %s: padded by %u pixels; wanted: at most %d", f->name,
                        t->pads[side], CROP_LONGEST);
    if (!t->crop_height && !t->crop_width && height && width) {
        t->crop_height = height + t->pads[1] + t->pads[3];
        t->crop_width = width + t->pads[0] + t->pads[2];
    }
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++)
        if (!(t->pad_fill[c] >= 0 && t->pad_fill[c] <= 255 && t->pad_fill[c] == rintf(t->pad_fill[c])))
            return fail(err, APL_E_INVALID, "field %s: pad_fill[%u] is %g; wanted: a whole number, 0 to 255",
                        f->name, c, (double)t->pad_fill[c]);
    return APL_OK;
}

static apl_status check_box(const apl_field *f, apl_transform *t, apl_error *err)
{
    range_default(t->area, BOX_AREA);
    range_default(t->ratio, BOX_RATIO);
    if (!range_within(t->area, 1e-9, 1))
        return fail(err, APL_E_INVALID,
                    "field %s: boxes of %g to %g of an image's area; wanted: above 0, to 1", f->name,
                    t->area[0], t->area[1]);
    if (!range_within(t->ratio, RANGE_LEAST_RATIO, 1 / RANGE_LEAST_RATIO))
        return fail(err, APL_E_INVALID,
                    "field %s: boxes of width / height from %g to %g; wanted: from %g to %g", f->name,
                    t->ratio[0], t->ratio[1], RANGE_LEAST_RATIO, 1 / RANGE_LEAST_RATIO);
    if (t->pad || transform_pads(t) || t->crop_centre)
        return fail(err, APL_E_INVALID, "field %s: a random resized crop is neither padded nor in the middle",
                    f->name);
    return APL_OK;
}

static apl_status check_resize(const apl_field *f, apl_transform *t, apl_error *err)
{
    bool both = t->resize_height && t->resize_width, any = t->resize_height || t->resize_width;
    if (t->resize_short ? any : !both)
        return fail(err, APL_E_INVALID,
                    "field %s: resizing wants resize_short, or resize_height and resize_width", f->name);
    if (t->resize_short > CROP_LONGEST || t->resize_height > CROP_LONGEST || t->resize_width > CROP_LONGEST)
        return fail(err, APL_E_INVALID, "field %s: resizing to more than %d pixels", f->name, CROP_LONGEST);
    if (both && !t->crop_height && !t->crop_width) {
        t->crop_height = t->resize_height;
        t->crop_width = t->resize_width;
    }
    return APL_OK;
}

bool photo_transform_makes(const apl_field *f, const apl_transform *t)
{
    bool filled = false;
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++)
        filled |= t->pad_fill[c] != 0;
    return is_any_size(f) || t->sizing != APL_SIZING_NONE || transform_pads(t) || filled ||
           t->pad_mode > APL_PAD_REFLECT;
}

void photo_value_fixed_shape(const apl_field *f, struct photo_value *value)
{
    struct image_shape shape = image_shape(f);
    value->shape[0] = shape.channels;
    value->shape[1] = shape.height;
    value->shape[2] = shape.width;
    value->bytes = f->value_bytes;
}

static struct crop_rules sizes_of(const apl_transform *t)
{
    return (struct crop_rules){.sizing = t->sizing == APL_SIZING_RANDOM   ? CROP_RANDOM_RESIZED
                                         : t->sizing == APL_SIZING_RESIZE ? CROP_RESIZE
                                                                          : CROP_AS_IT_IS,
                               .height = t->crop_height,
                               .width = t->crop_width,
                               .short_side = t->resize_short,
                               .resize_height = t->resize_height,
                               .resize_width = t->resize_width,
                               .scale = {t->area[0], t->area[1]},
                               .ratio = {t->ratio[0], t->ratio[1]},
                               .centre = t->crop_centre,
                               .pad = t->pad,
                               .pad_if_needed = t->pad_if_needed};
}

static struct crop_rules rules_of(const apl_transform *t)
{
    struct crop_rules rules = sizes_of(t);
    memcpy(rules.pads, t->pads, sizeof rules.pads);
    rules.padding.mode = t->pad_mode;
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++)
        rules.padding.fill[c] = (uint8_t)t->pad_fill[c];
    return rules;
}

/* Where all images have one size, whether there is as much of them as is reflected or cropped is known now. */
static apl_status check_enough(const apl_field *f, const apl_transform *t, apl_error *err)
{
    const struct crop_rules rules = rules_of(t);
    struct image_shape shape = image_shape(f);
    struct crop_plan plan;
    if (is_any_size(f))
        return APL_OK;
    apl_status status =
        crop_plan(&rules, (uint32_t)shape.width, (uint32_t)shape.height, (struct crop_draws){0}, &plan, err);
    return status == APL_OK ? APL_OK : fail_in(err, status, "field %s", f->name);
}

apl_status photo_transform_check(const apl_field *f, apl_transform *t, apl_error *err)
{
    TRY(check_pads(f, t, err));
    if (t->sizing == APL_SIZING_RESIZE)
        TRY(check_resize(f, t, err));
    if (!t->crop_height || !t->crop_width)
        return fail(
            err, APL_E_INVALID,
            "field %s: its images may have any size: a transform must crop them to one, or resize both sides",
            f->name);
    if (t->crop_height > CROP_LONGEST || t->crop_width > CROP_LONGEST || t->pad > CROP_LONGEST)
        return fail(err, APL_E_INVALID,
                    "field %s: a crop of %u x %u, padded by %u; wanted: at most %d pixels", f->name,
                    t->crop_height, t->crop_width, t->pad, CROP_LONGEST);
    if (t->sizing == APL_SIZING_RANDOM)
        TRY(check_box(f, t, err));
    return check_enough(f, t, err);
}

apl_status photo_transform_plan(const apl_transform *t, uint32_t width, uint32_t height,
                                struct crop_draws draws, struct crop_plan *plan, apl_error *err)
{
    const struct crop_rules rules = rules_of(t);
    return crop_plan(&rules, width, height, draws, plan, err);
}

void photo_transform_augment(const struct schema *schema, unsigned field, const apl_transform *t,
                             uint64_t seed, uint64_t epoch, apl_transform *after, struct augment *a)
{
    struct image_shape crop = {.channels = image_shape(&schema->fields[field]).channels,
                               .height = t->crop_height,
                               .width = t->crop_width};
    *after = *t;
    after->pad = 0;
    augment_init(a, crop, image_stream(schema), after, seed, epoch);
}

static enum jpeg_chroma chroma_of(const apl_transform *t)
{
    return t->exact_chroma ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES;
}

apl_status photo_value_draw(struct photo *photo, const apl_field *f, const apl_transform *t,
                            const struct photo_value *value, struct crop_draws draws, uint8_t *out,
                            apl_error *err)
{
    const struct crop_rules rules = rules_of(t);
    if (value->is_indexed)
        return photo_draw_indexed(photo, value->data, value->bytes, &rules, draws, chroma_of(t), out, err);
    if (is_photo(f))
        return photo_draw(photo, value->data, value->bytes, &rules, draws, chroma_of(t), out, err);
    const struct photo_pixels pixels = {value->data, value->bytes, value->shape[0], value->shape[1],
                                        value->shape[2]};
    return photo_draw_pixels(photo, &pixels, &rules, draws, image_shape(f).channels, out, err);
}
