/* From kept files to rows of a batch: see photos.h. */
#include "photos.h"

#include "finish.h"
#include "follow.h"
#include "images.h"
#include "transform.h"
#include "values.h"

void photos_place(struct worker *w, const struct job *job, unsigned f)
{
    const apl_batch *batch = &job->buffer->batch;
    apl_transform after;
    struct augment a;
    photo_transform_augment(w->spec->schema, f, &w->spec->options.transforms[f], w->spec->options.plan.seed,
                            job->epoch, &after, &a);
    augment_draw(&a, batch->ids, batch->copies, batch->rows, w->placements);
}

apl_status photos_make(struct worker *w, struct job *job, const struct run_work *work, size_t k,
                       const struct photo_value *value, apl_error *err)
{
    const struct assembly *assembly = work->assembly;
    const struct placement *placement = &work->placements[k];
    unsigned f = work->field;
    const apl_batch *batch = &job->buffer->batch;
    const apl_field *field = &w->spec->schema->fields[f];
    struct crop_draws draws =
        crop_draws(w->spec->options.plan.seed, job->epoch, batch->ids[k], batch->copies[k]);
    size_t pixels = (size_t)image_shape(field).channels * assembly->height * assembly->width;
    uint8_t *rgb = scratch_reserve(&w->pixels, pixels);
    if (!rgb || (!w->photo && !(w->photo = photo_new())))
        return fail_nomem(err);
    apl_status status =
        photo_value_draw(w->photo, field, &w->spec->options.transforms[f], value, draws, rgb, err);
    if (status != APL_OK) {
        w->undecoded = (uint32_t)k;
        return values_name(w, job, f, k, status, err);
    }
    if (work->geometry)
        follow_note_photo(w, job, work, k);
    return finish_image(w, job, f, assembly, k, rgb, placement, err);
}
