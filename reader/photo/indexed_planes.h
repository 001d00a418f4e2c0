/*
 * Decodes regions of indexed JPEG images to the planes that are stored: those that jpeg_decoder_start() gives of the same image with
 * JPEG_CHROMA_PLANES, bit by bit. Reads and decodes only the segments that a region touches. Values are never believed: whatever
 * they are, there is no crash, and no more work than there are MCUs in the region's rows.
 */
#ifndef INDEXED_PLANES_H
#define INDEXED_PLANES_H

#include "cpu.h"
#include "indexed.h"
#include "jpeg.h"

static inline uint32_t indexed_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Decodes one image at a time. For one thread at a time; images after one another reuse its memory. */
struct indexed_planes;
struct indexed_planes *indexed_planes_new(enum cpu_variant variant); /* NULL: out of memory */
void indexed_planes_free(struct indexed_planes *d);

/* Begins an image that indexed_parse() has taken, whose bytes must remain until the last band. Likely errors: APL_E_CORRUPT. */
apl_status indexed_planes_open(struct indexed_planes *d, const struct indexed *image, apl_error *err);

/* Begins a region of it, scaled by eighths / 8, where `eighths` is 1, 2, 4 or 8. */
apl_status indexed_planes_start(struct indexed_planes *d, struct jpeg_region region, unsigned eighths,
                                struct jpeg_planes *planes, apl_error *err);

/* The next band, valid until the next call; after the last one, bands of no rows. Likely errors: APL_E_CORRUPT. */
apl_status indexed_planes_next(struct indexed_planes *d, struct jpeg_band *band, apl_error *err);

#endif
