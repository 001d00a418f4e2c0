/* Decodes an image for the errors that come of it. */
#include "jpeg_check.h"

#include "stream.h"

apl_status jpeg_check(struct jpeg_decoder *d, const void *bytes, size_t size, bool decode,
                      struct jpeg_info *info, apl_error *err)
{
    struct jpeg_planes planes;
    struct jpeg_band band = {.plane = {{.count = 1}}};
    apl_status status = jpeg_decoder_open(d, bytes, size, info, err);
    decode = decode && status == APL_OK && !stream_is_sound(bytes, size);
    if (decode)
        status = jpeg_decoder_start(d, (struct jpeg_region){.width = info->width, .height = info->height}, 1,
                                    JPEG_CHROMA_PLANES, &planes, err);
    while (status == APL_OK && decode && band.plane[0].count > 0)
        status = jpeg_decoder_next(d, &band, err);
    jpeg_decoder_end(d);
    return status;
}
