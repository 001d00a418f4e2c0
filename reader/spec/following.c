/* Which fields follow which: see following.h. */
#include "following.h"

#include "boxes.h"
#include "exact_value.h"
#include "field_kinds.h"
#include "images.h"
#include "kind_rule.h"
#include "moving.h"
#include "transform.h"

#include <string.h>

#define A_MASK "[H,W], [N,H,W], such of varying sides, [*,*,*], or kept as image/jpeg"

/* An image that has a transform. */
struct mover {
    unsigned image;
    const char *name;
    const apl_transform *transform;
    const char *option; /* that moves its pixels; NULL: none does */
    bool removes;       /* of its boxes, those that are too small */
};

/* ------------------------------------------------------------------------------------------ what is refused */

/* What it might be, by type and shape, as it would be said. */
static const char *likely_kind(const apl_field *f)
{
    bool floats = f->dtype >= APL_F16 && f->dtype <= APL_F64;
    int64_t last = f->ndim ? f->shape[f->ndim - 1] : 0;
    if (f->media)
        return "mask";
    if (f->ndim <= 2 && last == BOX_NUMBERS)
        return "boxes,xyxy";
    if (f->ndim < 2)
        return NULL; /* of no kind that moves */
    if (last == 2 || last == 3)
        return last == 2 ? "keypoints,xy" : "keypoints,xyv";
    return floats ? "map" : "mask";
}

static apl_status refuse_unsaid(const struct mover *m, const apl_field *f, apl_error *err)
{
    char text[FIELD_TYPE_TEXT];
    const char *likely = likely_kind(f);
    if (!likely)
        return fail(
            err, APL_E_INVALID,
            "%s moves '%.64s', but what is '%.64s' (%s)? Say %.64s=label,per=FIELD if it has one for each "
            "of that field's, %.64s=pinned if it lies in the image, %.64s=plain if it has nothing to do with "
            "it",
            m->option, m->name, f->name, field_type_text(f, text), f->name, f->name, f->name);
    return fail(err, APL_E_INVALID,
                "%s moves '%.64s', but what is '%.64s' (%s)? Say %.64s=%s if it lies in the image, "
                "%.64s=pinned if it "
                "cannot be moved, %.64s=plain if it has nothing to do with it",
                m->option, m->name, f->name, field_type_text(f, text), f->name, likely, f->name, f->name);
}

static apl_status refuse_said(const struct mover *m, const apl_field *f, apl_error *err)
{
    apl_kind_id id = field_kind(f);
    if (id == APL_KIND_PINNED)
        return fail(
            err, APL_E_INVALID,
            "%s cannot be used beside '%.64s': it is pinned to '%.64s' (leave it out of the fields, or move "
            "both in a function of yours)",
            m->option, f->name, m->name);
    return fail(err, APL_E_UNSUPPORTED,
                "%s cannot be used beside '%.64s', which lies in '%.64s': %s cannot be moved yet (leave it "
                "out of the "
                "fields, or move both in a function of yours)",
                m->option, f->name, m->name,
                id == APL_KIND_KEYPOINTS ? "keypoints"
                : id == APL_KIND_VECTORS ? "vectors"
                                         : "what its kind is, of a later version,");
}

/* Several images are read, and it may be of any. */
static apl_status refuse_unclear(const struct mover *m, const apl_field *f, apl_error *err)
{
    return fail(err, APL_E_INVALID,
                "%s moves '%.64s', but of which image is '%.64s'? Add of=%.64s, or of= another, to its kind",
                m->option ? m->option : "box_min_size", m->name, f->name, m->name);
}

/* ------------------------------------------------------------------------------------------------- masks */

/* A field whose records have as many elements each is read as if that varied, as elements are left out. */
static void read_as_varying(struct spec *spec, unsigned field)
{
    apl_field *f = &spec->own.fields[field];
    f->shape[0] = -1;
    f->value_bytes = 0;
    spec->options.ragged = true;
}

static bool is_mask(const apl_field *f)
{
    if (is_photo(f))
        return true;
    if (f->media || f->dtype == APL_UTF8 || f->ndim < 2 || f->ndim > 3)
        return false;
    return f->ndim == 2 || f->shape[0] >= 1 || (f->shape[1] < 0 && f->shape[2] < 0);
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
                "field %s: is of %lld x %lld pixels, and its image '%.64s' of %u x %u: masks and maps of "
                "another size "
                "cannot be moved yet",
                mask->name, (long long)width, (long long)height, image->name, shape.width, shape.height);
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

/* Masks of instances: each record has its own number, of one size or of their image's. Three dimensions that vary without boxes are a
 * mask of one channel. */
static bool is_planes(const struct schema *schema, const apl_field *f)
{
    if (f->media || f->dtype == APL_UTF8 || f->ndim != 3 || (f->shape[1] < 0) != (f->shape[2] < 0))
        return false;
    return kinds_boxes(schema, f) >= 0 || (f->shape[0] < 0 && f->shape[1] >= 0);
}

/* Masks, and maps of nearest elements. */
static apl_status let_mask_follow(struct spec *spec, const struct mover *m, unsigned field, apl_error *err)
{
    const apl_field *f = &spec->schema->fields[field], *image = &spec->schema->fields[m->image];
    struct follow *follow = &spec->options.follows[field];
    char text[FIELD_TYPE_TEXT];
    if (kind_form(f->kind) == APL_FORM_LINEAR)
        return fail(err, APL_E_UNSUPPORTED,
                    "field %s: %s cannot move a linear map yet, only one of nearest elements (kind map)",
                    f->name, m->option);
    bool planes = is_planes(spec->schema, f);
    if (!planes && !is_mask(f))
        return fail(err, APL_E_INVALID,
                    "field %s: is %s, which %s cannot move as a mask or map, which is " A_MASK, f->name,
                    field_type_text(f, text), m->option);
    TRY(take_fills(f, m->transform, follow, err));
    TRY(check_sides(f, image, err));
    follow->as = planes ? FOLLOW_PLANES : FOLLOW_MASK;
    follow->image = m->image;
    if (planes && f->shape[0] >= 0)
        read_as_varying(spec, field);
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- boxes */

/* Has it elements that can be left out? Their number varies, or nothing does; a text and a file are one. */
static bool has_rows(const apl_field *f)
{
    bool several = f->ndim > (f->dtype == APL_UTF8) && !f->media;
    return several && (f->shape[0] < 0 || field_varying(f) == 0);
}

static apl_status check_boxes(const struct mover *m, const apl_field *f, apl_error *err)
{
    const apl_transform *t = m->transform;
    char text[FIELD_TYPE_TEXT];
    if (f->dtype != APL_F32 || f->ndim != 2 || f->shape[1] != BOX_NUMBERS)
        return fail(err, APL_E_INVALID, "field %s: is %s; boxes that move are f32[*,4]", f->name,
                    field_type_text(f, text));
    if (kind_form(f->kind) > APL_FORM_CXCYWH)
        return fail(err, APL_E_UNSUPPORTED,
                    "field %s: only boxes of form xyxy, xywh or cxcywh, in pixels, can be moved yet",
                    f->name);
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

static apl_status let_boxes_follow(struct spec *spec, const struct mover *m, unsigned field, apl_error *err)
{
    const apl_field *f = &spec->schema->fields[field];
    TRY(check_boxes(m, f, err));
    if (m->removes && *f->kind->per)
        return fail(
            err, APL_E_UNSUPPORTED,
            "field %s: boxes that are per %s cannot be left out of it: box_min_size and box_min_area must "
            "be 0",
            f->name, f->kind->per);
    spec->options.follows[field] =
        (struct follow){.as = FOLLOW_BOXES, .image = m->image, .boxes = field, .form = kind_form(f->kind)};
    read_as_varying(spec, field);
    return APL_OK;
}

/* What has an element for each box of the image. */
static apl_status let_follow_boxes(struct spec *spec, const struct mover *m, unsigned field, unsigned boxes,
                                   apl_error *err)
{
    struct follow *follow = &spec->options.follows[field];
    const apl_field *f = &spec->schema->fields[field];
    char text[FIELD_TYPE_TEXT];
    bool moves = follow->as != FOLLOW_NOTHING;
    if (follow->as == FOLLOW_PLANES) {
        follow->boxes = boxes;
        follow->per_boxes = true;
        return APL_OK;
    }
    if (!m->removes && (moves || !has_rows(f)))
        return APL_OK;
    if (moves || !has_rows(f))
        return fail(err, APL_E_UNSUPPORTED,
                    "field %s: is %s, per %s: elements of it cannot be left out with the boxes that are "
                    "(leave it out "
                    "of the fields, or set box_min_size and box_min_area to 0%s)",
                    f->name, field_type_text(f, text), spec->schema->fields[boxes].name,
                    moves ? "" : ", or store a list of them, one for each box");
    *follow = (struct follow){.as = FOLLOW_WITH_BOXES, .image = m->image, .boxes = boxes};
    read_as_varying(spec, field);
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------ the rule */

static bool is_read(const struct spec *spec, unsigned field)
{
    return spec->options.wanted[field] && spec->options.transforms[field].size == 0;
}

/* Of the fields read, those that are said to be images, or have transforms as such. */
static unsigned images_read(const struct spec *spec)
{
    unsigned count = 0;
    for (unsigned f = 0; f < spec->schema->count; f++)
        count += spec->options.wanted[f] && (spec->options.transforms[f].size > 0 ||
                                             field_kind(&spec->schema->fields[f]) == APL_KIND_IMAGE);
    return count;
}

static apl_status let_follow(struct spec *spec, const struct mover *m, unsigned field, apl_error *err)
{
    bool boxes = field_kind(&spec->schema->fields[field]) == APL_KIND_BOXES;
    if (!m->option && !(boxes && m->removes))
        return APL_OK;
    if (m->transform->policy != APL_POLICY_NONE)
        return fail(
            err, APL_E_INVALID,
            "field %s: a policy moves pixels, which masks and boxes do not follow: TrivialAugmentWide and "
            "RandAugment are for images alone",
            spec->schema->fields[field].name);
    return boxes ? let_boxes_follow(spec, m, field, err) : let_mask_follow(spec, m, field, err);
}

/* A field that has no transform of its own, beside an image that has. */
static apl_status follow_or_refuse(struct spec *spec, const struct mover *m, unsigned field, apl_error *err)
{
    const apl_field *f = &spec->schema->fields[field];
    enum kind_action action = field_action(f);
    if (action == KIND_STAYS || field_kind(f) == APL_KIND_IMAGE || (!m->option && !m->removes))
        return APL_OK;
    if (field_kind(f) == APL_KIND_NONE)
        return m->option ? refuse_unsaid(m, f, err) : APL_OK;
    const char *of = kinds_image(spec->schema, f);
    if (*of && strcmp(of, m->name) != 0)
        return APL_OK;
    if (!*of && images_read(spec) > 1)
        return refuse_unclear(m, f, err);
    if (action == KIND_REFUSED)
        return m->option ? refuse_said(m, f, err) : APL_OK;
    return let_follow(spec, m, field, err);
}

/* After all boxes have been taken. */
static apl_status resolve_per_boxes(struct spec *spec, const struct mover *m, apl_error *err)
{
    bool any = false;
    for (unsigned f = 0; f < spec->schema->count; f++) {
        const struct follow *follow = &spec->options.follows[f];
        any |= follow->as == FOLLOW_BOXES && follow->image == m->image;
        int boxes = is_read(spec, f) ? kinds_boxes(spec->schema, &spec->schema->fields[f]) : -1;
        follow = boxes < 0 ? NULL : &spec->options.follows[boxes];
        if (follow && follow->as == FOLLOW_BOXES && follow->image == m->image)
            TRY(let_follow_boxes(spec, m, f, (unsigned)boxes, err));
    }
    if (!m->removes || any)
        return APL_OK;
    return fail(err, APL_E_INVALID,
                "field %s: box_min_size and box_min_area are for its boxes, and no field that is read is of "
                "that kind",
                m->name);
}

static apl_status resolve_image(struct spec *spec, unsigned image, apl_error *err)
{
    const apl_field *f = &spec->schema->fields[image];
    const apl_transform *t = &spec->options.transforms[image];
    const struct mover m = {.image = image,
                            .name = f->name,
                            .transform = t,
                            .option = moving_option(f, t),
                            .removes = t->box_min_size != 0 || t->box_min_area != 0};
    for (unsigned field = 0; field < spec->schema->count; field++)
        if (is_read(spec, field))
            TRY(follow_or_refuse(spec, &m, field, err));
    return resolve_per_boxes(spec, &m, err);
}

apl_status following_resolve(struct spec *spec, apl_error *err)
{
    struct reader_options *o = &spec->options;
    for (unsigned f = 0; f < spec->schema->count; f++)
        if (o->transforms[f].size)
            TRY(resolve_image(spec, f, err));
    for (unsigned f = 0; f < spec->schema->count; f++)
        o->followed |= o->follows[f].as != FOLLOW_NOTHING;
    return APL_OK;
}

apl_status following_check(const struct spec *spec, apl_error *err)
{
    const struct reader_options *o = &spec->options;
    for (unsigned f = 0; o->followed && f < spec->schema->count; f++) {
        const struct follow *follow = &o->follows[f];
        const char *name = spec->schema->fields[f].name;
        if (follow->as == FOLLOW_MASK && o->collations[f].how)
            return fail(err, APL_E_INVALID, "field %s: a mask, which is of one size, and has a collation",
                        name);
        if (follow->as == FOLLOW_PLANES && o->collations[f].how > APL_COLLATE_RAGGED)
            return fail(err, APL_E_INVALID,
                        "field %s: masks of which each record has its own number are collated as ragged",
                        name);
        if (follow->as != FOLLOW_NOTHING && o->collations[f].how > APL_COLLATE_PAD)
            return fail(err, APL_E_INVALID, "field %s: what goes with boxes is collated as ragged or pad",
                        name);
    }
    return APL_OK;
}

size_t following_plane_bytes(const struct spec *spec, unsigned field)
{
    const apl_transform *t = &spec->options.transforms[spec->options.follows[field].image];
    return (size_t)t->crop_height * t->crop_width * apl_dtype_size(spec->schema->fields[field].dtype);
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
