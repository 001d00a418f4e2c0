/* All of a JPEG image, to the end of its file: for whoever must know whether it is whole. */
#ifndef JPEG_WHOLE_H
#define JPEG_WHOLE_H

#include "jpeg.h"

/* Is given each band. */
typedef void jpeg_take_band(void *user, const struct jpeg_planes *planes, const struct jpeg_band *band);

/* Decodes the open image, with that header, scaled by eighths / 8, and reads on to its end marker: whatever libjpeg warns of in a file
 * it has warned of then. */
apl_status jpeg_decode_whole(struct jpeg_decoder *d, const struct jpeg_info *info, unsigned eighths,
                             enum jpeg_chroma chroma, jpeg_take_band *take, void *user, apl_error *err);

#endif
