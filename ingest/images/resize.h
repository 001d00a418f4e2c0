/*
 * Scaling of decoded images by the antialiased triangle filter of the readers (reader/photo/resample.h), which is that of Pillow and
 * torchvision: the same bytes on every machine. Of images with alpha, each channel by itself.
 */
#ifndef RESIZE_H
#define RESIZE_H

#include "image_rules.h"
#include "raster.h"
#include "resample.h"

/* The size that an image of *height x *width pixels becomes. False: it has that size. */
bool resize_size(const struct image_sizes *rules, uint32_t *height, uint32_t *width);

/* Working memory, of one thread; from {0} to resizer_free(). */
struct resizer {
    struct resample_axis across, down;
    struct scratch values, taps, samples;
};

void resizer_free(struct resizer *z);

/* Makes the image height x width pixels, neither 0. Likely errors: APL_E_NOMEM, APL_E_UNSUPPORTED (beyond the limits of images). */
apl_status raster_resize(struct raster *s, struct resizer *z, uint32_t height, uint32_t width,
                         apl_error *err);

/* The same by the nearest sample, so that no number comes out that did not go in: at the places where a reader takes those of masks
 * (reader/photo/nearest.h). `spare` is memory for it, and gets the image's. */
apl_status raster_resize_nearest(struct raster *s, struct scratch *spare, uint32_t height, uint32_t width,
                                 apl_error *err);

#endif
