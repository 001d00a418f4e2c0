/* See jpeg_whole.h. */
#include "jpeg_whole.h"

apl_status jpeg_decode_whole(struct jpeg_decoder *d, const struct jpeg_info *info, unsigned eighths,
                             enum jpeg_chroma chroma, jpeg_take_band *take, void *user, apl_error *err)
{
    struct jpeg_planes planes;
    struct jpeg_band band;
    TRY(jpeg_decoder_start(d, (struct jpeg_region){.width = info->width, .height = info->height}, eighths,
                           chroma, &planes, err));
    do {
        TRY(jpeg_decoder_next(d, &band, err));
        take(user, &planes, &band);
    } while (band.plane[0].count > 0);
    return jpeg_decoder_finish(d, err);
}
