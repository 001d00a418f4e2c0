/* Can a JPEG image be decoded? For those who take images in, so that a bad one is found then and not in training. */
#ifndef JPEG_CHECK_H
#define JPEG_CHECK_H

#include "jpeg.h"

/*
 * Reads the header of `size` bytes into *info; with `decode` also all that is behind it: coefficients alone of files that have
 * an indexed form and no fault, which is faster; of others by libjpeg, as pixels at an eighth of the size. The decoder has no image open, before and after. Likely errors: APL_E_CORRUPT, APL_E_UNSUPPORTED.
 */
apl_status jpeg_check(struct jpeg_decoder *d, const void *bytes, size_t size, bool decode,
                      struct jpeg_info *info, apl_error *err);

#endif
