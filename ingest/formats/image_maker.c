/* Keeps, decodes or re-encodes an image: see image_maker.h. */
#include "image_maker.h"

#include "image_kind.h"
#include "jpeg_check.h"
#include "jpeg_write.h"

#define RECODED_QUALITY 100
#define KEPT_SAMPLES    ((size_t)1 << 20) /* of an image, for the next one */

struct image_maker {
    struct jpeg_decoder *jpeg;
    struct image_decoder *decoder;
};

const char *image_remark_text(enum image_remark remark)
{
    static const char *const texts[REMARKS] = {
        [REMARK_RECODED] = "images that are no JPEGs, re-encoded as JPEG at quality 100 (lossy)",
        [REMARK_QUALITY] = "images re-encoded as JPEG at the quality asked for (lossy)",
        [REMARK_NARROWED] = "images of 16 bits, reduced to 8",
        [REMARK_NO_ALPHA] = "images whose alpha was left out",
        [REMARK_FIRST] = "images of several frames or pages, of which the first was taken",
        [REMARK_PROFILE] = "images with a colour profile, which was not applied"};
    return texts[remark];
}

struct image_maker *image_maker_new(void)
{
    struct image_maker *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->jpeg = jpeg_decoder_new();
    m->decoder = image_decoder_new();
    if (m->jpeg && m->decoder)
        return m;
    image_maker_free(m);
    return NULL;
}

void image_maker_free(struct image_maker *m)
{
    if (!m)
        return;
    jpeg_decoder_free(m->jpeg);
    image_decoder_free(m->decoder);
    free(m);
}

struct image_decoder *image_maker_decoder(const struct image_maker *m)
{
    return m->decoder;
}

void image_free(struct made_image *image)
{
    buffer_free(&image->bytes);
    raster_free(&image->samples);
}

static bool is_jpeg(const struct made_image *image)
{
    const char *kind = image_kind(image->bytes.data, image->bytes.size);
    return kind && strcmp(kind, "JPEG") == 0;
}

size_t image_maker_need(struct image_maker *m, const struct image_plan *plan, const struct made_image *image)
{
    struct image_info info;
    if (plan->keep && !plan->quality && is_jpeg(image))
        return 0;
    if (image_decoder_probe(m->decoder, image->bytes.data, image->bytes.size, &info, NULL) != APL_OK)
        return 0;
    return raster_bytes(&info);
}

/* ------------------------------------------------------------------------------------------------- keeping */

/* Reads the header; decodes all of the image, if that is to be seen. */
static apl_status check_jpeg(struct jpeg_decoder *d, bool unchecked, struct made_image *image, apl_error *err)
{
    struct jpeg_info info;
    TRY(jpeg_check(d, image->bytes.data, image->bytes.size, !unchecked, &info, err));
    image->shape[0] = info.components;
    image->shape[1] = info.height;
    image->shape[2] = info.width;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------ decoding */

/* v / 257, rounded, in place. */
static void narrow(struct made_image *image)
{
    struct raster *s = &image->samples;
    size_t n = (size_t)s->channels * s->height * s->width;
    for (size_t i = 0; i < n; i++) {
        uint16_t value;
        memcpy(&value, s->data + 2 * i, 2);
        s->data[i] = (uint8_t)((value + 128u) / 257u);
    }
    s->bits = 8;
    image->remarks[REMARK_NARROWED] = true;
}

static apl_status take_samples(struct image_maker *m, const struct image_plan *plan, struct made_image *image,
                               apl_error *err)
{
    struct image_info info;
    struct raster *s = &image->samples;
    if (s->planes.size > KEPT_SAMPLES)
        raster_free(s);
    TRY(image_decoder_probe(m->decoder, image->bytes.data, image->bytes.size, &info, err));
    if (raster_bytes(&info) > APL_MAX_VALUE)
        return fail(err, APL_E_UNSUPPORTED, "%u x %u pixels are %zu bytes, more than the %u of a value",
                    info.width, info.height, raster_bytes(&info), APL_MAX_VALUE);
    TRY(image_decoder_read(m->decoder, image->bytes.data, image->bytes.size, &info, s, err));
    if (s->bits == 16 && plan->bits == 8)
        narrow(image);
    image->remarks[REMARK_FIRST] = info.more;
    image->remarks[REMARK_PROFILE] = info.profile;
    memcpy(image->shape, (const uint32_t[]){s->channels, s->height, s->width}, sizeof image->shape);
    return APL_OK;
}

static apl_status check_form(const struct image_plan *plan, const struct made_image *image, apl_error *err)
{
    const uint32_t *is = image->shape, *was = plan->shape;
    if (plan->fixed && memcmp(is, was, sizeof image->shape) != 0)
        return fail(err, APL_E_SOURCE, "has the shape {%u, %u, %u}, all others {%u, %u, %u}", is[0], is[1],
                    is[2], was[0], was[1], was[2]);
    if (image->samples.bits != plan->bits)
        return fail(err, APL_E_SOURCE, "has %u bits, all others %u", image->samples.bits, plan->bits);
    return APL_OK;
}

/* What is no JPEG among JPEGs becomes one; or all do, at the quality asked for. */
static apl_status recode(struct image_maker *m, const struct image_plan *plan, struct made_image *image,
                         apl_error *err)
{
    TRY(take_samples(m, plan, image, err));
    image->bytes.size = 0;
    image->remarks[plan->quality ? REMARK_QUALITY : REMARK_RECODED] = true;
    image->remarks[REMARK_NO_ALPHA] = image->shape[0] == 2 || image->shape[0] == 4;
    image->shape[0] = image->shape[0] < 3 ? 1 : 3;
    return jpeg_write(&image->samples, plan->quality ? plan->quality : RECODED_QUALITY, &image->bytes, err);
}

apl_status image_make(struct image_maker *m, const struct image_plan *plan, bool unchecked,
                      struct made_image *image, apl_error *err)
{
    memset(image->remarks, 0, sizeof image->remarks);
    if (plan->keep)
        return is_jpeg(image) && !plan->quality ? check_jpeg(m->jpeg, unchecked, image, err)
                                                : recode(m, plan, image, err);
    TRY(take_samples(m, plan, image, err));
    return check_form(plan, image, err);
}

const void *image_value(const struct image_plan *plan, const struct made_image *image)
{
    return plan->keep ? image->bytes.data : image->samples.data;
}
