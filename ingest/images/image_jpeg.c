/* JPEG images whose samples are wanted: colours as libjpeg makes them. */
#include "image_kinds.h"
#include "jpeg_whole.h"

static void take_band(void *user, const struct jpeg_planes *planes, const struct jpeg_band *band)
{
    struct raster *s = user;
    (void)planes;
    for (unsigned c = 0; c < s->channels; c++)
        for (uint32_t k = 0; k < band->plane[c].count; k++)
            raster_take_channel(s, c, band->plane[c].first + k, band->plane[c].rows[k], 1);
}

static apl_status read_jpeg(struct jpeg_decoder *d, const uint8_t *bytes, size_t size,
                            struct image_info *info, struct raster *samples, apl_error *err)
{
    struct jpeg_info jpeg;
    TRY(jpeg_decoder_probe(d, bytes, size, &jpeg, err));
    info->channels = jpeg.colour == JPEG_GREY ? 1 : 3;
    info->height = jpeg.height;
    info->width = jpeg.width;
    info->orientation = jpeg.orientation;
    if (!samples)
        return APL_OK;
    TRY(raster_begin(samples, info, err));
    TRY(jpeg_decoder_open(d, bytes, size, &jpeg, err));
    apl_status status = jpeg_decode_whole(d, &jpeg, 8, JPEG_CHROMA_PIXELS, take_band, samples, err);
    jpeg_decoder_end(d);
    return status;
}

apl_status image_jpeg_read(struct jpeg_decoder *d, const uint8_t *bytes, size_t size, struct image_info *info,
                           struct raster *samples, apl_error *err)
{
    jpeg_decoder_listen(d, &info->warnings);
    apl_status status = read_jpeg(d, bytes, size, info, samples, err);
    jpeg_decoder_listen(d, NULL);
    return status;
}
