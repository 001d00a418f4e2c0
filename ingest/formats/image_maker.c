/* Keeps, decodes or re-encodes an image: see image_maker.h. */
#include "image_maker.h"

#include "image_kind.h"
#include "jpeg_check.h"
#include "jpeg_write.h"
#include "resize.h"
#include "turn.h"

#define RECODED_QUALITY 100 /* of what is no JPEG */
#define TURNED_QUALITY  95
#define RESIZED_QUALITY 90
#define KEPT_SAMPLES    ((size_t)1 << 20) /* of an image, for the next one */

struct image_maker {
    struct jpeg_decoder *jpeg;
    struct image_decoder *decoder;
    struct resizer resizer;
    struct scratch spare;
    bool allow_warnings;
};

const char *image_remark_text(enum image_remark remark)
{
    static const char *const texts[REMARKS] = {
        [REMARK_RECODED] = "images that are not JPEGs, re-encoded as JPEG at quality 100 (lossy)",
        [REMARK_MENDED] =
            "damaged JPEGs, stored as baseline ones of what libjpeg reads of them (not the same bytes)",
        [REMARK_BASELINE] =
            "progressive images stored as baseline JPEGs of the same coefficients (not the same bytes)",
        [REMARK_QUALITY] = "images re-encoded as JPEG at the quality asked for (lossy)",
        [REMARK_RESIZED] = "images resized",
        [REMARK_RESIZED_JPEG] = "images resized, and re-encoded as JPEG at quality 90 (lossy)",
        [REMARK_TURNED] = "images made upright",
        [REMARK_TURNED_JPEG] = "images made upright, and re-encoded as JPEG at quality 95 (lossy)",
        [REMARK_NARROWED] = "images of 16 bits, reduced to 8",
        [REMARK_NO_ALPHA] = "images whose alpha was left out",
        [REMARK_SIDEWAYS] = "images that their EXIF says to turn, which was not done (--orient does)",
        [REMARK_FIRST] = "images of several frames or pages, only the first of which was stored",
        [REMARK_PROFILE] = "images with a colour profile, which was not applied",
        [REMARK_MASK_RESIZED] = "masks resized, by nearest neighbour",
        [REMARK_MASK_TURNED] = "masks turned like their images",
        [REMARK_MASK_INVERSE] = "masks that show 0 as white, whose numbers were kept as the files have them"};
    return texts[remark];
}

struct image_maker *image_maker_new(bool allow_warnings)
{
    struct image_maker *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->allow_warnings = allow_warnings;
    m->jpeg = jpeg_decoder_new();
    m->decoder = image_decoder_new();
    if (!m->jpeg || !m->decoder) {
        image_maker_free(m);
        return NULL;
    }
    image_decoder_allow_warnings(m->decoder, allow_warnings);
    return m;
}

void image_maker_free(struct image_maker *m)
{
    if (!m)
        return;
    jpeg_decoder_free(m->jpeg);
    image_decoder_free(m->decoder);
    resizer_free(&m->resizer);
    scratch_free(&m->spare);
    free(m);
}

struct image_decoder *image_maker_decoder(const struct image_maker *m)
{
    return m->decoder;
}

struct scratch *image_maker_spare(struct image_maker *m)
{
    return &m->spare;
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

/* Is there a rule that may change a JPEG file? */
static bool changes_any(const struct image_rules *rules)
{
    const struct image_sizes *sizes = &rules->sizes;
    return rules->quality || rules->orient || sizes->shorter || sizes->width || sizes->height ||
           sizes->longest;
}

size_t image_maker_need(struct image_maker *m, const struct image_plan *plan, const struct made_image *image)
{
    struct image_info info;
    if (plan->keep && !changes_any(&plan->rules) && is_jpeg(image))
        return 0;
    if (image_decoder_probe(m->decoder, image->bytes.data, image->bytes.size, &info, NULL) != APL_OK)
        return 0;
    return raster_bytes(&info);
}

/* ------------------------------------------------------------------------------------------------- keeping */

/* Of an image that is left as it lies. */
static void tell_orientation(struct made_image *image, unsigned orientation)
{
    image->orientation = (uint8_t)orientation;
    image->remarks[REMARK_SIDEWAYS] = orientation > 1;
}

/* What is seen to decode, and becomes another file, must decode as that. */
static apl_status make_baseline(struct jpeg_decoder *d, bool unchecked, struct made_image *image,
                                struct jpeg_info *info, apl_error *err)
{
    if (unchecked)
        TRY(jpeg_check(d, image->bytes.data, image->bytes.size, true, info, err));
    if (image->warnings.count > 0)
        return APL_OK;
    TRY(jpeg_make_baseline(&image->bytes, false, err));
    image->remarks[REMARK_BASELINE] = true;
    return jpeg_check(d, image->bytes.data, image->bytes.size, true, info, err);
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

static void release_large(struct scratch *memory)
{
    if (memory->size > KEPT_SAMPLES)
        scratch_free(memory);
}

void image_begin_samples(struct made_image *image)
{
    if (image->samples.planes.size > KEPT_SAMPLES)
        raster_free(&image->samples);
}

void image_maker_release(struct image_maker *m)
{
    release_large(&m->spare);
    release_large(&m->resizer.samples);
    release_large(&m->resizer.values);
}

/* Turns and scales what was decoded. */
static apl_status shape_samples(struct image_maker *m, const struct image_rules *rules, unsigned orientation,
                                struct made_image *image, apl_error *err)
{
    struct raster *s = &image->samples;
    if (rules->orient && orientation > 1) {
        TRY(raster_turn(s, orientation, &m->spare, err));
        image->remarks[REMARK_TURNED] = true;
    }
    uint32_t height = s->height, width = s->width;
    if (resize_size(&rules->sizes, &height, &width)) {
        TRY(raster_resize(s, &m->resizer, height, width, err));
        image->remarks[REMARK_RESIZED] = true;
    }
    image_maker_release(m);
    return APL_OK;
}

static apl_status take_samples(struct image_maker *m, const struct image_plan *plan, struct made_image *image,
                               struct image_info *info, apl_error *err)
{
    struct raster *s = &image->samples;
    image_begin_samples(image);
    TRY(image_decoder_read(m->decoder, image->bytes.data, image->bytes.size, info, s, err));
    image->warnings = info->warnings;
    if (s->bits == 16 && plan->bits == 8)
        narrow(image);
    image->height = s->height;
    image->width = s->width;
    image->turned = plan->rules.orient ? (uint8_t)info->orientation : 1;
    TRY(shape_samples(m, &plan->rules, info->orientation, image, err));
    tell_orientation(image, plan->rules.orient ? 1 : info->orientation);
    image->remarks[REMARK_FIRST] = info->more;
    image->remarks[REMARK_PROFILE] = info->profile;
    memcpy(image->shape, (const uint32_t[]){s->channels, s->height, s->width}, sizeof image->shape);
    return APL_OK;
}

/* Would its samples, decoded and changed by the rules, be too many for a value? Checked before memory is taken. */
static apl_status check_value_size(struct image_maker *m, const struct image_plan *plan,
                                   const struct made_image *image, apl_error *err)
{
    struct image_info info;
    TRY(image_decoder_probe(m->decoder, image->bytes.data, image->bytes.size, &info, err));
    if (plan->rules.orient && info.orientation >= 5) {
        uint32_t height = info.height;
        info.height = info.width;
        info.width = height;
    }
    resize_size(&plan->rules.sizes, &info.height, &info.width);
    if (raster_bytes(&info) > APL_MAX_VALUE)
        return fail(
            err, APL_E_UNSUPPORTED,
            "%u x %u pixels are %zu bytes, more than the %u of a value: --images jpeg makes JPEG files of "
            "images, --resize or --max-side smaller ones",
            info.width, info.height, raster_bytes(&info), APL_MAX_VALUE);
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

/* The quality, and the notice about it. Images that were not JPEG lose as little as possible, unless they were scaled. */
static int quality_of(const struct image_rules *rules, bool was_jpeg, bool *remarks)
{
    int quality = rules->quality            ? rules->quality
                  : remarks[REMARK_RESIZED] ? RESIZED_QUALITY
                  : was_jpeg                ? TURNED_QUALITY
                                            : RECODED_QUALITY;
    if (rules->quality)
        remarks[REMARK_QUALITY] = true;
    else if (remarks[REMARK_RESIZED])
        remarks[REMARK_RESIZED_JPEG] = true, remarks[REMARK_RESIZED] = false;
    else if (was_jpeg)
        remarks[REMARK_TURNED_JPEG] = true, remarks[REMARK_TURNED] = false;
    else
        remarks[REMARK_RECODED] = true;
    return quality;
}

/* ------------------------------------------------------------------------------------------------ mending */

/* A new JPEG file of the pixels that libjpeg makes of a damaged one. */
static apl_status redraw_jpeg(struct image_maker *m, struct made_image *image, apl_error *err)
{
    struct image_info info;
    const struct buffer *file = &image->bytes;
    image_begin_samples(image);
    TRY(image_decoder_read(m->decoder, file->data, file->size, &info, &image->samples, err));
    const struct jpeg_beside beside = {
        .orientation = info.orientation, .like = file->data, .like_size = file->size};
    return jpeg_write(&image->samples, RECODED_QUALITY, &beside, &image->bytes, err);
}

/* Readers take no file that libjpeg warns of: it becomes one of the coefficients that libjpeg reads. Where those lie beyond what a file can
 * hold, or libjpeg would smooth them, as it does where scans are missing, of the pixels. */
static apl_status mend_jpeg(struct image_maker *m, struct made_image *image, struct jpeg_info *info,
                            apl_error *err)
{
    apl_status status = APL_E_CORRUPT;
    jpeg_decoder_listen(m->jpeg, NULL);
    if (!info->progressive)
        status = jpeg_make_baseline(&image->bytes, true, err);
    if (status == APL_E_CORRUPT)
        status = redraw_jpeg(m, image, err);
    image->remarks[REMARK_MENDED] = true;
    return status == APL_OK ? jpeg_check(m->jpeg, image->bytes.data, image->bytes.size, true, info, err)
                            : status;
}

/* Reads the header; decodes all of the image, if that is to be seen. */
static apl_status check_jpeg(struct image_maker *m, const struct image_rules *rules, bool unchecked,
                             struct made_image *image, apl_error *err)
{
    struct jpeg_decoder *d = m->jpeg;
    struct jpeg_info info;
    TRY(jpeg_check(d, image->bytes.data, image->bytes.size, !unchecked, &info, err));
    if (rules->baseline && info.progressive)
        TRY(make_baseline(d, unchecked, image, &info, err));
    if (image->warnings.count > 0)
        TRY(mend_jpeg(m, image, &info, err));
    jpeg_decoder_listen(d, NULL); /* what follows is of the file that is stored */
    image->shape[0] = info.components;
    image->shape[1] = image->height = info.height;
    image->shape[2] = image->width = info.width;
    image->turned = 1;
    TRY(jpeg_decoder_probe(d, image->bytes.data, image->bytes.size, &info, err));
    tell_orientation(image, info.orientation);
    return APL_OK;
}

/* The image becomes a JPEG, or another one. */
static apl_status recode(struct image_maker *m, const struct image_plan *plan, bool was_jpeg,
                         struct made_image *image, apl_error *err)
{
    struct image_info info;
    TRY(take_samples(m, plan, image, &info, err));
    struct jpeg_beside beside = {.orientation = image->orientation,
                                 .like = was_jpeg ? image->bytes.data : NULL,
                                 .like_size = image->bytes.size};
    image->remarks[REMARK_NO_ALPHA] = image->shape[0] == 2 || image->shape[0] == 4;
    image->shape[0] = image->shape[0] < 3 ? 1 : 3;
    int quality = quality_of(&plan->rules, was_jpeg, image->remarks);
    return jpeg_write(&image->samples, quality, &beside, &image->bytes, err);
}

/* A JPEG file among such: as it is, unless a rule changes it. */
static apl_status keep_jpeg(struct image_maker *m, const struct image_plan *plan, bool unchecked,
                            struct made_image *image, apl_error *err)
{
    struct jpeg_info info;
    bool changes = plan->rules.quality > 0;
    jpeg_decoder_listen(m->jpeg, &image->warnings);
    if (changes_any(&plan->rules)) {
        TRY(jpeg_decoder_probe(m->jpeg, image->bytes.data, image->bytes.size, &info, err));
        bool turns = plan->rules.orient && info.orientation > 1, swaps = turns && info.orientation >= 5;
        uint32_t height = swaps ? info.width : info.height, width = swaps ? info.height : info.width;
        changes |= turns | resize_size(&plan->rules.sizes, &height, &width);
    }
    return changes ? recode(m, plan, true, image, err) : check_jpeg(m, &plan->rules, unchecked, image, err);
}

apl_status image_make(struct image_maker *m, const struct image_plan *plan, bool unchecked,
                      struct made_image *image, apl_error *err)
{
    struct image_info info;
    memset(image->remarks, 0, sizeof image->remarks);
    image->warnings = (struct warnings){.allowed = m->allow_warnings};
    if (plan->keep)
        return is_jpeg(image) ? keep_jpeg(m, plan, unchecked, image, err)
                              : recode(m, plan, false, image, err);
    TRY(check_value_size(m, plan, image, err));
    TRY(take_samples(m, plan, image, &info, err));
    return check_form(plan, image, err);
}

const void *image_value(const struct image_plan *plan, const struct made_image *image)
{
    return plan->keep ? image->bytes.data : image->samples.data;
}
