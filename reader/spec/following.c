/* Which fields follow which: see following.h. */
#include "following.h"

#include "boxes.h"
#include "exact_value.h"
#include "images.h"
#include "transform.h"

#define A_MASK "[H,W], [N,H,W], such of varying sides, [*,*,*], or kept as image/jpeg"

/* A field that the transform of `image` names. */
static apl_status find_follower(struct spec *spec, unsigned image, const char *name, enum follow_as as,
                                unsigned *field, apl_error *err)
{
    struct reader_options *o = &spec->options;
    const char *of = spec->schema->fields[image].name;
    if (!name)
        return fail(err, APL_E_INVALID, "field %s: a name among those that follow it is NULL", of);
    TRY(store_find_field(spec->store, name, field, err));
    if (*field == image || !o->wanted[*field])
        return fail(err, APL_E_INVALID, "field %s: cannot follow field %s: it is %s", name, of,
                    *field == image ? "the same" : "not among the fields wanted");
    if (o->follows[*field].as != FOLLOW_NOTHING)
        return fail(err, APL_E_INVALID, "field %s: follows two fields, or in two ways", name);
    o->follows[*field] = (struct follow){.as = as, .image = image};
    o->followed = true;
    return APL_OK;
}

static bool is_mask(const apl_field *f)
{
    if (is_photo(f))
        return true;
    if (f->media || f->dtype == APL_UTF8 || f->ndim < 2 || f->ndim > 3)
        return false;
    bool varies = f->ndim == 3 && f->shape[1] < 0 && f->shape[2] < 0;
    return f->ndim == 2 || f->shape[0] >= 1 || varies || is_varying_image(f);
}

unsigned following_planes(const apl_field *f)
{
    return f->ndim == 3 && f->shape[0] > 0 ? (unsigned)f->shape[0] : 1;
}

/* The sides of images of one size and of their masks are known. */
static apl_status check_sides(const apl_field *mask, const apl_field *image, apl_error *err)
{
    int64_t height = mask->ndim < 2 ? -1 : mask->shape[mask->ndim - 2],
            width = mask->ndim < 2 ? -1 : mask->shape[mask->ndim - 1];
    struct image_shape shape = image_shape(image);
    if (is_any_size(image) || ((height < 0 || height == shape.height) && (width < 0 || width == shape.width)))
        return APL_OK;
    return fail(err, APL_E_INVALID,
                "field %s: masks of %lld x %lld pixels for images of %u x %u, of field %s", mask->name,
                (long long)width, (long long)height, shape.width, shape.height, image->name);
}

static apl_status take_fills(const apl_field *f, const apl_transform *t, struct follow *follow,
                             apl_error *err)
{
    const struct {
        const char *name;
        double value;
    } fills[FOLLOW_FILLS] = {[FILL_PADDED] = {"pad_mask_fill", t->pad_mask_fill},
                             [FILL_AFFINE] = {"affine_mask_fill", t->affine_mask_fill},
                             [FILL_PERSPECTIVE] = {"perspective_mask_fill", t->perspective_mask_fill},
                             [FILL_ELASTIC] = {"elastic_mask_fill", t->elastic_mask_fill}};
    for (unsigned i = 0; i < FOLLOW_FILLS; i++) {
        bool own = fills[i].value != 0;
        double value = own ? fills[i].value : t->mask_fill;
        if (!exact_value(f->dtype, value, follow->fills[i]))
            return fail(err, APL_E_INVALID, "field %s: %s cannot hold %s %.17g exactly", f->name,
                        apl_dtype_name(f->dtype), own ? fills[i].name : "mask_fill", value);
    }
    return APL_OK;
}

static apl_status resolve_masks(struct spec *spec, unsigned image, const apl_transform *t, apl_error *err)
{
    for (size_t i = 0; i < t->mask_count; i++) {
        unsigned field;
        char text[FIELD_TYPE_TEXT];
        TRY(find_follower(spec, image, t->masks[i], FOLLOW_MASK, &field, err));
        const apl_field *f = &spec->schema->fields[field];
        if (!is_mask(f))
            return fail(err, APL_E_INVALID, "field %s: is %s, not a mask, which is " A_MASK, f->name,
                        field_type_text(f, text));
        TRY(take_fills(f, t, &spec->options.follows[field], err));
        TRY(check_sides(f, &spec->schema->fields[image], err));
    }
    return APL_OK;
}

/* Fields of which the first dimension varies, and no other. */
static bool varies_first(const apl_field *f)
{
    return f->ndim >= 1 && f->shape[0] < 0 && field_varying(f) == 1 && f->dtype != APL_UTF8 && !f->media;
}

static apl_status check_boxes(const apl_field *f, const apl_transform *t, apl_error *err)
{
    char text[FIELD_TYPE_TEXT];
    if (!varies_first(f) || f->dtype != APL_F32 || f->ndim != 2 || f->shape[1] != BOX_NUMBERS)
        return fail(err, APL_E_INVALID, "field %s: is %s; boxes are f32[*,4]", f->name,
                    field_type_text(f, text));
    if ((unsigned)t->box_format > APL_BOX_CXCYWH)
        return fail(err, APL_E_INVALID, "field %s: boxes of format %u", f->name, (unsigned)t->box_format);
    if (!(t->box_min_size >= 0 && t->box_min_area >= 0))
        return fail(
            err, APL_E_INVALID,
            "field %s: the least side of boxes is %g and their least area %g: both must be at least 0",
            f->name, t->box_min_size, t->box_min_area);
    if ((t->pad || t->pad_if_needed || transform_pads(t)) && t->pad_mode != APL_PAD_ZERO)
        return fail(err, APL_E_INVALID,
                    "field %s: boxes of images that are padded by reflections or edges: pad with a constant",
                    f->name);
    return APL_OK;
}

static apl_status resolve_boxes(struct spec *spec, unsigned image, const apl_transform *t, apl_error *err)
{
    unsigned field;
    char text[FIELD_TYPE_TEXT];
    if (!t->boxes && (t->box_field_count || t->box_min_size != 0 || t->box_min_area != 0))
        return fail(err, APL_E_INVALID, "field %s: what goes with boxes is given, but no boxes are",
                    spec->schema->fields[image].name);
    if (!t->boxes)
        return APL_OK;
    TRY(find_follower(spec, image, t->boxes, FOLLOW_BOXES, &field, err));
    TRY(check_boxes(&spec->schema->fields[field], t, err));
    for (size_t i = 0; i < t->box_field_count; i++) {
        TRY(find_follower(spec, image, t->box_fields[i], FOLLOW_WITH_BOXES, &field, err));
        const apl_field *f = &spec->schema->fields[field];
        if (!varies_first(f))
            return fail(err, APL_E_INVALID,
                        "field %s: is %s; the first dimension of fields that go with boxes must vary",
                        f->name, field_type_text(f, text));
    }
    return APL_OK;
}

apl_status following_resolve(struct spec *spec, unsigned image, const apl_transform *t, apl_error *err)
{
    const char *name = spec->schema->fields[image].name;
    if ((!t->masks && t->mask_count) || (!t->box_fields && t->box_field_count))
        return fail(err, APL_E_INVALID, "field %s: masks or box_fields is NULL, but its count is not 0",
                    name);
    if (!t->boxes && t->mask_count == 0)
        return resolve_boxes(spec, image, t, err);
    if (t->policy != APL_POLICY_NONE)
        return fail(
            err, APL_E_INVALID,
            "field %s: a policy moves pixels, which masks and boxes do not follow: TrivialAugmentWide and "
            "RandAugment are for images alone",
            name);
    TRY(resolve_masks(spec, image, t, err));
    return resolve_boxes(spec, image, t, err);
}

apl_status following_check(const struct spec *spec, apl_error *err)
{
    const struct reader_options *o = &spec->options;
    for (unsigned f = 0; o->followed && f < spec->schema->count; f++) {
        const struct follow *follow = &o->follows[f];
        const char *name = spec->schema->fields[f].name;
        if (follow->as == FOLLOW_NOTHING)
            continue;
        if (o->transforms[f].size)
            return fail(err, APL_E_INVALID, "field %s: follows field %s, and has a transform of its own",
                        name, spec->schema->fields[follow->image].name);
        if (follow->as == FOLLOW_MASK && o->collations[f].how)
            return fail(err, APL_E_INVALID, "field %s: a mask, which is of one size, and has a collation",
                        name);
        if (o->collations[f].how > APL_COLLATE_PAD)
            return fail(err, APL_E_INVALID, "field %s: what goes with boxes is collated as ragged or pad",
                        name);
    }
    return APL_OK;
}

void following_row_bytes(const struct spec *spec, size_t *bytes)
{
    const struct reader_options *o = &spec->options;
    for (unsigned f = 0; o->followed && f < spec->schema->count; f++) {
        const apl_field *field = &spec->schema->fields[f];
        const apl_transform *t = &o->transforms[o->follows[f].image];
        if (o->follows[f].as == FOLLOW_MASK)
            bytes[f] = (size_t)following_planes(field) * t->crop_height * t->crop_width *
                       apl_dtype_size(field->dtype);
    }
}
