/*
 * Indexed JPEG images: the same coefficients as in the file that came, but Huffman coded so that any part of the image can be decoded
 * without the rest; and what it takes to restore the file. docs/FORMAT.md has the layout. Not a JPEG file itself.
 */
#ifndef INDEXED_H
#define INDEXED_H

#include "rendering.h"
#include "status.h"

#define INDEXED_LAYOUT       1
#define INDEXED_HEAD         13u
#define INDEXED_MOST_PIXELS  ((uint64_t)1 << 26)
#define INDEXED_MOST_SEGMENT 32u /* MCUs */

enum indexed_sampling { INDEXED_GREY, INDEXED_444, INDEXED_422, INDEXED_420, INDEXED_440 };

/* An indexed image that has been checked. Points into its bytes. */
struct indexed {
    struct rendering rendering; /* as its own head has it */
    unsigned mcus;              /* of a segment */
    uint32_t segments;          /* of a row of MCUs */
    const uint8_t *tables; /* of quantisation, as they are stored: what restores the file refers to them */
    size_t tables_bytes;
    unsigned codes; /* 1 or 2; component i has min(i, codes - 1) */
    struct huffman dc[2], ac[2];
    const uint8_t *lengths; /* of segment 0, 1, ...: 2 bytes each */
    const uint8_t *data;    /* segment 0, 1, ... */
    size_t data_bytes;
    const uint8_t *restoring; /* what restores the file */
    size_t restoring_bytes;
};

/* Checks all but the segments' bits, and what restores the file: see indexed_check(). Likely errors: APL_E_CORRUPT. */
apl_status indexed_parse(const uint8_t *bytes, size_t size, struct indexed *x, apl_error *err);

/* Bytes of segment k. */
static inline unsigned indexed_length(const struct indexed *x, size_t k)
{
    return x->lengths[2 * k] | (unsigned)x->lengths[2 * k + 1] << 8;
}

/* The sampling of a frame. */
enum indexed_sampling indexed_sampling_of(const struct frame *f);

/* Bytes that a segment has at least: two bits a block. */
unsigned indexed_least_bytes(const struct frame *f, unsigned mcus);

#endif
