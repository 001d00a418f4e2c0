/* JPEG files of samples, by libjpeg-turbo. */
#ifndef JPEG_WRITE_H
#define JPEG_WRITE_H

#include "raster.h"

/* Appends a baseline file of 8-bit grey or colours, as `raster` has them without alpha, to `out`. At a quality of 100 colours are
 * at full resolution, else at half of it along both sides. Likely errors: APL_E_UNSUPPORTED (a side above 65500), APL_E_NOMEM. */
apl_status jpeg_write(const struct raster *samples, int quality, struct buffer *out, apl_error *err);

#endif
