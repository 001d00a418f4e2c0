/* Sums over the pixels of JPEG images. */
#ifndef JPEG_SUMS_H
#define JPEG_SUMS_H

#include "colours.h"
#include "jpeg.h"

/* Those of one whole image, over red, green and blue as libjpeg makes them, a band at a time. Likely errors are those of jpeg.h. */
apl_status jpeg_sums(struct jpeg_decoder *d, const void *bytes, size_t size, struct colour_sums *sums,
                     apl_error *err);

#endif
