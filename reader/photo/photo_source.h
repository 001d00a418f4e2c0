/* What bands of samples come from: a JPEG file, or an indexed image, of which only the segments under a region are decoded. What comes
 * out of either is the same. */
#ifndef PHOTO_SOURCE_H
#define PHOTO_SOURCE_H

#include "jpeg.h"

/* One image at a time, for one thread at a time. The calls are those of jpeg.h, in the same order. */
struct photo_source;
struct photo_source *photo_source_new(void); /* NULL: out of memory */
void photo_source_free(struct photo_source *s);

/* The bytes must remain until photo_source_end(). */
apl_status photo_source_open(struct photo_source *s, const void *bytes, size_t size, bool is_indexed,
                             struct jpeg_info *info, apl_error *err);
apl_status photo_source_start(struct photo_source *s, struct jpeg_region region, unsigned eighths,
                              enum jpeg_chroma chroma, struct jpeg_planes *planes, apl_error *err);
apl_status photo_source_next(struct photo_source *s, struct jpeg_band *band, apl_error *err);
void photo_source_end(struct photo_source *s);

#endif
