/* From a batch of images to mixed ones: see blended.h. */
#include "blended.h"

#include "blend.h"
#include "delivery.h"
#include "values.h"

/* ---------------------------------------------------------------------------------------------- labels */

/* A whole number, little-endian as in slots; UINT64_MAX for one below 0. */
static uint64_t label_at(const uint8_t *from, apl_dtype dtype)
{
    size_t size = apl_dtype_size(dtype);
    uint64_t value = load_le(from, size);
    bool is_signed = dtype == APL_I8 || dtype == APL_I16 || dtype == APL_I32 || dtype == APL_I64;
    return is_signed && value >> (8 * size - 1) ? UINT64_MAX : value;
}

static apl_status class_of(const struct worker *w, const struct job *job, size_t k, uint32_t *class,
                           apl_error *err)
{
    const struct blending *b = &w->spec->options.blending;
    uint32_t nth, copy, index = delivery_block(w->spec, job->deliveries[k], &nth, &copy);
    const struct cached_block *block = standing_block(w->standing, job->epoch, index);
    const uint8_t *value =
        slab_value(&w->standing->slab, b->label, cached_slot(block, &w->spec->subset.block[index], nth));
    uint64_t number = label_at(value, w->spec->schema->fields[b->label].dtype);
    *class = (uint32_t)number;
    if (number < b->how.classes)
        return APL_OK;
    fail(err, APL_E_INVALID, number == UINT64_MAX ? "a class below 0" : "class %llu, where there are %u",
         (unsigned long long)number, b->how.classes);
    return values_name(w, job, b->label, k, APL_E_INVALID, err);
}

static float *describe_labels(const struct worker *w, struct job *job)
{
    const struct blending *b = &w->spec->options.blending;
    apl_column *column = &job->buffer->batch.columns[b->label];
    column->dtype = APL_F32;
    column->ndim = 1;
    column->shape[0] = b->how.classes;
    column->bytes = job->buffer->batch.rows * b->how.classes * sizeof(float);
    batch_set_dims(column, job->buffer->batch.rows);
    return (float *)column->data;
}

static apl_status make_labels(struct worker *w, struct job *job, const struct blend_plan *plan,
                              apl_error *err)
{
    const struct blending *b = &w->spec->options.blending;
    float *out = describe_labels(w, job);
    size_t rows = job->buffer->batch.rows;
    uint32_t own, other = 0;
    if (rows)
        TRY(class_of(w, job, rows - 1, &other, err));
    for (size_t k = 0; k < rows; k++, other = own) {
        TRY(class_of(w, job, k, &own, err));
        blend_label(plan, b->how.smoothing, own, other, b->how.classes, out + k * b->how.classes);
    }
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- images */

static struct blend_images images_of(const struct worker *w, const struct job *job)
{
    const struct blending *b = &w->spec->options.blending;
    const apl_column *c = &job->buffer->batch.columns[b->image];
    const apl_transform *t = &w->spec->options.transforms[b->image];
    bool last = t->size && t->layout == APL_NHWC && c->ndim == 3;
    const int64_t *side = c->shape + (c->ndim == 3 && !last);
    return (struct blend_images){.data = (uint8_t *)c->data,
                                 .rows = job->buffer->batch.rows,
                                 .dtype = c->dtype,
                                 .planes = c->ndim == 3 && !last ? (uint32_t)c->shape[0] : 1,
                                 .height = (uint32_t)side[0],
                                 .width = (uint32_t)side[1],
                                 .channels = last ? (uint32_t)c->shape[2] : 1};
}

apl_status blended_make(struct worker *w, struct job *job, apl_error *err)
{
    const struct reader_options *o = &w->spec->options;
    if (!o->blending.any)
        return APL_OK;
    struct blend_images images = images_of(w, job);
    struct blend_key key = blend_key(o->plan.seed, job->epoch, job->position, job->rank);
    struct blend_plan plan = blend_draw(&o->blending.how, key, images.height, images.width);
    if (!blend_apply(&w->last, &plan, &images))
        return fail_nomem(err);
    return make_labels(w, job, &plan, err);
}
