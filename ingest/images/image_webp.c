/* WebP, by libwebp: its one user. Built where that is installed. */
#ifdef HAVE_WEBP

#include "exif.h"
#include "image_kinds.h"

#include <webp/decode.h>

#define SURPLUS   16    /* bytes at the end of the data of an image that it may do without */
#define RATIO_MAX 16384 /* pixels out of one byte: a flat image of VP8L takes hardly any */

/* Looks through the chunks behind "RIFF", a size and "WEBP": all must be there. *end: of the file, where the data of the image end. */
static apl_status take_chunks(const uint8_t *bytes, size_t size, struct image_info *info, size_t *end,
                              apl_error *err)
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
        if (memcmp(name, "VP8", 3) == 0 && (name[3] == ' ' || name[3] == 'L'))
            *end = (size_t)(data - bytes) + length;
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

/* libwebp warns of nothing, and does not look at what it does not need: of damaged data it may have made all pixels long before their
 * end. So it first gets all but the last bytes, of which no image is made. */
static VP8StatusCode decode_in_parts(const uint8_t *bytes, size_t size, size_t end, WebPIDecoder *d,
                                     bool *early)
{
    VP8StatusCode status = VP8_STATUS_SUSPENDED;
    if (end > SURPLUS)
        status = WebPIUpdate(d, bytes, end - SURPLUS);
    *early = status == VP8_STATUS_OK;
    return status == VP8_STATUS_SUSPENDED ? WebPIUpdate(d, bytes, size) : status;
}

static apl_status decode_webp(const uint8_t *bytes, size_t size, size_t end, struct image_info *info,
                              struct raster *s, apl_error *err)
{
    bool early;
    size_t stride = (size_t)s->width * s->channels;
    uint8_t *all = scratch_reserve(&s->work, stride * s->height);
    WebPIDecoder *d =
        all ? WebPINewRGB(s->channels == 4 ? MODE_RGBA : MODE_RGB, all, stride * s->height, (int)stride)
            : NULL;
    if (!d)
        return fail_nomem(err);
    VP8StatusCode status = decode_in_parts(bytes, size, end, d, &early);
    WebPIDelete(d);
    if (status != VP8_STATUS_OK)
        return fail(err, APL_E_CORRUPT, "WebP: damaged, or cut short");
    for (uint32_t y = 0; y < s->height; y++)
        raster_take_row(s, y, all + y * stride, s->channels);
    return early ? warnings_add(&info->warnings, "WebP", "has more data than its pixels need", err) : APL_OK;
}

apl_status image_webp_read(const uint8_t *bytes, size_t size, struct image_info *info, struct raster *samples,
                           apl_error *err)
{
    WebPBitstreamFeatures features;
    size_t end = 0;
    if (WebPGetFeatures(bytes, size, &features) != VP8_STATUS_OK)
        return fail(err, APL_E_CORRUPT, "WebP: a damaged header");
    if (features.has_animation)
        return fail(err, APL_E_UNSUPPORTED, "WebP: is animated");
    info->width = (uint32_t)features.width;
    info->height = (uint32_t)features.height;
    info->channels = features.has_alpha ? 4 : 3;
    TRY(raster_check(info, "WebP", size, RATIO_MAX, err));
    TRY(take_chunks(bytes, size, info, &end, err));
    if (!samples)
        return APL_OK;
    TRY(raster_begin(samples, info, err));
    return decode_webp(bytes, size, end, info, samples, err);
}

#else
typedef int image_webp_is_empty; /* a file of C has something in it */
#endif
