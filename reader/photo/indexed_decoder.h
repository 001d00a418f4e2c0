/*
 * Decodes regions of indexed JPEG images, to what jpeg_decoder_start() gives of the same image, bit by bit: planes as they are
 * stored, or pixels.
 */
#ifndef INDEXED_DECODER_H
#define INDEXED_DECODER_H

#include "indexed_planes.h"

/* Decodes one image at a time. For one thread at a time; images after one another reuse its memory. */
struct indexed_decoder;
struct indexed_decoder *indexed_decoder_new(enum cpu_variant variant); /* NULL: out of memory */
void indexed_decoder_free(struct indexed_decoder *d);

/* Begins an image that indexed_parse() has taken, whose bytes must remain until the last band. Likely errors: APL_E_CORRUPT. */
apl_status indexed_decoder_open(struct indexed_decoder *d, const struct indexed *image, apl_error *err);

/* Begins a region of it, scaled by eighths / 8, where `eighths` is 1, 2, 4 or 8. */
apl_status indexed_decoder_start(struct indexed_decoder *d, struct jpeg_region region, unsigned eighths,
                                 enum jpeg_chroma chroma, struct jpeg_planes *planes, apl_error *err);

/* The next band, valid until the next call; after the last one, bands of no rows. Likely errors: APL_E_CORRUPT. */
apl_status indexed_decoder_next(struct indexed_decoder *d, struct jpeg_band *band, apl_error *err);

#endif
