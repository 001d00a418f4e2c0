/* From the kind of a file to its decoder: see decode.h. */
#include "decode.h"

#include "image_kind.h"
#include "image_kinds.h"
#include "jpeg.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct image_decoder {
    struct jpeg_decoder *jpeg;
    struct scratch work;
    bool allows_warnings;
};

/* What a build may lack stands here without a reader, but with what to install; in brackets, Debian's package. */
static const struct {
    const char *kind, *library;
    image_reader *read;
} kinds[] = {
    {"PNG", NULL, image_png_read},
#ifdef HAVE_WEBP
    {"WebP", NULL, image_webp_read},
#else
    {"WebP", "libwebp (libwebp-dev)", NULL},
#endif
#ifdef HAVE_TIFF
    {"TIFF", NULL, image_tiff_read},
#else
    {"TIFF", "libtiff 4.5 or later (libtiff-dev)", NULL},
#endif
#ifdef HAVE_GIF
    {"GIF", NULL, image_gif_read},
#else
    {"GIF", "giflib (libgif-dev)", NULL},
#endif
    {"BMP", NULL, image_bmp_read},   {"PPM", NULL, image_pnm_read}, {"PGM", NULL, image_pnm_read},
};

struct image_decoder *image_decoder_new(void)
{
    struct image_decoder *d = calloc(1, sizeof *d);
    if (d && !(d->jpeg = jpeg_decoder_new())) {
        image_decoder_free(d);
        return NULL;
    }
    return d;
}

void image_decoder_free(struct image_decoder *d)
{
    if (!d)
        return;
    jpeg_decoder_free(d->jpeg);
    scratch_free(&d->work);
    free(d);
}

void image_decoder_allow_warnings(struct image_decoder *d, bool allow)
{
    d->allows_warnings = allow;
}

/* info->numbers: they are asked for. */
static apl_status read_kind(struct image_decoder *d, const uint8_t *bytes, size_t size,
                            struct image_info *info, struct raster *samples, apl_error *err)
{
    const char *kind = image_kind(bytes, size);
    *info = (struct image_info){
        .bits = 8, .orientation = 1, .numbers = info->numbers, .warnings.allowed = d->allows_warnings};
    if (size == 0)
        return fail(err, APL_E_SOURCE, "is empty");
    if (!kind)
        return fail(err, APL_E_SOURCE, "is not a known image");
    if (strcmp(kind, "JPEG") == 0)
        return image_jpeg_read(d->jpeg, bytes, size, info, samples, err);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (strcmp(kind, kinds[i].kind) != 0)
            continue;
        if (!kinds[i].read)
            return fail(err, APL_E_UNSUPPORTED,
                        "holds %s, which this build does not read: install %s, and build APL again", kind,
                        kinds[i].library);
        TRY(kinds[i].read(bytes, size, info, samples, err));
        return warnings_check(&info->warnings, kind, err);
    }
    return fail(err, APL_E_UNSUPPORTED, "holds %s, which is not read", kind);
}

apl_status image_decoder_probe(struct image_decoder *d, const uint8_t *bytes, size_t size,
                               struct image_info *info, apl_error *err)
{
    info->numbers = false;
    return read_kind(d, bytes, size, info, NULL, err);
}

/* The decoder's memory is lent to the samples. */
static apl_status read_samples(struct image_decoder *d, const uint8_t *bytes, size_t size,
                               struct image_info *info, struct raster *samples, apl_error *err)
{
    samples->work = d->work;
    apl_status status = read_kind(d, bytes, size, info, samples, err);
    d->work = samples->work;
    samples->work = (struct scratch){NULL, 0};
    return status;
}

apl_status image_decoder_read(struct image_decoder *d, const uint8_t *bytes, size_t size,
                              struct image_info *info, struct raster *samples, apl_error *err)
{
    info->numbers = false;
    return read_samples(d, bytes, size, info, samples, err);
}

/* ------------------------------------------------------------------------------------------------- numbers */

apl_status image_decoder_probe_numbers(struct image_decoder *d, const uint8_t *bytes, size_t size,
                                       struct image_info *info, apl_error *err)
{
    const char *kind = image_kind(bytes, size);
    if (kind && strcmp(kind, "JPEG") == 0)
        return fail(err, APL_E_SOURCE,
                    "is a JPEG, which changes the numbers of a mask: PNG, TIFF, GIF, BMP and PGM keep them");
    info->numbers = true;
    TRY(read_kind(d, bytes, size, info, NULL, err));
    if (info->channels != 1)
        return fail(err, APL_E_SOURCE,
                    "is %s, and a mask has a palette or is grey, so that its pixels are numbers",
                    info->channels == 2 ? "grey with alpha" : "in colour");
    return APL_OK;
}

apl_status image_decoder_read_numbers(struct image_decoder *d, const uint8_t *bytes, size_t size,
                                      struct image_info *info, struct raster *samples, apl_error *err)
{
    TRY(image_decoder_probe_numbers(d, bytes, size, info, err));
    return read_samples(d, bytes, size, info, samples, err);
}
