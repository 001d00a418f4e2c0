/*
 * From the bytes of a JPEG image to the pixels of a crop of it: decodes what the crop touches, scaled down by libjpeg as far as
 * loses nothing, and resamples that to the size wanted. The same bytes on every machine that has the same libjpeg.
 */
#ifndef PHOTO_H
#define PHOTO_H

#include "crop.h"
#include "jpeg.h"

#define PHOTO_CHANNELS 3

/* The decoder and the working memory of one thread. */
struct photo;
struct photo *photo_new(void); /* NULL: out of memory */
void photo_free(struct photo *photo);

/* Writes the window of the plan to `rgb`, u8[3, window.height, window.width]; grey images give three planes alike. The plan must
 * lie within the image: that is checked. Likely errors: APL_E_CORRUPT (the image is damaged), APL_E_UNSUPPORTED (too large, or
 * of unknown colours), APL_E_MISMATCH (the plan is of another image), APL_E_NOMEM; what is in `rgb` is undefined then. */
apl_status photo_make(struct photo *photo, const void *bytes, size_t size, const struct crop_plan *plan,
                      enum jpeg_chroma chroma, uint8_t *rgb, apl_error *err);

/* The same, of what the rules make of the image: reads the header once. */
apl_status photo_draw(struct photo *photo, const void *bytes, size_t size, const struct crop_rules *rules,
                      struct crop_draws draws, enum jpeg_chroma chroma, uint8_t *rgb, apl_error *err);

#endif
