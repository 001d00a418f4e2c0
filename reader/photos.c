/* From kept files to rows of a batch: see photos.h. */
#include "photos.h"

#include "finish.h"
#include "follow.h"
#include "images.h"
#include "ranges.h"
#include "transform.h"
#include "values.h"

#include <math.h>

#define MOMENT_IMAGES 256

/* ----------------------------------------------------------------------------------------------- options */

static apl_status check_pads(const apl_field *f, apl_transform *t, apl_error *err)
{
    bool sized = t->sizing == APL_SIZING_RESIZE, plain = t->sizing == APL_SIZING_NONE;
    struct image_shape shape = image_shape(f);
    unsigned height = sized   ? t->resize_height
                      : plain ? shape.height
                              : 0,
             width = sized   ? t->resize_width
                     : plain ? shape.width
                             : 0;
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
    range_default(t->area, 0.08, 1);
    range_default(t->ratio, 3.0 / 4, 4.0 / 3);
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

apl_status photos_check(const apl_field *f, apl_transform *t, apl_error *err)
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
    return t->sizing == APL_SIZING_RANDOM ? check_box(f, t, err) : APL_OK;
}

bool photos_makes(const apl_field *f, const apl_transform *t)
{
    bool filled = false;
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++)
        filled |= t->pad_fill[c] != 0;
    return is_any_size(f) || t->sizing != APL_SIZING_NONE || transform_pads(t) || filled ||
           t->pad_mode > APL_PAD_REFLECT;
}

void photos_fixed_shape(const apl_field *f, struct photo_value *value)
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

static enum jpeg_chroma chroma_of(const apl_transform *t)
{
    return t->exact_chroma ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES;
}

/* ----------------------------------------------------------------------------------------------- batches */

void photos_place(struct worker *w, const struct job *job, unsigned f)
{
    const apl_reader *r = w->reader;
    const apl_batch *batch = &job->buffer->batch;
    apl_transform after = r->options.transforms[f]; /* the crop */
    struct image_shape shape = {.channels = image_shape(&r->schema->fields[f]).channels,
                                .height = after.crop_height,
                                .width = after.crop_width};
    struct augment a;
    after.pad = 0;
    augment_init(&a, shape, image_stream(r->schema), &after, r->options.plan.seed, job->epoch);
    augment_draw(&a, batch->ids, batch->copies, batch->rows, w->placements);
}

/* Draws one image of a field: a file is decoded. */
static apl_status draw_value(struct photo *photo, const apl_field *f, const apl_transform *t,
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

apl_status photos_make(struct worker *w, struct job *job, const struct run_work *work, size_t k,
                       const struct photo_value *value, apl_error *err)
{
    const apl_reader *r = w->reader;
    const struct assembly *assembly = work->assembly;
    const struct placement *placement = &work->placements[k];
    unsigned f = work->field;
    const apl_batch *batch = &job->buffer->batch;
    const apl_field *field = &r->schema->fields[f];
    struct crop_draws draws = crop_draws(r->options.plan.seed, job->epoch, batch->ids[k], batch->copies[k]);
    size_t pixels = (size_t)image_shape(field).channels * assembly->height * assembly->width;
    uint8_t *rgb = scratch_reserve(&w->pixels, pixels);
    if (!rgb || (!w->photo && !(w->photo = photo_new())))
        return fail_nomem(err);
    apl_status status = draw_value(w->photo, field, &r->options.transforms[f], value, draws, rgb, err);
    if (status != APL_OK) {
        w->undecoded = (uint32_t)k;
        return values_name(r, job, f, k, status, err);
    }
    if (work->geometry)
        follow_note_photo(w, job, work, k);
    return finish_image(w, job, f, assembly, k, rgb, placement, err);
}

/* ------------------------------------------------------------------------- mean and standard deviation */

struct sums {
    uint64_t values, sum[PHOTO_CHANNELS], squares[PHOTO_CHANNELS];
};

static void add_pixels(struct sums *s, const uint8_t *rgb, size_t plane)
{
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++)
        for (size_t i = 0; i < plane; i++) {
            s->sum[c] += rgb[c * plane + i];
            s->squares[c] += (uint64_t)rgb[c * plane + i] * rgb[c * plane + i];
        }
    s->values += plane;
}

/* Images that cannot be decoded are left out: the reader tells of them when it gets there. */
static apl_status add_image(apl_store *store, uint64_t id, const apl_field *f, const apl_transform *t,
                            struct photo *photo, uint8_t *rgb, struct sums *sums, apl_error *err)
{
    apl_get_options options = APL_GET_OPTIONS_INIT;
    apl_batch *batch;
    options.fields = &f->name;
    options.field_count = 1;
    TRY(apl_store_get_batch(store, &id, 1, &options, &batch, err));
    const apl_column *column = &batch->columns[schema_find(&store->manifest.schema, f->name)];
    struct photo_value value = {.data = column->data, .bytes = column->bytes};
    for (unsigned d = 0; is_varying_image(f) && d < 3; d++)
        value.shape[d] = (uint32_t)column->shapes[d];
    if (draw_value(photo, f, t, &value, crop_draws(0, 0, id, 0), rgb, NULL) == APL_OK)
        add_pixels(sums, rgb, (size_t)t->crop_height * t->crop_width);
    apl_batch_release(batch);
    return APL_OK;
}

static apl_status add_images(const struct subset *subset, const apl_field *f, const apl_transform *t,
                             struct photo *photo, uint8_t *rgb, struct sums *sums, apl_error *err)
{
    apl_store *store = (apl_store *)subset->part[0].store;
    int train = apl_store_find_split(store, "train");
    const apl_split *split = apl_store_split(store, train < 0 ? subset->part[0].source : (unsigned)train);
    uint64_t count = split->count < MOMENT_IMAGES ? split->count : MOMENT_IMAGES;
    for (uint64_t i = 0; i < count; i++)
        TRY(add_image(store, split->first + i * split->count / count, f, t, photo, rgb, sums, err));
    return APL_OK;
}

static void take_figure(apl_transform *t, unsigned c, double mean, double std)
{
    if (t->std[c] != 0)
        return;
    t->mean[c] = (float)mean;
    t->std[c] = std > 0 ? (float)std : 1.0f;
}

static void take_figures(const struct sums *s, apl_transform *t)
{
    double n = s->values ? (double)s->values : 1;
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++) {
        double mean = (double)s->sum[c] / n, square = (double)s->squares[c] / n - mean * mean;
        take_figure(t, c, mean, square > 0 ? sqrt(square) : 0);
    }
}

/* What the stores know of all images of their splits; false: one of them does not. */
static bool take_known(const struct subset *subset, const apl_field *f, apl_transform *t)
{
    struct colour_sums sum = {0};
    enum colours_kind kind = COLOURS_RGB;
    for (uint32_t i = 0; i < subset->parts; i++) {
        const apl_store *store = subset->part[i].store;
        int field = schema_find(&store->manifest.schema, f->name),
            train = apl_store_find_split(store, "train");
        unsigned split = train < 0 ? subset->part[i].source : (unsigned)train;
        struct colour_sums of;
        enum colours_kind is;
        if (field < 0 || !store_sum_colours(store, split, (unsigned)field, &of, &is) || (i > 0 && is != kind))
            return false;
        kind = is;
        colours_add(&sum, &of);
    }
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++) {
        double mean, std;
        colours_figures(&sum, kind, c, &mean, &std);
        take_figure(t, c, mean, std);
    }
    return true;
}

apl_status photos_moments(const struct subset *subset, const apl_field *f, apl_transform *t, apl_error *err)
{
    if (t->std[0] != 0 && t->std[1] != 0 && t->std[2] != 0)
        return APL_OK;
    if (take_known(subset, f, t))
        return APL_OK;
    struct photo *photo = photo_new();
    uint8_t *rgb = malloc((size_t)PHOTO_CHANNELS * t->crop_height * t->crop_width);
    struct sums sums = {.values = 0};
    apl_status status = photo && rgb ? add_images(subset, f, t, photo, rgb, &sums, err) : fail_nomem(err);
    free(rgb);
    photo_free(photo);
    if (status == APL_OK)
        take_figures(&sums, t);
    return status;
}
