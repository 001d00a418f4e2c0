/* What follows an image, row by row: see follow.h. */
#include "follow.h"

#include "boxes.h"
#include "delivery.h"
#include "following.h"
#include "images.h"
#include "motion.h"
#include "nearest.h"
#include "values.h"
#include "warps.h"

static struct effect_draws draws_of(const struct worker *w, const struct job *job, size_t k)
{
    const apl_batch *batch = &job->buffer->batch;
    return effect_draws(w->spec->options.plan.seed, job->epoch, batch->ids[k], batch->copies[k]);
}

/* As effects_apply() draws it. */
static void note_motion(const struct worker *w, const struct job *job, unsigned image, size_t k,
                        struct geometry *g)
{
    const apl_transform *t = &w->spec->options.transforms[image];
    const struct effect_draws draws = draws_of(w, job, k);
    g->moved = motion_draw(t, &draws, t->crop_height, t->crop_width, &g->map);
}

/* Likewise: what moves row k of an image after that. */
static apl_status draw_warps(struct worker *w, const struct job *job, unsigned image, size_t k,
                             struct warps *warps, apl_error *err)
{
    const apl_transform *t = &w->spec->options.transforms[image];
    const struct effect_draws draws = draws_of(w, job, k);
    return warps_draw(&w->effects.field, t, &draws, t->crop_height, t->crop_width, warps, err);
}

void follow_note_photo(const struct worker *w, const struct job *job, const struct run_work *work, size_t k)
{
    struct geometry *g = &work->geometry[k];
    *g = photo_geometry(w->photo);
    g->flip = work->placements[k].flip;
    g->vertical_flip = work->placements[k].vertical_flip;
    note_motion(w, job, work->field, k, g);
}

/* Without a placement, the crop is in the middle. */
void follow_note_crop(const struct worker *w, const struct job *job, const struct run_work *work, size_t k)
{
    const struct assembly *a = work->assembly;
    const struct placement *p = work->placements ? &work->placements[k] : NULL;
    struct geometry *g = &work->geometry[k];
    int32_t pad = (int32_t)a->pad, top = assemble_middle(a->height + 2 * a->pad - a->out_height),
            left = assemble_middle(a->width + 2 * a->pad - a->out_width);
    *g = geometry_window(a->width, a->height, (p ? p->left : left) - pad, (p ? p->top : top) - pad,
                         a->out_width, a->out_height);
    g->plan.padding.mode = a->pad_mode;
    g->flip = p && p->flip;
    g->vertical_flip = p && p->vertical_flip;
    note_motion(w, job, work->field, k, g);
}

/* ----------------------------------------------------------------------------------------------- masks */

static void describe_mask(const struct worker *w, struct job *job, unsigned f)
{
    const apl_field *field = &w->spec->schema->fields[f];
    const apl_transform *t = &w->spec->options.transforms[w->spec->options.follows[f].image];
    apl_column *column = &job->buffer->batch.columns[f];
    unsigned planes = following_planes(field), d = 0;
    column->dtype = field->dtype;
    if (field->ndim == 3 && field->shape[0] > 0)
        column->shape[d++] = planes;
    column->shape[d++] = t->crop_height;
    column->shape[d++] = t->crop_width;
    column->ndim = d;
    column->bytes =
        job->buffer->batch.rows * planes * t->crop_height * t->crop_width * apl_dtype_size(field->dtype);
    batch_set_dims(column, job->buffer->batch.rows);
}

static apl_status check_mask_size(const struct geometry *g, uint32_t width, uint32_t height, apl_error *err)
{
    if (width == g->width && height == g->height)
        return APL_OK;
    return fail(err, APL_E_INVALID,
                "a mask of %u x %u pixels, of an image of %u x %u: if it is none, leave it out of the fields",
                width, height, g->width, g->height);
}

/* A file, as large as its image, of which one plane is taken: grey has three that are alike. */
static apl_status decode_mask(struct worker *w, const struct geometry *g, const struct photo_value *value,
                              const uint8_t **mask, apl_error *err)
{
    size_t plane = (size_t)g->width * g->height;
    const struct crop_plan whole = geometry_window(g->width, g->height, 0, 0, g->width, g->height).plan;
    uint8_t *rgb = scratch_reserve(&w->pixels, PHOTO_CHANNELS * plane);
    if (!rgb || (!w->photo && !(w->photo = photo_new())))
        return fail_nomem(err);
    apl_status status =
        value->is_indexed
            ? photo_make_indexed(w->photo, value->data, value->bytes, &whole, JPEG_CHROMA_PLANES, rgb, err)
            : photo_make(w->photo, value->data, value->bytes, &whole, JPEG_CHROMA_PLANES, rgb, err);
    struct geometry own = photo_geometry(w->photo);
    if (status == APL_OK || status == APL_E_MISMATCH)
        TRY(check_mask_size(g, own.width, own.height, err));
    TRY(status);
    if (memcmp(rgb, rgb + plane, plane) != 0 || memcmp(rgb, rgb + 2 * plane, plane) != 0)
        return fail(err, APL_E_INVALID, "a mask of colours; wanted: a grey image");
    *mask = rgb;
    return APL_OK;
}

/* Where the mask of row k lies, with as many pixels as its image. */
static apl_status take_mask(struct worker *w, struct job *job, unsigned f, size_t k, const struct geometry *g,
                            const uint8_t **mask, apl_error *err)
{
    const apl_field *field = &w->spec->schema->fields[f];
    struct photo_value photo;
    int64_t shape[APL_MAX_DIMS];
    if (field_varying(field) == 0) {
        uint32_t nth, copy, index = delivery_block(w->spec, job->deliveries[k], &nth, &copy);
        const struct cached_block *b = standing_block(w->standing, job->epoch, index);
        *mask = slab_value(&w->standing->slab, f, cached_slot(b, &w->spec->subset.block[index], nth));
        return check_mask_size(g, (uint32_t)field->shape[field->ndim - 1],
                               (uint32_t)field->shape[field->ndim - 2], err);
    }
    if (is_photo(field)) {
        TRY(values_take_photo(w, job, f, k, &photo, err));
        apl_status status = decode_mask(w, g, &photo, mask, err);
        w->undecoded = status == APL_OK || status == APL_E_NOMEM ? w->undecoded : (uint32_t)k;
        return status;
    }
    values_shape(w, job, f, k, shape);
    TRY(check_mask_size(g, (uint32_t)shape[field->ndim - 1], (uint32_t)shape[field->ndim - 2], err));
    if (field->ndim == 3 && field->shape[0] < 0 && shape[0] != 1)
        return fail(err, APL_E_INVALID, "a mask of %lld channels; wanted: 1", (long long)shape[0]);
    return values_take(w, job, f, k, mask, err);
}

/* The mask of an image, as it follows; `out` is a row of the batch. */
static apl_status make_mask(struct worker *w, unsigned f, const struct geometry *g, const struct warps *warps,
                            const uint8_t *mask, size_t bytes, uint8_t *out, apl_error *err)
{
    const apl_field *field = &w->spec->schema->fields[f];
    const struct follow *follow = &w->spec->options.follows[f];
    struct nearest_planes planes = {following_planes(field), apl_dtype_size(field->dtype),
                                    follow->fills[FILL_PADDED]};
    unsigned moves = g->moved + warps->count;
    uint8_t *spare = moves ? scratch_reserve(&w->crop, bytes) : out;
    uint8_t *from = moves % 2 ? spare : out, *to = moves % 2 ? out : spare; /* the last is to `out` */
    if (!spare || !nearest_take(&w->places, g, &planes, mask, from))
        return fail_nomem(err);
    for (unsigned i = 0; i < moves; i++) {
        unsigned which = i - g->moved;
        if (g->moved && i == 0) {
            planes.fill = follow->fills[FILL_AFFINE];
            nearest_move(g, &planes, from, to);
        } else {
            planes.fill = follow->fills[warps->elastic[which] ? FILL_ELASTIC : FILL_PERSPECTIVE];
            nearest_warp(&warps->all[which], g, &planes, from, to);
        }
        uint8_t *made = to;
        to = from;
        from = made;
    }
    return APL_OK;
}

static apl_status make_masks(struct worker *w, struct job *job, const struct run_work *work, size_t from,
                             size_t to, apl_error *err)
{
    unsigned f = work->field;
    const apl_column *column = &job->buffer->batch.columns[f];
    size_t row = column->bytes / job->buffer->batch.rows;
    for (size_t k = from; k < to; k++) {
        const uint8_t *mask;
        struct warps warps;
        const struct geometry *g = &work->geometry[k];
        apl_status status = take_mask(w, job, f, k, g, &mask, err);
        if (status != APL_OK)
            return values_name(w, job, f, k, status, err);
        TRY(draw_warps(w, job, w->spec->options.follows[f].image, k, &warps, err));
        TRY(make_mask(w, f, g, &warps, mask, row, (uint8_t *)column->data + k * row, err));
    }
    return APL_OK;
}

apl_status follow_mask(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    const apl_batch *batch = &job->buffer->batch;
    describe_mask(w, job, f);
    if (batch->rows == 0)
        return APL_OK;
    struct run_work work = {.make = make_masks,
                            .field = f,
                            .geometry = w->geometry,
                            .step = run_step_made(batch->columns[f].bytes / batch->rows)};
    return w->share(w, job, &work, err);
}

/* ----------------------------------------------------------------------------------------------- boxes */

/* How many elements the record of row k has, before any are left out. */
static size_t first_length(const struct worker *w, const struct job *job, unsigned f, size_t k)
{
    int64_t shape[APL_MAX_DIMS];
    values_shape(w, job, f, k, shape);
    return (size_t)shape[0];
}

/* Makes room for the values of a batch, of which there are as many as records have at most. */
static apl_status made_begin(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    const apl_transform *t = &w->spec->options.transforms[w->spec->options.follows[f].image];
    bool planes = w->spec->options.follows[f].as == FOLLOW_PLANES;
    struct made_values *made = &w->made[f];
    size_t bytes = 0, elements = 0;
    made->any = false; /* the records' own are measured */
    for (size_t k = 0; k < job->buffer->batch.rows; k++) {
        size_t n = first_length(w, job, f, k);
        bytes += planes ? n * following_plane_bytes(w->spec, f) : values_bytes(w, job, f, k);
        elements += n;
    }
    made->sides[0] = planes ? t->crop_height : 0;
    made->sides[1] = planes ? t->crop_width : 0;
    if (!made->starts)
        made->starts = calloc(w->spec->options.batch_size + 1, sizeof *made->starts);
    bool room = made->starts && scratch_reserve(&made->values, bytes) &&
                scratch_reserve(&made->which, elements * sizeof(uint32_t));
    return room ? APL_OK : fail_nomem(err);
}

/* So many elements of `unit` bytes are those of row k. */
static void made_end(struct made_values *made, size_t k, size_t elements, size_t unit)
{
    const struct made_start *start = &made->starts[k];
    made->starts[k + 1] =
        (struct made_start){start->elements + elements, start->bytes + (uint64_t)elements * unit};
}

/* Moved as the image of row k, but not yet left out. */
static apl_status move_boxes(struct worker *w, const struct job *job, const struct follow *follow, size_t k,
                             size_t n, float *boxes, apl_error *err)
{
    apl_form form = follow->form;
    const struct geometry *g = &w->geometry[k];
    struct warps warps;
    TRY(draw_warps(w, job, follow->image, k, &warps, err));
    boxes_follow(g, form, warps.count > 0, boxes, n, boxes);
    for (unsigned i = 0; i < warps.count; i++)
        boxes_warp(&warps.all[i], g->plan.window.width, g->plan.window.height, form, boxes, n);
    return APL_OK;
}

/* The boxes of row k after those before, and which of the record's they are. */
static apl_status follow_row(struct worker *w, struct job *job, unsigned f, size_t k, apl_error *err)
{
    const struct follow *follow = &w->spec->options.follows[f];
    const apl_transform *t = &w->spec->options.transforms[follow->image];
    struct made_values *made = &w->made[f];
    const struct geometry *g = &w->geometry[k];
    size_t n = first_length(w, job, f, k), kept = 0;
    const uint8_t *value;
    uint32_t *which = (uint32_t *)(void *)made->which.data + made->starts[k].elements;
    TRY(values_take(w, job, f, k, &value, err));
    const size_t unit = BOX_NUMBERS * sizeof(float);
    float *boxes = (float *)(void *)(made->values.data + made->starts[k].bytes);
    if (n)
        memcpy(boxes, value, n * unit);
    TRY(move_boxes(w, job, follow, k, n, boxes, err));
    bool removes = t->box_min_size > 0 || t->box_min_area > 0;
    for (size_t i = 0; i < n; i++) {
        const float *box = boxes + i * BOX_NUMBERS;
        if (removes && !boxes_keep(g, follow->form, t->box_min_size, t->box_min_area, box))
            continue;
        memmove(boxes + kept * BOX_NUMBERS, box, unit);
        which[kept++] = (uint32_t)i;
    }
    made_end(made, k, kept, unit);
    return APL_OK;
}

/* Of all `n` elements that a field has in row k, those that go with boxes which were kept, or, without boxes, all. */
struct chosen {
    size_t n, kept;
    const uint32_t *which; /* NULL: all */
};

static apl_status choose_elements(struct worker *w, struct job *job, unsigned f, size_t k, struct chosen *c,
                                  apl_error *err)
{
    const struct follow *follow = &w->spec->options.follows[f];
    const struct made_values *boxes = &w->made[follow->boxes];
    *c = (struct chosen){.n = first_length(w, job, f, k)};
    c->kept = c->n;
    if (follow->as == FOLLOW_PLANES && !follow->per_boxes)
        return APL_OK;
    size_t due = first_length(w, job, follow->boxes, k);
    if (c->n != due)
        return fail(err, APL_E_INVALID, "%s for %s: as many are wanted", number_of(c->n, "value", "values"),
                    number_of(due, "box", "boxes"));
    c->kept = (size_t)(boxes->starts[k + 1].elements - boxes->starts[k].elements);
    c->which = (const uint32_t *)(void *)boxes->which.data + boxes->starts[k].elements;
    return APL_OK;
}

/* Row k of a field that has an element for each box. */
static apl_status follow_with(struct worker *w, struct job *job, unsigned f, size_t k, apl_error *err)
{
    struct made_values *made = &w->made[f];
    const uint8_t *value;
    struct chosen c;
    TRY(choose_elements(w, job, f, k, &c, err));
    TRY(values_take(w, job, f, k, &value, err));
    const size_t unit =
        c.n ? values_bytes(w, job, f, k) / c.n : 0; /* its other dimensions may differ by record */
    uint8_t *out = made->values.data + made->starts[k].bytes;
    for (size_t i = 0; i < c.kept && unit; i++)
        memcpy(out + i * unit, value + c.which[i] * unit, unit);
    made_end(made, k, c.kept, unit);
    return APL_OK;
}

/* Row k of planes, each of which is a mask of its own. */
static apl_status follow_planes(struct worker *w, struct job *job, unsigned f, size_t k, apl_error *err)
{
    struct made_values *made = &w->made[f];
    const struct geometry *g = &w->geometry[k];
    const size_t plane = (size_t)g->width * g->height * apl_dtype_size(w->spec->schema->fields[f].dtype),
                 unit = following_plane_bytes(w->spec, f);
    int64_t shape[APL_MAX_DIMS];
    const uint8_t *value;
    struct warps warps;
    struct chosen c;
    TRY(choose_elements(w, job, f, k, &c, err));
    values_shape(w, job, f, k, shape);
    if (c.n)
        TRY(check_mask_size(g, (uint32_t)shape[2], (uint32_t)shape[1], err));
    TRY(values_take(w, job, f, k, &value, err));
    TRY(draw_warps(w, job, w->spec->options.follows[f].image, k, &warps, err));
    uint8_t *out = made->values.data + made->starts[k].bytes;
    for (size_t i = 0; i < c.kept; i++)
        TRY(make_mask(w, f, g, &warps, value + (c.which ? c.which[i] : i) * plane, unit, out + i * unit,
                      err));
    made_end(made, k, c.kept, unit);
    return APL_OK;
}

static apl_status follow_all(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    enum follow_as as = w->spec->options.follows[f].as;
    for (size_t k = 0; k < job->buffer->batch.rows; k++) {
        apl_status status = as == FOLLOW_BOXES    ? follow_row(w, job, f, k, err)
                            : as == FOLLOW_PLANES ? follow_planes(w, job, f, k, err)
                                                  : follow_with(w, job, f, k, err);
        if (status != APL_OK)
            return values_name(w, job, f, k, status, err);
    }
    return APL_OK;
}

void follow_describe_planes(const struct worker *w, struct job *job, unsigned f)
{
    apl_column *column = &job->buffer->batch.columns[f];
    column->shape[1] = w->made[f].sides[0];
    column->shape[2] = w->made[f].sides[1];
}

static bool is_of_image(const struct follow *follow, unsigned image)
{
    return follow->as >= FOLLOW_BOXES && follow->image == image;
}

apl_status follow_boxes(struct worker *w, struct job *job, unsigned image, apl_error *err)
{
    const struct follow *follows = w->spec->options.follows;
    unsigned fields = w->spec->schema->count;
    for (unsigned f = 0; f < fields; f++)
        if (is_of_image(&follows[f], image))
            TRY(made_begin(w, job, f, err));
    for (unsigned f = 0; f < fields; f++)
        if (is_of_image(&follows[f], image) && follows[f].as == FOLLOW_BOXES)
            TRY(follow_all(w, job, f, err));
    for (unsigned f = 0; f < fields; f++)
        if (is_of_image(&follows[f], image) && follows[f].as != FOLLOW_BOXES)
            TRY(follow_all(w, job, f, err));
    for (unsigned f = 0; f < fields; f++)
        if (is_of_image(&follows[f], image))
            w->made[f].any = true;
    return APL_OK;
}
