/* Decodes an image for the errors that come of it. */
#include "jpeg_check.h"

#include "jpeg_whole.h"
#include "stream.h"

static void pass_band(void *user, const struct jpeg_planes *planes, const struct jpeg_band *band)
{
    (void)user, (void)planes, (void)band;
}

apl_status jpeg_check(struct jpeg_decoder *d, const void *bytes, size_t size, bool decode,
                      struct jpeg_info *info, apl_error *err)
{
    apl_status status = jpeg_decoder_open(d, bytes, size, info, err);
    if (status == APL_OK && decode && !stream_is_sound(bytes, size))
        status = jpeg_decode_whole(d, info, 1, JPEG_CHROMA_PLANES, pass_band, NULL, err);
    jpeg_decoder_end(d);
    return status;
}
