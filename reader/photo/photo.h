/*
 * From the bytes of a JPEG image, or from its samples, to the pixels of a crop of it: decodes what the crop touches, scaled down by libjpeg as far as
 * loses nothing, and resamples that to the size wanted. The same bytes on every machine that has the same libjpeg.
 */
#ifndef PHOTO_H
#define PHOTO_H

#include "geometry.h"
#include "planes.h"

#define PHOTO_CHANNELS 3

/* The decoder and the working memory of one thread. */
struct photo;
struct photo *photo_new(void); /* NULL: out of memory */
void photo_free(struct photo *photo);

/* How the image that was made last came to be; not flipped. */
struct geometry photo_geometry(const struct photo *photo);

/* Writes the window of the plan to `rgb`, u8[3, window.height, window.width]; grey images give three planes alike. The plan must
 * lie within the image: that is checked. Likely errors: APL_E_CORRUPT (the image is damaged), APL_E_UNSUPPORTED (too large, or
 * of unknown colours), APL_E_MISMATCH (the plan is of another image), APL_E_NOMEM; what is in `rgb` is undefined then. */
apl_status photo_make(struct photo *photo, const void *bytes, size_t size, const struct crop_plan *plan,
                      enum jpeg_chroma chroma, uint8_t *rgb, apl_error *err);

/* The same, of what the rules make of the image: reads the header once. */
apl_status photo_draw(struct photo *photo, const void *bytes, size_t size, const struct crop_rules *rules,
                      struct crop_draws draws, enum jpeg_chroma chroma, uint8_t *rgb, apl_error *err);

/* The same of an image that is decoded already, to `outputs` channels: 3, of which those of grey are alike, or 1, of a grey one. A
 * likely error: APL_E_INVALID (an image of other channels, or smaller than the crop). */
apl_status photo_draw_pixels(struct photo *photo, const struct photo_pixels *image,
                             const struct crop_rules *rules, struct crop_draws draws, unsigned outputs,
                             uint8_t *out, apl_error *err);

/* The same of an indexed image (see store/jpeg/indexed.h): of the file that it came from the result is the same to the byte, but only
 * the parts under the crop are decoded. */
apl_status photo_make_indexed(struct photo *photo, const void *bytes, size_t size,
                              const struct crop_plan *plan, enum jpeg_chroma chroma, uint8_t *rgb,
                              apl_error *err);
apl_status photo_draw_indexed(struct photo *photo, const void *bytes, size_t size,
                              const struct crop_rules *rules, struct crop_draws draws,
                              enum jpeg_chroma chroma, uint8_t *rgb, apl_error *err);

#endif
