/* Numbers are decoded, and follow the image: see mask_maker.h. */
#include "mask_maker.h"

#include "resize.h"
#include "turn.h"

/* -------------------------------------------------------------------------------------------------- survey */

apl_status mask_survey_take(struct survey *s, const struct image_rules *rules, struct image_decoder *decoder,
                            const struct buffer *file, apl_error *err)
{
    struct image_info info;
    apl_error damage;
    apl_status status = image_decoder_probe_numbers(decoder, file->data, file->size, &info, &damage);
    if (status != APL_OK)
        return status == APL_E_NOMEM ? fail_nomem(err) : APL_OK;
    uint32_t shape[3] = {1, info.height, info.width}, turned[3] = {1, info.width, info.height};
    resize_size(&rules->sizes, &shape[1], &shape[2]);
    resize_size(&rules->sizes, &turned[1], &turned[2]);
    if (s->shaped++ == 0)
        memcpy(s->shape, shape, sizeof shape);
    s->varies |= memcmp(s->shape, shape, sizeof shape) != 0;
    s->varies |=
        rules->orient && memcmp(shape, turned, sizeof shape) != 0; /* its image says whether it is turned */
    s->wide += info.bits == 16;
    return APL_OK;
}

struct image_plan mask_plan(const struct survey *s, const struct image_rules *rules)
{
    struct image_plan plan = {
        .mask = true, .fixed = s->shaped > 0 && !s->varies, .bits = s->wide > 0 ? 16 : 8, .rules = *rules};
    memcpy(plan.shape, s->shape, sizeof plan.shape);
    return plan;
}

/* -------------------------------------------------------------------------------------------------- making */

static apl_status check_size_of_image(const struct raster *s, const struct masked_image *image,
                                      apl_error *err)
{
    char shown[600];
    if (!image || (s->height == image->made->height && s->width == image->made->width))
        return APL_OK;
    return fail(err, APL_E_SOURCE,
                "a mask of %u x %u pixels, and its image %s has %u x %u: a mask is as large as its image",
                s->width, s->height,
                printable(shown, sizeof shown, (const char *)image->path->data, image->path->size),
                image->made->width, image->made->height);
}

/* Of 8 bits among such of 16. */
static apl_status widen(struct raster *s, struct scratch *spare, apl_error *err)
{
    size_t n = (size_t)s->channels * s->height * s->width;
    if (!scratch_reserve(spare, 2 * n))
        return fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const uint16_t value = s->data[i];
        memcpy(spare->data + 2 * i, &value, 2);
    }
    struct scratch old = s->planes;
    s->planes = *spare;
    *spare = old;
    s->data = s->planes.data;
    s->bits = 16;
    return APL_OK;
}

/* Turns and scales it as its image was. */
static apl_status follow_image(struct image_maker *m, const struct image_rules *rules,
                               const struct masked_image *image, struct made_image *mask, apl_error *err)
{
    struct raster *s = &mask->samples;
    if (image && image->made->turned > 1) {
        TRY(raster_turn(s, image->made->turned, image_maker_spare(m), err));
        mask->remarks[REMARK_MASK_TURNED] = true;
    }
    uint32_t height = s->height, width = s->width;
    if (!resize_size(&rules->sizes, &height, &width))
        return APL_OK;
    mask->remarks[REMARK_MASK_RESIZED] = true;
    return raster_resize_nearest(s, image_maker_spare(m), height, width, err);
}

static apl_status check_mask_plan(const struct image_plan *plan, const struct made_image *mask,
                                  apl_error *err)
{
    if (mask->samples.bits != plan->bits ||
        (plan->fixed && memcmp(mask->shape, plan->shape, sizeof mask->shape) != 0))
        return fail(err, APL_E_SOURCE, "is not the mask that it was before: the file has changed");
    return APL_OK;
}

/* Would its samples be too many for a value? Checked before memory is taken. */
static apl_status check_mask_bytes(const struct image_plan *plan, const struct image_info *info,
                                   apl_error *err)
{
    uint32_t height = info->height, width = info->width;
    resize_size(&plan->rules.sizes, &height, &width);
    uint64_t bytes = (uint64_t)height * width * (plan->bits / 8);
    if (bytes > APL_MAX_VALUE)
        return fail(
            err, APL_E_UNSUPPORTED,
            "%u x %u pixels are %llu bytes, more than the %u of a value: --resize or --max-side makes "
            "images and masks smaller",
            width, height, (unsigned long long)bytes, APL_MAX_VALUE);
    return APL_OK;
}

apl_status mask_make(struct image_maker *m, const struct image_plan *plan, const struct masked_image *image,
                     struct made_image *mask, apl_error *err)
{
    struct image_info info;
    struct raster *s = &mask->samples;
    struct image_decoder *decoder = image_maker_decoder(m);
    memset(mask->remarks, 0, sizeof mask->remarks);
    TRY(image_decoder_probe_numbers(decoder, mask->bytes.data, mask->bytes.size, &info, err));
    TRY(check_mask_bytes(plan, &info, err));
    image_begin_samples(mask);
    TRY(image_decoder_read_numbers(decoder, mask->bytes.data, mask->bytes.size, &info, s, err));
    mask->warnings = info.warnings;
    if (info.orientation > 1)
        return fail(err, APL_E_SOURCE, "a mask whose EXIF says to turn it: a mask lies as its image does");
    TRY(check_size_of_image(s, image, err));
    if (s->bits == 8 && plan->bits == 16)
        TRY(widen(s, image_maker_spare(m), err));
    TRY(follow_image(m, &plan->rules, image, mask, err));
    image_maker_release(m);
    mask->remarks[REMARK_FIRST] = info.more;
    mask->remarks[REMARK_MASK_INVERSE] = info.inverse;
    memcpy(mask->shape, (const uint32_t[]){1, s->height, s->width}, sizeof mask->shape);
    return check_mask_plan(plan, mask, err);
}
