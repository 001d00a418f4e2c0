/* One image file for a caller that writes a store itself: image_maker, or mask_maker, with nothing around it. */
#include "apl_ingest.h"
#include "image_kind.h"
#include "mask_maker.h"

/* What is asked for. */
struct request {
    struct image_plan plan; /* of 0 bits: the header alone */
    bool unchecked, allow_warnings;
};

/* What the caller sees of an image stands first, so that it can be freed by that. */
struct owned_image {
    apl_image seen;
    struct made_image made;
};

const char *apl_image_remark(unsigned number)
{
    return number < REMARKS ? image_remark_text((enum image_remark)number) : NULL;
}

void apl_image_free(apl_image *image)
{
    struct owned_image *own = (struct owned_image *)(void *)image;
    if (!own)
        return;
    image_free(&own->made);
    free(own);
}

static apl_status check_arguments(const void *file, apl_image **image, unsigned bits, apl_error *err)
{
    if (!file || !image)
        return fail(err, APL_E_INVALID, "no file, or nowhere to put the image");
    if (bits != 0 && bits != 8 && bits != 16)
        return fail(err, APL_E_INVALID, "samples have 8 bits or 16, not %u", bits);
    return APL_OK;
}

/* A value of the store must have room for it: said before memory is taken. */
static apl_status check_samples(const struct image_info *info, apl_error *err)
{
    size_t bytes = raster_bytes(info);
    return bytes <= APL_MAX_VALUE
               ? APL_OK
               : fail(err, APL_E_UNSUPPORTED, "%u x %u pixels are %zu bytes, more than the %u of a value",
                      info->width, info->height, bytes, APL_MAX_VALUE);
}

/* What the header tells. */
static apl_status take_image_header(struct image_maker *maker, struct owned_image *own, bool mask,
                                    struct image_info *info, apl_error *err)
{
    const struct buffer *file = &own->made.bytes;
    struct image_decoder *decoder = image_maker_decoder(maker);
    TRY((mask ? image_decoder_probe_numbers : image_decoder_probe)(decoder, file->data, file->size, info,
                                                                   err));
    own->seen = (apl_image){.kind = image_kind(file->data, file->size),
                            .channels = info->channels,
                            .height = info->height,
                            .width = info->width,
                            .bits = info->bits,
                            .orientation = info->orientation,
                            .palette = info->palette};
    own->made.warnings = info->warnings;
    return APL_OK;
}

static void show_image(struct owned_image *own, const struct image_plan *plan)
{
    const struct made_image *made = &own->made;
    own->seen.channels = made->shape[0];
    own->seen.height = made->shape[1];
    own->seen.width = made->shape[2];
    own->seen.bits = plan->keep ? 8 : made->samples.bits;
    own->seen.data = image_value(plan, made);
    own->seen.bytes = plan->keep
                          ? made->bytes.size
                          : (size_t)made->shape[0] * made->shape[1] * made->shape[2] * (plan->bits / 8);
    for (unsigned i = 0; i < REMARKS; i++)
        own->seen.remarks |= made->remarks[i] ? 1u << i : 0;
}

static apl_status fill_image(struct owned_image *own, const struct request *r, apl_error *err)
{
    const struct image_plan *plan = &r->plan;
    struct image_info info;
    struct image_maker *maker = image_maker_new(r->allow_warnings);
    if (!maker)
        return fail_nomem(err);
    apl_status status = take_image_header(maker, own, false, &info, err);
    if (status == APL_OK && plan->bits > 0) {
        status = plan->keep ? APL_OK : check_samples(&info, err);
        if (status == APL_OK)
            status = image_make(maker, plan, r->unchecked, &own->made, err);
        if (status == APL_OK)
            show_image(own, plan);
    }
    image_maker_free(maker);
    return status;
}

/* Its numbers have as many bits as in the file. */
static apl_status fill_mask(struct owned_image *own, const struct request *r, apl_error *err)
{
    struct image_info info;
    struct image_maker *maker = image_maker_new(r->allow_warnings);
    if (!maker)
        return fail_nomem(err);
    apl_status status = take_image_header(maker, own, true, &info, err);
    if (status == APL_OK && r->plan.bits > 0) {
        const struct image_plan plan = {.mask = true, .bits = info.bits};
        status = check_samples(&info, err);
        if (status == APL_OK)
            status = mask_make(maker, &plan, NULL, &own->made, err);
        if (status == APL_OK)
            show_image(own, &plan);
    }
    image_maker_free(maker);
    return status;
}

static void show_warnings(struct owned_image *own)
{
    own->seen.warnings = own->made.warnings.count;
    own->seen.warning = own->made.warnings.count > 0 ? own->made.warnings.first : NULL;
}

static apl_status make_owned(const void *file, size_t size, const struct request *r, apl_image **image,
                             apl_error *err)
{
    struct owned_image *own = calloc(1, sizeof *own);
    apl_status status = APL_OK;
    if (own)
        buffer_put(&own->made.bytes, file, size);
    if (!own || own->made.bytes.failed)
        status = fail_nomem(err);
    else
        status = r->plan.mask ? fill_mask(own, r, err) : fill_image(own, r, err);
    if (status == APL_OK)
        show_warnings(own);
    *image = status == APL_OK ? &own->seen : NULL;
    if (status != APL_OK && own)
        apl_image_free(&own->seen);
    return status;
}

apl_status apl_image_decode(const void *file, size_t size, unsigned bits, int allow_warnings,
                            apl_image **image, apl_error *err)
{
    const struct request r = {.plan.bits = bits, .allow_warnings = allow_warnings != 0};
    apl_error own;
    err = err ? err : &own;
    TRY(check_arguments(file, image, bits, err));
    return make_owned(file, size, &r, image, err);
}

apl_status apl_image_to_jpeg(const void *file, size_t size, int unchecked, int allow_warnings,
                             apl_image **image, apl_error *err)
{
    const struct request r = {.plan = {.keep = true, .bits = 8},
                              .unchecked = unchecked != 0,
                              .allow_warnings = allow_warnings != 0};
    apl_error own;
    err = err ? err : &own;
    TRY(check_arguments(file, image, 8, err));
    return make_owned(file, size, &r, image, err);
}

apl_status apl_mask_decode(const void *file, size_t size, int header, int allow_warnings, apl_image **image,
                           apl_error *err)
{
    const struct request r = {.plan = {.mask = true, .bits = header ? 0 : 8},
                              .allow_warnings = allow_warnings != 0};
    apl_error own;
    err = err ? err : &own;
    TRY(check_arguments(file, image, r.plan.bits, err));
    return make_owned(file, size, &r, image, err);
}
