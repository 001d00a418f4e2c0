/* The chunks of a PNG file, for what the libraries that decode it do not tell. */
#ifndef PNG_CHUNKS_H
#define PNG_CHUNKS_H

#include "scratch.h"
#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

/* Is the last chunk there to its last byte? */
bool png_has_end(const uint8_t *bytes, size_t size);

/* What is wrong with the compressed data of a file with a good header, as far as inflate_fault() can tell; NULL: nothing. `room` is
 * memory to work in. */
const char *png_data_fault(const uint8_t *bytes, size_t size, struct scratch *room);

/* Is it an animation (APNG) with frames beside the image that PNG knows? */
bool png_has_frames(const uint8_t *bytes, size_t size);

#endif
