/* Decoding of an image file of whatever kind this build knows. Whatever the bytes are, there is no crash, no leak and no endless
 * work. */
#ifndef DECODE_H
#define DECODE_H

#include "raster.h"

/* Decodes one image at a time. For one thread at a time; images after one another reuse its memory. */
struct image_decoder;
struct image_decoder *image_decoder_new(void); /* NULL: out of memory */
void image_decoder_free(struct image_decoder *d);

/* Is a file that a library only warns of decoded, from now on? info->warnings then says of what; else, and at first, it is an error. */
void image_decoder_allow_warnings(struct image_decoder *d, bool allow);

/* Reads the header alone. Likely errors: APL_E_CORRUPT; APL_E_UNSUPPORTED (a kind that this build does not read, a variant of
 * one, or too large); APL_E_SOURCE (no image at all). */
apl_status image_decoder_probe(struct image_decoder *d, const uint8_t *bytes, size_t size,
                               struct image_info *info, apl_error *err);

/* Decodes all of it into `samples`, which are the caller's. The rules for palettes, alpha, depths and pages: docs/DATA.md. */
apl_status image_decoder_read(struct image_decoder *d, const uint8_t *bytes, size_t size,
                              struct image_info *info, struct raster *samples, apl_error *err);

/* The same of an image whose pixels are numbers, not colours: indices of a palette and levels of grey as the file has them, of 8 bits or
 * 16, in one channel. APL_E_SOURCE: it has none, or not exactly. */
apl_status image_decoder_probe_numbers(struct image_decoder *d, const uint8_t *bytes, size_t size,
                                       struct image_info *info, apl_error *err);
apl_status image_decoder_read_numbers(struct image_decoder *d, const uint8_t *bytes, size_t size,
                                      struct image_info *info, struct raster *samples, apl_error *err);

#endif
