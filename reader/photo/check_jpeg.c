/* apl_check_jpeg(): jpeg_check with a decoder of its own. */
#include "jpeg_check.h"
#include "status.h"

apl_status apl_check_jpeg(const void *file, size_t size, int decode, uint32_t shape[3], apl_error *err)
{
    struct jpeg_info info;
    apl_error own;
    if (!err)
        err = &own;
    if (!file || !shape)
        return fail(err, APL_E_INVALID, "no file, or nowhere to put its shape");
    struct jpeg_decoder *decoder = jpeg_decoder_new();
    if (!decoder)
        return fail_nomem(err);
    apl_status status = jpeg_check(decoder, file, size, decode != 0, &info, err);
    jpeg_decoder_free(decoder);
    if (status == APL_OK) {
        shape[0] = info.components;
        shape[1] = info.height;
        shape[2] = info.width;
    }
    return status;
}
