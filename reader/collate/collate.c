/* From slots into a batch: see collate.h. */
#include "collate.h"

#include "blended.h"
#include "delivery.h"
#include "finish.h"
#include "follow.h"
#include "graph.h"
#include "images.h"
#include "late.h"
#include "late_fields.h"
#include "left_out.h"
#include "packed.h"
#include "padded.h"
#include "photo_transform.h"
#include "photos.h"
#include "receipt.h"
#include "sizes.h"
#include "stage.h"
#include "values.h"
#include "windowed.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ rows */

/* Fills in ids and copies, and sorts the deliveries: those of rows first, those that are left out because
 * their block is bad last. */
static void list_rows(const struct worker *w, struct job *job)
{
    struct batch_buffer *buffer = job->buffer;
    apl_batch *batch = &buffer->batch;
    const uint32_t *cumulative = delivery_sample(w->spec, job->epoch);
    uint32_t *copies = (uint32_t *)batch->copies;
    size_t rows = 0, skipped = 0;
    for (uint32_t k = 0; k < job->rows; k++) {
        uint32_t nth, copy, index = delivery_block(w->spec, job->deliveries[k], &nth, &copy);
        const struct subset_block *block = &w->spec->subset.block[index];
        uint64_t id = block->first_id + (block->chosen ? block->chosen[nth] : nth);
        uint32_t number = delivery_number(w->spec, cumulative, index, nth, copy);
        if (standing_block(w->standing, job->epoch, index)->stage == BLOCK_BAD) {
            buffer->skipped[skipped++] = id;
            buffer->delivered[job->rows - skipped] = job->deliveries[k];
            buffer->numbers[job->rows - skipped] = number;
            continue;
        }
        batch->ids[rows] = id;
        copies[rows] = copy;
        buffer->numbers[rows] = number;
        buffer->delivered[rows++] = job->deliveries[k];
    }
    memcpy(job->deliveries, buffer->delivered, job->rows * sizeof *job->deliveries);
    buffer->finished = job->rows;
    batch->skipped_count = skipped;
    batch->rows = rows;
    batch->epoch = job->epoch;
    batch->position = job->position;
}

/* ---------------------------------------------------------------------------------------------- images */

/* What rows of a field are made from, which is this thread's. */
static struct run_work work_of(const struct worker *w, unsigned f, const struct assembly *assembly)
{
    return (struct run_work){.field = f,
                             .assembly = assembly,
                             .sources = w->sources,
                             .placements = w->placements,
                             .geometry = w->geometry};
}

static apl_status make_images(struct worker *w, struct job *job, const struct run_work *work, size_t from,
                              size_t to, apl_error *err)
{
    const struct placement *placements = work->placements;
    const apl_column *column = &job->buffer->batch.columns[work->field];
    for (size_t k = from; work->geometry && k < to; k++)
        follow_note_crop(w, job, work, k);
    if (!finish_needed(&w->spec->options.transforms[work->field])) {
        assemble(work->assembly, work->sources + from, placements ? placements + from : NULL, to - from,
                 (uint8_t *)column->data + from * assemble_bytes(work->assembly));
        return APL_OK;
    }
    for (size_t k = from; k < to; k++)
        TRY(finish_image(w, job, work->field, work->assembly, k, work->sources[k],
                         placements ? &placements[k] : NULL, err));
    return APL_OK;
}

static apl_status collate_images(struct worker *w, struct job *job, unsigned f,
                                 const struct assembly *assembly, apl_error *err)
{
    const apl_batch *batch = &job->buffer->batch;
    struct augment a;
    struct run_work work = work_of(w, f, assembly);
    augment_init(&a, image_shape(&w->spec->schema->fields[f]), image_stream(w->spec->schema),
                 &w->spec->options.transforms[f], w->spec->options.plan.seed, job->epoch);
    if (augment_is_random(&a))
        augment_draw(&a, batch->ids, batch->copies, batch->rows, w->placements);
    else
        work.placements = NULL;
    size_t bytes = assemble_bytes(assembly);
    work.make = make_images;
    work.step =
        finish_needed(&w->spec->options.transforms[f]) ? run_step_made(bytes) : run_step_copied(bytes);
    return w->share(w, job, &work, err);
}

/* --------------------------------------------------------------------------------------------- columns */

static void describe_column(const struct worker *w, struct job *job, unsigned f,
                            const struct assembly *assembly)
{
    const apl_field *field = &w->spec->schema->fields[f];
    apl_column *column = &job->buffer->batch.columns[f];
    column->dtype = field->dtype;
    column->ndim = field->ndim;
    memcpy(column->shape, field->shape, sizeof column->shape);
    column->bytes = job->buffer->batch.rows * field->value_bytes;
    column->how = w->spec->options.collations[f].how;
    batch_set_dims(column, job->buffer->batch.rows);
    if (!assembly)
        return;
    column->dtype = assembly->dtype;
    column->ndim = is_any_size(field) ? 3 : field->ndim;
    int64_t *side = column->shape + (column->ndim == 3 && assembly->layout == APL_NCHW); /* of the two */
    side[0] = assembly->out_height;
    side[1] = assembly->out_width;
    if (column->ndim == 3)
        column->shape[assembly->layout == APL_NCHW ? 0 : 2] = assembly->channels;
    column->bytes = job->buffer->batch.rows * assemble_bytes(assembly);
    batch_set_dims(column, job->buffer->batch.rows);
}

/* The time since `begin` was spent on images, except for what went into reading; `reading`: what had by then. */
static void spend_on_images(struct worker *w, uint64_t begin, uint64_t reading, size_t rows)
{
    uint64_t end = now_ns();
    w->spent.images += end - begin - (w->spent.reading - reading);
    trace_span("images", begin, end, "rows", rows);
}

/* Images that are resized. */
static apl_status make_resized(struct worker *w, struct job *job, const struct run_work *work, size_t from,
                               size_t to, apl_error *err)
{
    struct photo_value value = {.data = NULL};
    apl_status status = APL_OK;
    uint64_t begin = now_ns(), reading = w->spent.reading;
    photo_value_fixed_shape(&w->spec->schema->fields[work->field], &value);
    for (size_t k = from; k < to && status == APL_OK; k++) {
        value.data = work->sources[k];
        status = photos_make(w, job, work, k, &value, err);
    }
    spend_on_images(w, begin, reading, to - from);
    return status;
}

static apl_status collate_resized(struct worker *w, struct job *job, unsigned f,
                                  const struct assembly *assembly, apl_error *err)
{
    struct run_work work = work_of(w, f, assembly);
    work.make = make_resized;
    work.step = run_step_made(assemble_bytes(assembly));
    photos_place(w, job, f);
    return w->share(w, job, &work, err);
}

static apl_status collate_fixed(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    const apl_batch *batch = &job->buffer->batch;
    struct assembly assembly;
    bool transformed = sizes_assembly(w->spec, f, &assembly);
    for (size_t k = 0; k < batch->rows; k++) {
        uint32_t nth, copy, index = delivery_block(w->spec, job->deliveries[k], &nth, &copy);
        const struct cached_block *b = standing_block(w->standing, job->epoch, index);
        w->sources[k] = slab_value(&w->standing->slab, f, cached_slot(b, &w->spec->subset.block[index], nth));
    }
    describe_column(w, job, f, transformed ? &assembly : NULL);
    if (transformed && photo_transform_makes(&w->spec->schema->fields[f], &w->spec->options.transforms[f]))
        return collate_resized(w, job, f, &assembly, err);
    if (transformed)
        return collate_images(w, job, f, &assembly, err);
    gather(w->sources, w->spec->schema->fields[f].value_bytes, batch->rows, (void *)batch->columns[f].data);
    return APL_OK;
}

/* Shapes of all rows, and where their values begin in the batch, in elements. */
static void measure_ragged(const struct worker *w, const struct job *job, unsigned f, uint64_t *offsets,
                           int64_t *shapes)
{
    const apl_field *field = &w->spec->schema->fields[f];
    size_t element = apl_dtype_size(field->dtype);
    offsets[0] = 0;
    for (size_t k = 0; k < job->buffer->batch.rows; k++) {
        offsets[k + 1] = offsets[k] + values_bytes(w, job, f, k) / element;
        values_shape(w, job, f, k, shapes + k * field->ndim);
    }
}

/* The values of all rows as one array. */
static void describe_ragged(apl_column *column, uint64_t elements)
{
    size_t unit = 1;
    bool ragged = column->how != APL_COLLATE_NONE;
    for (unsigned d = 1; ragged && d < column->ndim; d++)
        unit *= (size_t)column->shape[d];
    batch_set_dims(column, 0);
    column->dims = ragged ? column->ndim : 1;
    for (unsigned d = 1; d < column->dims; d++)
        column->dim[d] = column->shape[d];
    column->dim[0] = (int64_t)(unit ? elements / unit : 0);
    column->bytes = (size_t)elements * apl_dtype_size(column->dtype);
}

static apl_status copy_values(struct worker *w, struct job *job, const struct run_work *work, size_t from,
                              size_t to, apl_error *err)
{
    const apl_column *column = &job->buffer->batch.columns[work->field];
    size_t element = apl_dtype_size(w->spec->schema->fields[work->field].dtype);
    for (size_t k = from; k < to; k++) {
        values_expect(w, job, work->field, k, to);
        TRY(values_copy(w, job, work->field, k, (uint8_t *)column->data + column->offsets[k] * element, err));
    }
    return APL_OK;
}

static apl_status collate_ragged(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    const apl_field *field = &w->spec->schema->fields[f];
    apl_batch *batch = &job->buffer->batch;
    apl_column *column = &batch->columns[f];
    size_t n = w->spec->options.batch_size;
    if (!column->offsets)
        column->offsets = calloc(n + 1, sizeof *column->offsets);
    if (!column->shapes)
        column->shapes = calloc(n * field->ndim, sizeof *column->shapes);
    uint64_t *offsets = (uint64_t *)column->offsets;
    int64_t *shapes = (int64_t *)column->shapes;
    if (!offsets || !shapes)
        return fail_nomem(err);
    measure_ragged(w, job, f, offsets, shapes);
    describe_ragged(column, offsets[batch->rows]);
    if (!pool_grow(job->buffer, f, column->bytes + 64))
        return fail_nomem(err);
    size_t bytes = column->bytes / (batch->rows + 1);
    struct run_work work = work_of(w, f, NULL);
    work.make = copy_values;
    work.step = late_is_any(w->spec, f) ? 1 : run_step_copied(bytes);
    return w->share(w, job, &work, err);
}

/* The shape of a row's value, of a field of varying images. */
static void take_photo_shape(const struct worker *w, const struct job *job, unsigned f, size_t row,
                             struct photo_value *value)
{
    int64_t shape[APL_MAX_DIMS];
    const apl_field *field = &w->spec->schema->fields[f];
    values_shape(w, job, f, row, shape);
    for (unsigned d = 0; is_varying_image(field) && d < 3; d++)
        value->shape[d] = (uint32_t)shape[d];
}

/* Images of any size with a transform. */
static apl_status make_each_photo(struct worker *w, struct job *job, const struct run_work *work, size_t from,
                                  size_t to, apl_error *err)
{
    for (size_t k = from; k < to; k++) {
        struct photo_value value = {.data = NULL};
        TRY(values_take_photo(w, job, work->field, k, &value, err));
        take_photo_shape(w, job, work->field, k, &value);
        TRY(photos_make(w, job, work, k, &value, err));
    }
    return APL_OK;
}

static apl_status make_photos(struct worker *w, struct job *job, const struct run_work *work, size_t from,
                              size_t to, apl_error *err)
{
    uint64_t begin = now_ns(), reading = w->spent.reading;
    apl_status status = make_each_photo(w, job, work, from, to, err);
    spend_on_images(w, begin, reading, to - from);
    return status;
}

static apl_status collate_photos(struct worker *w, struct job *job, unsigned f,
                                 const struct assembly *assembly, apl_error *err)
{
    struct run_work work = work_of(w, f, assembly);
    work.make = make_photos;
    work.step = run_step_made(assemble_bytes(assembly));
    describe_column(w, job, f, assembly);
    photos_place(w, job, f);
    return w->share(w, job, &work, err);
}

static apl_status collate_varying(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    struct assembly assembly;
    if (sizes_assembly(w->spec, f, &assembly))
        return collate_photos(w, job, f, &assembly, err);
    apl_collate how = w->spec->options.collations[f].how;
    describe_column(w, job, f, NULL);
    if (w->spec->options.follows[f].as == FOLLOW_PLANES)
        follow_describe_planes(w, job, f);
    if (how == APL_COLLATE_PAD)
        return padded_collate(w, job, f, err);
    if (how == APL_COLLATE_EDGE_INDEX)
        return graph_edges(w, job, f, err);
    if (how == APL_COLLATE_PACK)
        return packed_collate(w, job, f, err);
    if (how == APL_COLLATE_WINDOWS)
        return windowed_collate(w, job, f, err);
    return collate_ragged(w, job, f, err);
}

/* What follows the images of a field that has just been collated. */
static apl_status collate_followers(struct worker *w, struct job *job, unsigned image, apl_error *err)
{
    TRY(follow_boxes(w, job, image, err));
    for (unsigned f = 0; f < w->spec->schema->count; f++) {
        if (w->spec->options.follows[f].as == FOLLOW_NOTHING || w->spec->options.follows[f].image != image)
            continue;
        if (w->spec->options.follows[f].as == FOLLOW_MASK)
            TRY(follow_mask(w, job, f, err));
        else
            TRY(collate_varying(w, job, f, err));
    }
    return APL_OK;
}

static apl_status collate_field(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    if (field_varying(&w->spec->schema->fields[f]) > 0)
        TRY(collate_varying(w, job, f, err));
    else
        TRY(collate_fixed(w, job, f, err));
    return w->spec->options.followed ? collate_followers(w, job, f, err) : APL_OK;
}

/* ---------------------------------------------------------------------------------------------- the batch */

/* Reads what a batch reads late, which is kept, and makes nothing of it. */
static apl_status stage_values(struct worker *w, struct job *job, apl_error *err)
{
    for (unsigned f = 0; f < w->spec->schema->count; f++)
        if (w->spec->options.wanted[f])
            TRY(late_read_all(w, job, f, err));
    return stage_is_kept(w->spec, err);
}

static apl_status collate_columns(struct worker *w, struct job *job, apl_error *err)
{
    if (w->spec->options.stages)
        return stage_values(w, job, err);
    job->made = w->made;
    for (unsigned f = 0; f < w->spec->schema->count; f++)
        if (w->spec->options.wanted[f] && w->spec->options.follows[f].as == FOLLOW_NOTHING &&
            !blended_is_label(w, f))
            TRY(collate_field(w, job, f, err));
    return blended_make(w, job, err);
}

apl_status collate_batch(struct worker *w, struct job *job, apl_error *err)
{
    if (w->spec->options.pack.row)
        packed_list(w, job);
    else
        list_rows(w, job);
    if (w->spec->options.windows.length)
        windowed_list(w, job);
    apl_status status;
    do {
        w->undecoded = NOT_UNDECODED;
        status = collate_columns(w, job, err);
    } while (status != APL_OK && w->undecoded != NOT_UNDECODED &&
             left_out_drop(w->spec, job, w->undecoded, status));
    TRY(status);
    if (w->spec->options.pack.row && !w->spec->options.pack.no_segments)
        TRY(packed_parts(w, job, err));
    TRY(graph_finish(w, job, err));
    receipt_take(w->spec, job);
    return APL_OK;
}
