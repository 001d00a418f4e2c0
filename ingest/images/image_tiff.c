/* The first page of a TIFF, by libtiff: its one user. Built where that is installed. */
#ifdef HAVE_TIFF

#include "image_kinds.h"
#include "inflate.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <tiffio.h>

#define RATIO_MAX 65536 /* pixels out of one byte: fax codes of white rows take hardly any */
#define ALLOC_MAX ((tmsize_t)512 << 20)

struct tiff_file {
    const uint8_t *bytes;
    size_t size, at;
    TIFF *tiff;
    uint16_t depth, samples, photometric, planar, format, extra;
    bool plain;      /* samples are taken as they are; else libtiff makes colours of them */
    bool numbers;    /* one sample of `depth` bits a pixel, which is a number */
    bool multiplied; /* colours have been multiplied by alpha, and so are stored darker than they are */
    struct warnings *warnings;
    char text[160];  /* the error that libtiff has had to report, or a warning that is one */
    bool complained; /* it has */
};

/* ------------------------------------------------------------------------------------- what libtiff calls */

static tmsize_t give_tiff(thandle_t handle, void *to, tmsize_t wanted)
{
    struct tiff_file *t = handle;
    size_t left = t->size - t->at, n = wanted < 0 ? 0 : (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(to, t->bytes + t->at, n);
    t->at += n;
    return (tmsize_t)n;
}

static tmsize_t refuse_tiff(thandle_t handle, void *from, tmsize_t size)
{
    (void)handle, (void)from, (void)size;
    return 0;
}

static toff_t seek_tiff(thandle_t handle, toff_t offset, int whence)
{
    struct tiff_file *t = handle;
    toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? t->at : t->size;
    toff_t to = base + offset;
    t->at = to > t->size ? t->size : (size_t)to;
    return to;
}

static int close_tiff(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_tiff(thandle_t handle)
{
    const struct tiff_file *t = handle;
    return t->size;
}

static int hear_tiff(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
    struct tiff_file *t = user;
    (void)tiff, (void)module;
    if (t->complained)
        return 1;
    t->complained = true;
    vsnprintf(t->text, sizeof t->text, format, args);
    return 1;
}

/* Tags that it does not know are nothing to warn of. */
static int hear_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
    struct tiff_file *t = user;
    char text[sizeof t->text];
    (void)tiff, (void)module;
    if (strncmp(format, "Unknown field with tag", 22) == 0)
        return 1;
    vsnprintf(text, sizeof text, format, args);
    if (!warnings_take(t->warnings, text) && !t->complained) {
        t->complained = true;
        memcpy(t->text, text, sizeof text);
    }
    return 1;
}

static apl_status tiff_failed(const struct tiff_file *t, apl_error *err)
{
    char safe[200];
    return fail(err, APL_E_CORRUPT, "TIFF: %s",
                t->complained ? printable(safe, sizeof safe, t->text, strlen(t->text)) : "damaged");
}

static apl_status open_tiff(struct tiff_file *t, apl_error *err)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return fail_nomem(err);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, ALLOC_MAX);
    TIFFOpenOptionsSetErrorHandlerExtR(options, hear_tiff, t);
    TIFFOpenOptionsSetWarningHandlerExtR(options, hear_warning, t);
    t->tiff = TIFFClientOpenExt("image", "rm", t, give_tiff, refuse_tiff, seek_tiff, close_tiff, size_tiff,
                                NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return t->tiff && !t->complained ? APL_OK : tiff_failed(t, err);
}

/* --------------------------------------------------------------------------------------------------- header */

static apl_status unsupported_tiff(const struct tiff_file *t, apl_error *err)
{
    return fail(err, APL_E_UNSUPPORTED,
                "TIFF: %u samples of %u bits (format %u, photometric %u) a pixel are not read", t->samples,
                t->depth, t->format, t->photometric);
}

/* Grey and colours of 8 and 16 bits, alpha or none, are taken as they are. */
static bool is_plain_tiff(const struct tiff_file *t)
{
    unsigned colours = t->photometric == PHOTOMETRIC_RGB ? 3 : 1;
    bool known = t->photometric == PHOTOMETRIC_RGB || t->photometric == PHOTOMETRIC_MINISBLACK ||
                 t->photometric == PHOTOMETRIC_MINISWHITE;
    return known && (t->depth == 8 || t->depth == 16) && t->samples >= colours && t->samples <= colours + 1;
}

/* Indices of a palette and levels of grey, if these are asked for. */
static bool has_numbers(const struct tiff_file *t)
{
    bool known = t->photometric == PHOTOMETRIC_PALETTE || t->photometric == PHOTOMETRIC_MINISBLACK ||
                 t->photometric == PHOTOMETRIC_MINISWHITE;
    bool packed = t->depth == 1 || t->depth == 2 || t->depth == 4;
    return known && t->samples == 1 && (packed || t->depth == 8 || t->depth == 16);
}

static apl_status take_tiff_form(struct tiff_file *t, struct image_info *info, apl_error *err)
{
    uint16_t compression = COMPRESSION_NONE;
    t->numbers = info->numbers && has_numbers(t);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_COMPRESSION, &compression);
    if (t->numbers && (compression == COMPRESSION_JPEG || compression == COMPRESSION_OJPEG))
        return fail(err, APL_E_SOURCE, "TIFF: is compressed as JPEG, which changes the numbers of a mask");
    t->plain = t->numbers || is_plain_tiff(t);
    bool grey = t->photometric == PHOTOMETRIC_MINISBLACK || t->photometric == PHOTOMETRIC_MINISWHITE;
    if (t->format != SAMPLEFORMAT_UINT && t->format != SAMPLEFORMAT_VOID)
        return unsupported_tiff(t, err);
    if (!t->plain && (t->depth > 8 || (t->extra > 0 && t->photometric != PHOTOMETRIC_SEPARATED)))
        return unsupported_tiff(t, err);
    info->channels = t->plain ? t->samples : grey ? 1 : 3;
    t->multiplied = t->multiplied && t->plain && t->samples == (grey ? 2 : 4);
    info->bits = t->plain && t->depth == 16 ? 16 : 8;
    info->palette = t->photometric == PHOTOMETRIC_PALETTE;
    info->scaled = grey && t->depth < 8;
    info->inverse = t->photometric == PHOTOMETRIC_MINISWHITE;
    return APL_OK;
}

static apl_status take_tiff_header(struct tiff_file *t, struct image_info *info, apl_error *err)
{
    uint16_t orientation = 1, *extras;
    uint32_t length;
    void *profile;
    if (!TIFFGetField(t->tiff, TIFFTAG_IMAGEWIDTH, &info->width) ||
        !TIFFGetField(t->tiff, TIFFTAG_IMAGELENGTH, &info->height) ||
        !TIFFGetField(t->tiff, TIFFTAG_PHOTOMETRIC, &t->photometric))
        return tiff_failed(t, err);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_BITSPERSAMPLE, &t->depth);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_SAMPLESPERPIXEL, &t->samples);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_PLANARCONFIG, &t->planar);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_SAMPLEFORMAT, &t->format);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_EXTRASAMPLES, &t->extra, &extras);
    t->multiplied = t->extra > 0 && extras[0] == EXTRASAMPLE_ASSOCALPHA;
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_ORIENTATION, &orientation);
    info->orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
    info->profile = TIFFGetField(t->tiff, TIFFTAG_ICCPROFILE, &length, &profile) == 1;
    info->more = !TIFFLastDirectory(t->tiff);
    TRY(take_tiff_form(t, info, err));
    return raster_check(info, "TIFF", t->size, RATIO_MAX, err);
}

/* -------------------------------------------------------------------------------------------------- samples */

/* MINISWHITE: 0 is white, which is how numbers are shown, not what they are. */
static void invert(const struct tiff_file *t, struct raster *s)
{
    size_t n = (size_t)s->height * s->width * (s->bits / 8);
    for (size_t i = 0; t->photometric == PHOTOMETRIC_MINISWHITE && !t->numbers && i < n; i++)
        s->data[i] ^= UINT8_MAX;
}

static unsigned sample_at(const struct raster *s, size_t i)
{
    return s->bits == 16 ? ((const uint16_t *)(const void *)s->data)[i] : s->data[i];
}

static void set_sample(struct raster *s, size_t i, unsigned value)
{
    if (s->bits == 16)
        ((uint16_t *)(void *)s->data)[i] = (uint16_t)value;
    else
        s->data[i] = (uint8_t)value;
}

/* Makes colours what they were before they were multiplied by alpha, as Pillow does; where alpha is 0, they are 0. */
static void divide_by_alpha(struct raster *s)
{
    size_t plane = (size_t)s->height * s->width, colours = (s->channels - 1) * plane;
    unsigned most = s->bits == 16 ? UINT16_MAX : UINT8_MAX;
    for (size_t i = 0; i < colours; i++) {
        unsigned alpha = sample_at(s, colours + i % plane);
        unsigned colour = alpha ? most * sample_at(s, i) / alpha : 0;
        set_sample(s, i, colour < most ? colour : most);
    }
}

static apl_status read_tiff_rows(struct tiff_file *t, struct raster *s, apl_error *err)
{
    bool apart = t->planar == PLANARCONFIG_SEPARATE && s->channels > 1;
    tmsize_t row = TIFFScanlineSize(t->tiff);
    size_t need = ((size_t)s->width * (apart ? 1 : s->channels) * t->depth + 7) / 8;
    uint8_t *work = row > 0 && (size_t)row >= need ? scratch_reserve(&s->work, (size_t)row) : NULL;
    if (!work)
        return row > 0 && (size_t)row >= need ? fail_nomem(err) : tiff_failed(t, err);
    for (unsigned c = 0; c < (apart ? s->channels : 1); c++)
        for (uint32_t y = 0; y < s->height; y++) {
            if (TIFFReadScanline(t->tiff, work, y, (uint16_t)c) != 1 || t->complained)
                return tiff_failed(t, err);
            if (t->numbers)
                raster_take_packed(s, y, 0, work, s->width, t->depth);
            else if (apart)
                raster_take_channel(s, c, y, work, 1);
            else
                raster_take_row(s, y, work, s->channels);
        }
    return APL_OK;
}

/* Copies what of a tile lies on the image. */
static void take_tile(struct raster *s, const uint8_t *tile, uint32_t left, uint32_t top, uint32_t width,
                      uint32_t height, int channel)
{
    size_t bytes = s->bits / 8;
    unsigned step = channel < 0 ? s->channels : 1;
    for (uint32_t y = 0; y < height && top + y < s->height; y++)
        for (uint32_t x = 0; x < width && left + x < s->width; x++)
            for (unsigned c = 0; c < step; c++) {
                size_t plane = channel < 0 ? c : (size_t)channel;
                size_t to = (plane * s->height + top + y) * s->width + left + x;
                memcpy(s->data + to * bytes, tile + (((size_t)y * width + x) * step + c) * bytes, bytes);
            }
}

/* The same of numbers. */
static void take_tile_numbers(struct raster *s, const uint8_t *tile, uint32_t left, uint32_t top,
                              uint32_t width, uint32_t height, unsigned depth)
{
    size_t row = ((size_t)width * depth + 7) / 8;
    uint32_t count = width < s->width - left ? width : s->width - left;
    for (uint32_t y = 0; y < height && top + y < s->height; y++)
        raster_take_packed(s, top + y, left, tile + y * row, count, depth);
}

static apl_status read_tiles(struct tiff_file *t, struct raster *s, apl_error *err)
{
    uint32_t width = 0, height = 0;
    bool apart = t->planar == PLANARCONFIG_SEPARATE && s->channels > 1;
    TIFFGetField(t->tiff, TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(t->tiff, TIFFTAG_TILELENGTH, &height);
    tmsize_t size = TIFFTileSize(t->tiff);
    uint64_t need = ((uint64_t)width * (apart ? 1 : s->channels) * t->depth + 7) / 8 * height;
    if (width == 0 || height == 0 || size <= 0 || size > ALLOC_MAX || (uint64_t)size < need || t->complained)
        return tiff_failed(t, err);
    uint8_t *tile = scratch_reserve(&s->work, (size_t)size);
    if (!tile)
        return fail_nomem(err);
    for (unsigned c = 0; c < (apart ? s->channels : 1); c++)
        for (uint32_t top = 0; top < s->height; top += height)
            for (uint32_t left = 0; left < s->width; left += width) {
                if (TIFFReadTile(t->tiff, tile, left, top, 0, (uint16_t)c) < 0 || t->complained)
                    return tiff_failed(t, err);
                if (t->numbers)
                    take_tile_numbers(s, tile, left, top, width, height, t->depth);
                else
                    take_tile(s, tile, left, top, width, height, apart ? (int)c : -1);
            }
    return APL_OK;
}

/* What libtiff makes of palettes, ink, luma and chroma, and bits: pixels of four bytes, in the order of the file. */
static apl_status read_colours(struct tiff_file *t, struct raster *s, apl_error *err)
{
    TIFFRGBAImage image;
    char text[1024] = "";
    uint32_t *pixels = (uint32_t *)(void *)scratch_reserve(&s->work, (size_t)s->height * s->width * 4);
    if (!pixels)
        return fail_nomem(err);
    if (!TIFFRGBAImageBegin(&image, t->tiff, 1, text))
        return fail(err, APL_E_UNSUPPORTED, "TIFF: %.100s", *text ? text : "colours that are not read");
    image.req_orientation = image.orientation;
    int done = TIFFRGBAImageGet(&image, pixels, s->width, s->height);
    TIFFRGBAImageEnd(&image);
    if (!done || t->complained)
        return tiff_failed(t, err);
    for (uint32_t y = 0; y < s->height; y++)
        raster_take_row(s, y, (const uint8_t *)(pixels + (size_t)y * s->width), 4);
    return APL_OK;
}

/* What lies in the file for a strip or tile; false: not there. */
static bool find_strile(const struct tiff_file *t, uint32_t i, const uint8_t **data, size_t *size)
{
    uint64_t at = TIFFGetStrileOffset(t->tiff, i), bytes = TIFFGetStrileByteCount(t->tiff, i);
    if (at > t->size || bytes > t->size - at)
        return false;
    *data = t->bytes + at;
    *size = (size_t)bytes;
    return true;
}

/* libtiff inflates no further than it needs, and so does not see whether checksums agree. */
static apl_status check_deflated(const struct tiff_file *t, apl_error *err)
{
    uint16_t compression = COMPRESSION_NONE, order = FILLORDER_MSB2LSB;
    uint32_t count = TIFFIsTiled(t->tiff) ? TIFFNumberOfTiles(t->tiff) : TIFFNumberOfStrips(t->tiff);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_COMPRESSION, &compression);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_FILLORDER, &order);
    bool deflated = compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE;
    for (uint32_t i = 0; deflated && order == FILLORDER_MSB2LSB && i < count; i++) {
        const uint8_t *data;
        size_t size;
        const char *fault = find_strile(t, i, &data, &size) ? inflate_fault(data, size, 0) : NULL;
        if (fault)
            return warnings_add(t->warnings, "TIFF", fault, err);
    }
    return APL_OK;
}

static apl_status read_samples_of(struct tiff_file *t, struct raster *samples, apl_error *err)
{
    if (!t->plain)
        return read_colours(t, samples, err);
    TRY(TIFFIsTiled(t->tiff) ? read_tiles(t, samples, err) : read_tiff_rows(t, samples, err));
    invert(t, samples);
    if (t->multiplied)
        divide_by_alpha(samples);
    return APL_OK;
}

static apl_status read_tiff(struct tiff_file *t, struct image_info *info, struct raster *samples,
                            apl_error *err)
{
    TRY(open_tiff(t, err));
    TRY(take_tiff_header(t, info, err));
    if (!samples)
        return APL_OK;
    TRY(raster_begin(samples, info, err));
    TRY(read_samples_of(t, samples, err));
    return check_deflated(t, err);
}

apl_status image_tiff_read(const uint8_t *bytes, size_t size, struct image_info *info, struct raster *samples,
                           apl_error *err)
{
    struct tiff_file t = {.bytes = bytes, .size = size, .warnings = &info->warnings};
    apl_status status = read_tiff(&t, info, samples, err);
    if (t.tiff)
        TIFFClose(t.tiff);
    return status;
}

#else
typedef int image_tiff_is_empty; /* a file of C has something in it */
#endif
