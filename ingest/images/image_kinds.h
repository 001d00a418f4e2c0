/* The decoders of all kinds. Each fills in *info, the warnings of its library too, after which it goes on or fails; then, if `samples` is not NULL, decodes into it. */
#ifndef IMAGE_KINDS_H
#define IMAGE_KINDS_H

#include "raster.h"

typedef apl_status image_reader(const uint8_t *bytes, size_t size, struct image_info *info,
                                struct raster *samples, apl_error *err);

image_reader image_png_read, image_webp_read, image_tiff_read, image_gif_read, image_bmp_read, image_pnm_read;

struct jpeg_decoder;
apl_status image_jpeg_read(struct jpeg_decoder *d, const uint8_t *bytes, size_t size, struct image_info *info,
                           struct raster *samples, apl_error *err);

#endif
