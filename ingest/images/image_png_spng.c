/* PNG, by libspng: its one user. Built where that is installed; image_png_libpng.c otherwise. The samples of most files are had
 * faster, by png_plain. */
#ifdef HAVE_SPNG

#include "exif.h"
#include "image_kinds.h"
#include "png_chunks.h"
#include "png_plain.h"

#include <spng.h>

#define CHUNK_MAX ((size_t)16 << 20)
#define RATIO_MAX 1100 /* bytes out of one byte of deflate, at most, and a few */

/* What is wanted of libspng, and how many samples a pixel that gives. */
struct png_form {
    int format, flags;
    unsigned channels, bits;
    bool plain;      /* samples of 8 bits, row by row as they lie in the file */
    unsigned packed; /* else, where not 0: one channel of so many bits, as they lie in the file */
};

static apl_status png_failed(int code, apl_error *err)
{
    if (code == SPNG_EMEM)
        return fail_nomem(err);
    return fail(err, APL_E_CORRUPT, "PNG: %s", spng_strerror(code));
}

/* Indices and levels of grey as they lie in the file. Nothing is to become alpha: transparency says nothing of numbers. */
static struct png_form numbers_of(const struct spng_ihdr *h)
{
    unsigned bits = h->bit_depth == 16 ? 16 : 8;
    return (struct png_form){.format = SPNG_FMT_PNG,
                             .channels = 1,
                             .bits = bits,
                             .plain = h->bit_depth == 8 && h->interlace_method == 0,
                             .packed = h->bit_depth};
}

/* Palettes become colours; grey of fewer than 8 bits becomes 8; what is said to be transparent becomes alpha. */
static struct png_form form_of(const struct spng_ihdr *h, bool transparent)
{
    bool grey =
        h->color_type == SPNG_COLOR_TYPE_GRAYSCALE || h->color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
    bool alpha = transparent || h->color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ||
                 h->color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
    bool wide = h->bit_depth == 16;
    struct png_form form = {.flags = transparent ? SPNG_DECODE_TRNS : 0,
                            .channels = (grey ? 1 : 3) + alpha,
                            .bits = wide ? 16 : 8};
    if (grey)
        form.format = alpha ? wide ? SPNG_FMT_GA16 : SPNG_FMT_GA8 : wide ? SPNG_FMT_PNG : SPNG_FMT_G8;
    else
        form.format = alpha ? wide ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8 : wide ? SPNG_FMT_PNG : SPNG_FMT_RGB8;
    if (!transparent && h->color_type != SPNG_COLOR_TYPE_INDEXED && h->bit_depth >= 8)
        form.format = SPNG_FMT_PNG;
    form.plain = form.format == SPNG_FMT_PNG && !wide && h->interlace_method == 0;
    return form;
}

static apl_status read_png_header(spng_ctx *c, size_t size, struct png_form *form, struct image_info *info,
                                  apl_error *err)
{
    struct spng_ihdr h;
    struct spng_trns transparency;
    struct spng_iccp profile;
    int code = spng_get_ihdr(c, &h);
    if (code)
        return png_failed(code, err);
    info->width = h.width;
    info->height = h.height;
    TRY(raster_check(info, "PNG", size, RATIO_MAX, err));
    code = spng_get_trns(c, &transparency);
    if (code && code != SPNG_ECHUNKAVAIL)
        return png_failed(code, err);
    bool single = h.color_type == SPNG_COLOR_TYPE_GRAYSCALE || h.color_type == SPNG_COLOR_TYPE_INDEXED;
    *form = info->numbers && single ? numbers_of(&h) : form_of(&h, code == 0);
    info->channels = form->channels;
    info->bits = form->bits;
    info->palette = h.color_type == SPNG_COLOR_TYPE_INDEXED;
    info->scaled = !info->palette && h.bit_depth < 8;
    info->profile = spng_get_iccp(c, &profile) == 0;
    return APL_OK;
}

static void take_orientation(spng_ctx *c, struct image_info *info)
{
    struct spng_exif exif;
    unsigned orientation = spng_get_exif(c, &exif) == 0 ? tiff_orientation(exif.data, exif.length) : 0;
    info->orientation = orientation ? orientation : 1;
}

/* Interlaced images come in seven passes over the rows of one buffer; others row by row. */
static apl_status decode_png(spng_ctx *c, const struct png_form *form, bool lenient, struct raster *s,
                             apl_error *err)
{
    size_t row = form->packed ? ((size_t)s->width * form->packed + 7) / 8
                              : (size_t)s->width * form->channels * (form->bits / 8);
    uint8_t *all = scratch_reserve(&s->work, row * s->height);
    if (!all)
        return fail_nomem(err);
    if (form->packed)
        memset(all, 0, row * s->height); /* the passes of an interlaced image only ever set bits */
    int code = spng_decode_image(c, all, row * s->height, form->format, form->flags);
    if (!code) {
        int rest = spng_decode_chunks(c); /* to the end */
        code = lenient ? 0 : rest;
    }
    if (code)
        return png_failed(code, err);
    for (uint32_t y = 0; y < s->height; y++)
        if (form->packed)
            raster_take_packed(s, y, 0, all + y * row, s->width, form->packed);
        else
            raster_take_row(s, y, all + y * row, form->channels);
    return APL_OK;
}

/* libspng warns of nothing: it lets pass, or fails. Lenient: what is in the pixels must be right, but not what follows them, nor the
 * checksums of chunks that they do not depend on. */
static apl_status read_png(spng_ctx *c, const uint8_t *bytes, size_t size, bool lenient,
                           struct image_info *info, struct raster *samples, apl_error *err)
{
    struct png_form form;
    if (samples && !lenient && !png_has_end(bytes, size)) /* libspng does not ask */
        return fail(err, APL_E_CORRUPT, "PNG: ends early");
    int code = spng_set_crc_action(c, SPNG_CRC_ERROR, lenient ? SPNG_CRC_DISCARD : SPNG_CRC_ERROR);
    code = code ? code : spng_set_image_limits(c, INT32_MAX, INT32_MAX);
    code = code ? code : spng_set_chunk_limits(c, CHUNK_MAX, 2 * CHUNK_MAX);
    code = code ? code : spng_set_png_buffer(c, bytes, size);
    if (code)
        return png_failed(code, err);
    TRY(read_png_header(c, size, &form, info, err));
    if (samples) {
        TRY(raster_begin(samples, info, err));
        if (!form.plain || !png_plain_read(bytes, size, samples)) {
            TRY(decode_png(c, &form, lenient, samples, err));
            const char *fault = lenient ? NULL : png_data_fault(bytes, size, &samples->work);
            if (fault)
                return fail(err, APL_E_CORRUPT, "PNG: %s", fault);
        }
    }
    take_orientation(c, info);
    info->more = png_has_frames(bytes, size);
    return APL_OK;
}

static apl_status read_png_anew(const uint8_t *bytes, size_t size, bool lenient, struct image_info *info,
                                struct raster *samples, apl_error *err)
{
    spng_ctx *c = spng_ctx_new(0);
    if (!c)
        return fail_nomem(err);
    apl_status status = read_png(c, bytes, size, lenient, info, samples, err);
    spng_ctx_free(c);
    return status;
}

/* What fails, and does not where less is asked of it, is worth a warning. */
apl_status image_png_read(const uint8_t *bytes, size_t size, struct image_info *info, struct raster *samples,
                          apl_error *err)
{
    apl_error strict;
    apl_status status = read_png_anew(bytes, size, false, info, samples, &strict);
    if (status == APL_E_CORRUPT && info->warnings.allowed) {
        TRY(read_png_anew(bytes, size, true, info, samples, err));
        return warnings_add(&info->warnings, "PNG", strict.message + strlen("PNG: "), err);
    }
    return status == APL_OK ? status : fail(err, status, "%s", strict.message);
}

#else
typedef int image_png_spng_is_empty; /* a file of C has something in it */
#endif
