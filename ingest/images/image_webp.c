/* WebP, by libwebp: its one user. Built where that is installed. */
#ifdef HAVE_WEBP

#include "exif.h"
#include "image_kinds.h"

#include <webp/decode.h>

#define RATIO_MAX 16384 /* pixels out of one byte: a flat image of VP8L takes hardly any */

/* Looks through the chunks behind "RIFF", a size and "WEBP": all must be there. */
static apl_status take_chunks(const uint8_t *bytes, size_t size, struct image_info *info, apl_error *err)
{
    struct cursor c = cursor_over(bytes, size);
    cursor_u32(&c);
    uint64_t whole = (uint64_t)cursor_u32(&c) + 8;
    if (whole > size)
        return fail(err, APL_E_CORRUPT, "WebP: %zu bytes where %llu are expected", size,
                    (unsigned long long)whole);
    c = cursor_over(bytes + 12, (size_t)whole < 12 ? 0 : (size_t)whole - 12);
    while (cursor_left(&c) >= 8) {
        const uint8_t *name = cursor_take(&c, 4);
        size_t length = cursor_u32(&c);
        const uint8_t *data = cursor_take(&c, length);
        if (!data)
            return fail(err, APL_E_CORRUPT, "WebP: a chunk goes beyond the end");
        if (memcmp(name, "ICCP", 4) == 0)
            info->profile = true;
        unsigned orientation = 0;
        if (memcmp(name, "EXIF", 4) == 0) /* some begin as in a JPEG */
            orientation = length > 6 && memcmp(data, "Exif\0", 6) == 0 ? exif_orientation(data, length)
                                                                       : tiff_orientation(data, length);
        info->orientation = orientation ? orientation : info->orientation;
        if (length % 2 && cursor_left(&c) > 0)
            cursor_take(&c, 1);
    }
    return APL_OK;
}

static apl_status decode_webp(const uint8_t *bytes, size_t size, struct raster *s, apl_error *err)
{
    size_t stride = (size_t)s->width * s->channels;
    uint8_t *all = scratch_reserve(&s->work, stride * s->height);
    if (!all)
        return fail_nomem(err);
    const uint8_t *done = s->channels == 4
                              ? WebPDecodeRGBAInto(bytes, size, all, stride * s->height, (int)stride)
                              : WebPDecodeRGBInto(bytes, size, all, stride * s->height, (int)stride);
    if (!done)
        return fail(err, APL_E_CORRUPT, "WebP: damaged, or cut short");
    for (uint32_t y = 0; y < s->height; y++)
        raster_take_row(s, y, all + y * stride, s->channels);
    return APL_OK;
}

apl_status image_webp_read(const uint8_t *bytes, size_t size, struct image_info *info, struct raster *samples,
                           apl_error *err)
{
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(bytes, size, &features) != VP8_STATUS_OK)
        return fail(err, APL_E_CORRUPT, "WebP: a damaged header");
    if (features.has_animation)
        return fail(err, APL_E_UNSUPPORTED, "WebP: is animated");
    info->width = (uint32_t)features.width;
    info->height = (uint32_t)features.height;
    info->channels = features.has_alpha ? 4 : 3;
    TRY(raster_check(info, "WebP", size, RATIO_MAX, err));
    TRY(take_chunks(bytes, size, info, err));
    if (!samples)
        return APL_OK;
    TRY(raster_begin(samples, info, err));
    return decode_webp(bytes, size, samples, err);
}

#else
typedef int image_webp_is_empty; /* a file of C has something in it */
#endif
