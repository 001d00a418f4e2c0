/* What is to be done to images, checked and completed: see transform.h. */
#include "transform.h"

#include "effects.h"
#include "images.h"
#include "photo_moments.h"
#include "photo_transform.h"
#include "ranges.h"
#include "sized.h"
#include "statistics.h"

#include <math.h>

/* Of what does not hang on the size of the images. */
static apl_status check_settings(const apl_field *f, apl_transform *t, apl_error *err)
{
    t->dtype = t->dtype ? t->dtype : APL_U8;
    if (t->dtype != APL_U8 && t->dtype != APL_F32 && t->dtype != APL_F16 && t->dtype != APL_BF16)
        return fail(err, APL_E_INVALID, "field %s: images become u8, f32, f16 or bf16, not %s", f->name,
                    apl_dtype_name(t->dtype));
    if (t->cutout > 1u << 15 || (unsigned)t->flip > APL_FLIP_ALTERNATING ||
        (unsigned)t->pad_mode > APL_PAD_SYMMETRIC || (unsigned)t->scale > APL_SCALE_NONE ||
        (unsigned)t->layout > APL_NHWC || (unsigned)t->sizing > APL_SIZING_RANDOM)
        return fail(err, APL_E_INVALID, "field %s: a transform with an impossible value", f->name);
    if (!range_is_probability(t->flip_p) || !range_is_probability(t->vertical_flip_p))
        return fail(err, APL_E_INVALID, "field %s: the probability of a flip is from 0 to 1, not %g", f->name,
                    range_is_probability(t->flip_p) ? t->vertical_flip_p : t->flip_p);
    return APL_OK;
}

static bool is_any(const float *values)
{
    for (unsigned c = 0; c < APL_MAX_CHANNELS; c++)
        if (values[c] != 0)
            return true;
    return false;
}

/* {0, 0} stands for the default, which a completed transform holds. */
static bool is_chosen(const double given[2], double low, double high)
{
    return (given[0] != 0 || given[1] != 0) && (given[0] != low || given[1] != high);
}

/* Settings that would have no effect are those of a caller who wants another. */
static apl_status check_unused(const apl_field *f, const apl_transform *t, apl_error *err)
{
    const struct {
        bool is_set, has_effect;
        const char *what, *wanted;
    } settings[] = {
        {t->flip_p != 0, t->flip == APL_FLIP_RANDOM, "flip_p", "flip APL_FLIP_RANDOM"},
        {t->resize_short || t->resize_height || t->resize_width, t->sizing == APL_SIZING_RESIZE,
         "resize_short, resize_height or resize_width", "sizing APL_SIZING_RESIZE"},
        {is_chosen(t->area, BOX_AREA) || is_chosen(t->ratio, BOX_RATIO), t->sizing == APL_SIZING_RANDOM,
         "area or ratio", "sizing APL_SIZING_RANDOM"},
        {is_any(t->mean) || is_any(t->std), t->scale == APL_SCALE_NORMALISE, "mean or std",
         "scale APL_SCALE_NORMALISE"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].is_set && !settings[i].has_effect)
            return fail(err, APL_E_INVALID, "field %s: %s would have no effect: it takes %s", f->name,
                        settings[i].what, settings[i].wanted);
    return APL_OK;
}

/* Is made of colours or grey? Where each image has channels of its own, a second or fourth is alpha, which is dropped; where all
 * have 2 or 4, these may be bands that mean something. */
static apl_status check_channels_made(const apl_field *f, const apl_transform *t, apl_error *err)
{
    bool varying = is_varying_image(f);
    int64_t channels = varying ? f->shape[0] : image_shape(f).channels;
    if (channels < 0 || channels == 1 || channels == 3)
        return APL_OK;
    if (varying)
        return fail(
            err, APL_E_INVALID,
            "field %s: images of %lld channels and of any size cannot be transformed, only those of 1 "
            "or 3; where the last is alpha, which is dropped, the field must be u8[*,*,*]",
            f->name, (long long)channels);
    return fail(err, APL_E_INVALID, "field %s: images of %lld channels cannot be %s, only those of 1 or 3",
                f->name, (long long)channels,
                t->sizing != APL_SIZING_NONE ? "resized" : "padded in other ways than crops pad them");
}

static apl_status check_crop(const apl_field *f, apl_transform *t, apl_error *err)
{
    struct image_shape shape = image_shape(f);
    int64_t height = shape.height, width = shape.width;
    if (photo_transform_makes(f, t)) {
        TRY(check_channels_made(f, t, err));
        return photo_transform_check(f, t, err);
    }
    t->crop_height = t->crop_height ? t->crop_height : (unsigned)height;
    t->crop_width = t->crop_width ? t->crop_width : (unsigned)width;
    if (t->pad > 1u << 15 || t->crop_height > height + 2 * (int64_t)t->pad ||
        t->crop_width > width + 2 * (int64_t)t->pad)
        return fail(err, APL_E_INVALID, "field %s: a crop of %u x %u is larger than the padded image",
                    f->name, t->crop_height, t->crop_width);
    if (t->pad_mode == APL_PAD_REFLECT && (t->pad >= height || t->pad >= width))
        return fail(err, APL_E_INVALID, "field %s: reflecting %u pixels of an image of %lld x %lld pixels",
                    f->name, t->pad, (long long)width, (long long)height);
    return APL_OK;
}

static apl_status check_transform(const apl_field *f, apl_transform *t, apl_error *err)
{
    TRY(check_settings(f, t, err));
    TRY(check_unused(f, t, err));
    TRY(check_crop(f, t, err));
    return effects_check(f->name, image_shape(f).channels, t, err);
}

apl_status transform_take(apl_transform *t, const apl_transform *theirs, size_t i, apl_error *err)
{
    *t = (apl_transform)APL_TRANSFORM_INIT;
    return options_take_from(t, sizeof *t, theirs, i, "apl_transform", err);
}

void transform_give(apl_transform *theirs, const apl_transform *t)
{
    size_t size = theirs->size;
    options_give(theirs, size, t, sizeof *t);
    theirs->size = size;
}

apl_status transform_geometry(const struct schema *schema, const bool *wanted, apl_transform *t,
                              unsigned *field, apl_error *err)
{
    TRY(image_find(schema, wanted, t->field, field, err));
    t->field = schema->fields[*field].name;
    return check_transform(&schema->fields[*field], t, err);
}

/* Adds up what the stores know of a channel. The sums are exact, and so it is as if the records were of one store. */
static bool take_moments(const struct subset *subset, const char *field, unsigned channel,
                         struct moments *sum)
{
    *sum = (struct moments){0};
    for (uint32_t i = 0; i < subset->parts; i++) {
        const apl_store *store = subset->part[i].store;
        int f = schema_find(&store->manifest.schema, field);
        int split = subset_training_split(&subset->part[i]);
        const struct moments *m = f < 0 ? NULL : store_moments(store, (unsigned)split, (unsigned)f, channel);
        if (!m || !moments_combine(sum, m))
            return false;
    }
    return true;
}

static void take_figures(apl_transform *t, unsigned c, double mean, double std)
{
    t->mean[c] = (float)mean;
    t->std[c] = std > 0 ? (float)std : 1.0f;
}

/* Have all parts a training split? */
static bool are_trained(const struct subset *subset)
{
    for (uint32_t i = 0; i < subset->parts; i++)
        if (subset_training_split(&subset->part[i]) < 0)
            return false;
    return true;
}

/* Without a training split there are only the figures that the one store has kept of that which its records come from: a model that is
 * tested would see other values than in training, were its images normalised by their own. */
static apl_status take_kept(const struct subset *subset, const apl_field *f, apl_transform *t, apl_error *err)
{
    const apl_store *store = subset->part[0].store;
    unsigned field = (unsigned)apl_store_find_field(store, f->name);
    for (unsigned c = 0; c < image_shape(f).channels; c++) {
        double mean, std;
        if (t->std[c] != 0)
            continue;
        if (subset->parts > 1 || apl_store_training_moments(store, field, c, &mean, &std) != APL_OK)
            return fail(
                err, APL_E_NOTFOUND,
                "Normalize(): no split 'train' here and no moments kept (Normalize(mean, std), of the "
                "store that you train on)");
        take_figures(t, c, mean, std);
    }
    return APL_OK;
}

apl_status transform_moments(const struct subset *subset, const apl_field *f, apl_transform *t,
                             apl_error *err)
{
    if (t->grey_plane && image_shape(f).channels != 1 && t->scale == APL_SCALE_NORMALISE && t->std[0] == 0)
        return fail(err, APL_E_INVALID,
                    "field %s: grey images are normalised by a mean and standard deviation that are given, "
                    "as those of "
                    "the store are of its colours",
                    f->name);
    if (t->scale == APL_SCALE_NORMALISE && !are_trained(subset))
        TRY(take_kept(subset, f, t, err));
    if (is_any_size(f) && t->scale == APL_SCALE_NORMALISE)
        TRY(photo_moments(subset, f, t, err));
    for (unsigned c = 0; t->scale == APL_SCALE_NORMALISE && c < image_shape(f).channels; c++) {
        struct moments moments;
        double mean, std;
        if (t->std[c] == 0) {
            if (!take_moments(subset, f->name, c, &moments))
                return fail(err, APL_E_NOTFOUND,
                            "field %s: the store has no mean and standard deviation to normalise by",
                            f->name);
            moments_figures(&moments, &mean, &std);
            take_figures(t, c, mean, std);
        }
        if (!isfinite(t->mean[c]) || !isfinite(t->std[c]) || t->std[c] <= 0)
            return fail(err, APL_E_INVALID,
                        "field %s: the mean of channel %u must be finite, its standard deviation above 0",
                        f->name, c);
    }
    return APL_OK;
}

apl_status apl_transform_complete(apl_store *store, const char *split, apl_transform *transform,
                                  apl_error *err)
{
    if (!store || !transform)
        return fail(err, APL_E_INVALID, "apl_transform_complete: store or transform is NULL");
    apl_transform t;
    TRY(transform_take(&t, transform, 0, err));
    struct subset subset;
    unsigned field = 0;
    TRY(transform_geometry(&store->manifest.schema, NULL, &t, &field, err));
    TRY(subset_open(store, split, &subset, err));
    apl_status status = transform_moments(&subset, &store->manifest.schema.fields[field], &t, err);
    subset_close(&subset);
    if (status == APL_OK)
        transform_give(transform, &t);
    return status;
}

apl_status transform_complete(const struct spec *spec, apl_transform *transform, apl_error *err)
{
    apl_transform t;
    unsigned field = 0;
    TRY(transform_take(&t, transform, 0, err));
    TRY(transform_geometry(spec->schema, NULL, &t, &field, err));
    TRY(transform_moments(&spec->subset, &spec->schema->fields[field], &t, err));
    transform_give(transform, &t);
    return APL_OK;
}
