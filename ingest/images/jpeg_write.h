/* JPEG files of samples, by libjpeg-turbo. */
#ifndef JPEG_WRITE_H
#define JPEG_WRITE_H

#include "raster.h"

/* What a file has besides its samples. */
struct jpeg_beside {
    unsigned orientation; /* 2 ... 8: said in EXIF; 0 and 1: not */
    const uint8_t *like;  /* a JPEG file, or NULL, whose colour profile is taken over; it may be in `out` */
    size_t like_size;
};

/* Replaces what is in `out` by a baseline file of 8-bit grey or colours, as `raster` has them without alpha. At a quality of 100
 * colours are at full resolution, else at half of it along both sides. Likely errors: APL_E_UNSUPPORTED (a side above 65500),
 * APL_E_NOMEM. */
apl_status jpeg_write(const struct raster *samples, int quality, const struct jpeg_beside *beside,
                      struct buffer *out, apl_error *err);

/* Makes a file a baseline one, which can be indexed, without loss: replaces a JPEG file in `file`, which has been seen to decode, by one of
 * the same coefficients, tables of quantisation and other segments (EXIF, profile, comments), but of sequential scans with Huffman
 * codes. What restores the file that it was is lost. `lenient`: libjpeg may warn of it, but will not of the new one, which has what
 * libjpeg reads of it. Likely errors: APL_E_CORRUPT, APL_E_NOMEM; the file is then as it was. */
apl_status jpeg_make_baseline(struct buffer *file, bool lenient, apl_error *err);

#endif
