/* What a caller asks to be mixed: see blending.h. */
#include "blending.h"

#include "blend.h"
#include "images.h"
#include "ranges.h"

#define MOST_CLASSES (1u << 20)

static bool is_class_field(const apl_field *f)
{
    return f->ndim == 0 && apl_dtype_size(f->dtype) > 0 && f->dtype <= APL_I64 && f->dtype != APL_BOOL;
}

/* The field that is named, or the only target that may be meant. */
static apl_status find_label(const struct spec *spec, const char *name, unsigned *label, apl_error *err)
{
    const struct schema *schema = spec->schema;
    unsigned found = 0;
    if (name)
        TRY(store_find_field(spec->store, name, label, err));
    for (unsigned f = 0; !name && f < schema->count; f++)
        if (spec->options.wanted[f] && schema->fields[f].role == APL_TARGET &&
            is_class_field(&schema->fields[f]) && found++ == 0)
            *label = f;
    if (!name && found != 1)
        return fail(err, APL_E_INVALID,
                    "mixing: %s field is a target of a single whole number: name the label",
                    found ? "more than one" : "no");
    if (!is_class_field(&schema->fields[*label]) || !spec->options.wanted[*label])
        return fail(err, APL_E_INVALID, "mixing: field %s is not %s", schema->fields[*label].name,
                    spec->options.wanted[*label] ? "of single whole numbers" : "among the fields wanted");
    return APL_OK;
}

static bool is_alpha(double alpha)
{
    return alpha == 0 || (alpha >= BLEND_LEAST_ALPHA && alpha <= BLEND_MOST_ALPHA);
}

static apl_status check_numbers_of(apl_blend *b, const apl_field *label, apl_error *err)
{
    if (!is_alpha(b->mixup_alpha) || !is_alpha(b->cutmix_alpha) || b->mixup_alpha + b->cutmix_alpha <= 0)
        return fail(err, APL_E_INVALID, "mixing: alphas of %g and %g; wanted: %g to %g, or 0 for one of them",
                    b->mixup_alpha, b->cutmix_alpha, BLEND_LEAST_ALPHA, BLEND_MOST_ALPHA);
    if (!range_is_probability(b->cutmix_p) || !range_is_probability(b->p) ||
        !range_is_probability(b->smoothing) || b->smoothing == 1)
        return fail(err, APL_E_INVALID,
                    "mixing: p, cutmix_p and smoothing are from 0 to 1, not %g, %g and %g", b->p, b->cutmix_p,
                    b->smoothing);
    b->p = b->p > 0 ? b->p : 1;
    b->cutmix_p = b->mixup_alpha == 0 ? 1 : b->cutmix_alpha == 0 ? 0 : b->cutmix_p > 0 ? b->cutmix_p : 0.5;
    b->classes = b->classes ? b->classes : (unsigned)label->class_count;
    if (b->classes == 0 || b->classes > MOST_CLASSES)
        return fail(err, APL_E_INVALID, "mixing: %u classes of field %s: wanted: 1 to %u", b->classes,
                    label->name, MOST_CLASSES);
    return APL_OK;
}

static apl_status check_images_of(const struct spec *spec, const struct blending *b, apl_error *err)
{
    const struct reader_options *o = &spec->options;
    const apl_field *image = &spec->schema->fields[b->image];
    const apl_transform *t = &o->transforms[b->image];
    apl_dtype dtype = t->size ? t->dtype : image->dtype;
    if (is_any_size(image) && t->size == 0)
        return fail(err, APL_E_INVALID,
                    "field %s: its images may have any size: only a crop of them can be mixed", image->name);
    if (b->how.mixup_alpha > 0 && dtype == APL_U8)
        return fail(err, APL_E_INVALID,
                    "field %s: MixUp is of floats: set dtype to f32, f16 or bf16 (Python: ToFloat32)",
                    image->name);
    for (unsigned f = 0; f < spec->schema->count; f++)
        if (o->follows[f].as != FOLLOW_NOTHING && o->follows[f].image == b->image)
            return fail(err, APL_E_INVALID,
                        "field %s: masks and boxes cannot be mixed, as its images are to be", image->name);
    if (o->pack.row || o->windows.length || o->collations[b->label].how || o->transforms[b->label].size)
        return fail(err, APL_E_INVALID, "field %s: labels that are mixed are neither packed nor collated",
                    spec->schema->fields[b->label].name);
    return APL_OK;
}

apl_status blending_resolve(struct spec *spec, const apl_blend *asked, apl_error *err)
{
    struct blending *b = &spec->options.blending;
    if (!asked)
        return APL_OK;
    b->how = *asked;
    TRY(image_find(spec->schema, spec->options.wanted, asked->field, &b->image, err));
    TRY(find_label(spec, asked->label, &b->label, err));
    TRY(check_numbers_of(&b->how, &spec->schema->fields[b->label], err));
    TRY(check_images_of(spec, b, err));
    b->how.field = b->how.label = NULL; /* the caller's memory */
    b->any = true;
    return APL_OK;
}

void blending_row_bytes(const struct spec *spec, size_t *bytes)
{
    const struct blending *b = &spec->options.blending;
    if (b->any)
        bytes[b->label] = b->how.classes * sizeof(float);
}
