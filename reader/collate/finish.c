/* Crop and flip, effects, then scale and convert: see finish.h. */
#include "finish.h"

#include "erase.h"
#include "images.h"

bool finish_needed(const apl_transform *t)
{
    return effects_any(t) || t->erase_p > 0;
}

/* The crop of an image, flipped, as planes of u8. */
static apl_status make_crop(struct worker *w, const struct assembly *assembly, unsigned channels,
                            const uint8_t *source, const struct placement *placement, struct image *crop,
                            apl_error *err)
{
    struct assembly a = *assembly;
    a.channels = channels;
    a.dtype = APL_U8;
    a.layout = APL_NCHW;
    a.cutout = 0;
    *crop = (struct image){.channels = channels, .height = a.out_height, .width = a.out_width};
    crop->pixels = scratch_reserve(&w->crop, assemble_bytes(&a));
    if (!crop->pixels)
        return fail_nomem(err);
    assemble(&a, &source, placement, 1, crop->pixels);
    return APL_OK;
}

/* The rest: what was cropped is scaled and converted. */
static void make_result(const struct assembly *assembly, const struct image *crop,
                        const struct placement *placement, void *out)
{
    struct assembly a = *assembly;
    struct placement at = {.cut_top = (int32_t)crop->height};
    const uint8_t *source = crop->pixels;
    a.height = crop->height;
    a.width = crop->width;
    a.pad = 0;
    if (placement)
        at.cut_top = placement->cut_top, at.cut_left = placement->cut_left;
    assemble(&a, &source, &at, 1, out);
}

apl_status finish_image(struct worker *w, const struct job *job, unsigned f, const struct assembly *assembly,
                        size_t k, const uint8_t *source, const struct placement *placement, apl_error *err)
{
    const apl_batch *batch = &job->buffer->batch;
    const apl_transform *t = &w->spec->options.transforms[f];
    const struct effect_draws draws =
        effect_draws(w->spec->options.plan.seed, job->epoch, batch->ids[k], batch->copies[k]);
    uint8_t *out = (uint8_t *)batch->columns[f].data + k * assemble_bytes(assembly);
    if (effects_any(t)) {
        struct image crop;
        TRY(make_crop(w, assembly, image_shape(&w->spec->schema->fields[f]).channels, source, placement,
                      &crop, err));
        TRY(effects_apply(&w->effects, t, &draws, &crop, err));
        make_result(assembly, &crop, placement, out);
    } else {
        assemble(assembly, &source, placement, 1, out);
    }
    erase_apply(t, assembly, &draws, out);
    return APL_OK;
}
