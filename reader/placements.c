/* Where the crops of a finished batch fell: apl.h says for whom. */
#include "augment.h"
#include "batch.h"
#include "finish.h"
#include "images.h"
#include "photo_transform.h"
#include "transform.h"

apl_status apl_batch_placements(const apl_store *store, const apl_transform *transform, uint64_t seed,
                                const apl_batch *batch, apl_placement *placements, apl_error *err)
{
    if (!store || !transform || !batch || (batch->rows && !placements))
        return fail(err, APL_E_INVALID, "apl_batch_placements: an argument is NULL");
    if (!batch->copies)
        return fail(err, APL_E_INVALID, "apl_batch_placements: the batch is not one of a reader");
    apl_transform t;
    unsigned field = 0;
    struct augment a;
    TRY(transform_take(&t, transform, 0, err));
    const struct schema *schema = &store->manifest.schema;
    TRY(transform_geometry(schema, NULL, &t, &field, err));
    if (photo_transform_makes(&schema->fields[field], &t))
        return fail(
            err, APL_E_INVALID,
            "apl_batch_placements: the images of field %s are not of one size, or are resized, or padded by "
            "more than zeros or reflections that a crop takes",
            schema->fields[field].name);
    if (finish_needed(&t))
        return fail(err, APL_E_INVALID,
                    "apl_batch_placements: field %s is erased or turned, or its colours change, which the "
                    "reader alone does",
                    schema->fields[field].name);
    augment_init(&a, image_shape(&schema->fields[field]), image_stream(schema), &t, seed, batch->epoch);
    for (size_t i = 0; i < batch->rows; i++) {
        struct placement p;
        augment_draw(&a, &batch->ids[i], &batch->copies[i], 1, &p);
        placements[i] = (apl_placement){p.top, p.left, p.flip | p.vertical_flip << 1, p.cut_top, p.cut_left};
    }
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------ boxes */

/* A field whose crops are drawn. */
struct boxes {
    const struct schema *schema;
    unsigned field;
    apl_transform transform, after;
    struct augment augment;
    uint64_t seed;
    bool made; /* by a crop_plan(), not by the augmentation alone */
};

static apl_status init_boxes(struct boxes *b, const apl_store *store, const apl_transform *transform,
                             uint64_t epoch, apl_error *err)
{
    apl_transform *t = &b->transform;
    b->schema = &store->manifest.schema;
    TRY(transform_take(t, transform, 0, err));
    TRY(transform_geometry(b->schema, NULL, t, &b->field, err));
    const apl_field *f = &b->schema->fields[b->field];
    b->made = photo_transform_makes(f, t);
    if (b->made)
        photo_transform_augment(b->schema, b->field, t, b->seed, epoch, &b->after, &b->augment);
    else
        augment_init(&b->augment, image_shape(f), image_stream(b->schema), t, b->seed, epoch);
    return APL_OK;
}

static apl_status plan_box(const struct boxes *b, struct crop_draws draws, apl_crop_box *box, apl_error *err)
{
    struct crop_plan plan;
    TRY(photo_transform_plan(&b->transform, box->image_width, box->image_height, draws, &plan, err));
    box->left = plan.box.left;
    box->top = plan.box.top;
    box->width = plan.box.width;
    box->height = plan.box.height;
    box->resized_width = plan.width;
    box->resized_height = plan.height;
    box->crop_left = plan.window.left;
    box->crop_top = plan.window.top;
    return APL_OK;
}

/* The whole image, whose crop may begin in the padding. */
static void place_box(const struct boxes *b, const struct placement *p, apl_crop_box *box)
{
    box->left = box->top = 0;
    box->width = box->resized_width = box->image_width;
    box->height = box->resized_height = box->image_height;
    box->crop_left = p->left - (int32_t)b->transform.pad;
    box->crop_top = p->top - (int32_t)b->transform.pad;
}

static apl_status fill_box(const struct boxes *b, const apl_batch *batch, size_t row, apl_crop_box *box,
                           apl_error *err)
{
    const apl_field *f = &b->schema->fields[b->field];
    struct placement p;
    if (!is_any_size(f)) {
        box->image_width = (uint32_t)image_shape(f).width;
        box->image_height = (uint32_t)image_shape(f).height;
    }
    if (!box->image_width || !box->image_height)
        return fail(
            err, APL_E_INVALID,
            "apl_batch_boxes: images of field %s vary in size: image_width and image_height must be set",
            f->name);
    augment_draw(&b->augment, &batch->ids[row], &batch->copies[row], 1, &p);
    if (b->made)
        TRY(plan_box(b, crop_draws(b->seed, batch->epoch, batch->ids[row], batch->copies[row]), box, err));
    else
        place_box(b, &p, box);
    box->flip = p.flip | p.vertical_flip << 1;
    box->cut_left = p.cut_left;
    box->cut_top = p.cut_top;
    return APL_OK;
}

apl_status apl_batch_boxes(const apl_store *store, const apl_transform *transform, uint64_t seed,
                           const apl_batch *batch, apl_crop_box *boxes, apl_error *err)
{
    struct boxes b = {.seed = seed};
    if (!store || !transform || !batch || (batch->rows && !boxes))
        return fail(err, APL_E_INVALID, "apl_batch_boxes: an argument is NULL");
    if (!batch->copies)
        return fail(err, APL_E_INVALID, "apl_batch_boxes: the batch is not one of a reader");
    TRY(init_boxes(&b, store, transform, batch->epoch, err));
    for (size_t i = 0; i < batch->rows; i++)
        TRY(fill_box(&b, batch, i, &boxes[i], err));
    return APL_OK;
}
