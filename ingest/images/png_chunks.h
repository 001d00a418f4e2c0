/* The chunks of a PNG file, for what the libraries that decode it do not tell. */
#ifndef PNG_CHUNKS_H
#define PNG_CHUNKS_H

#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

/* Is it an animation (APNG) with frames beside the image that PNG knows? */
bool png_has_frames(const uint8_t *bytes, size_t size);

#endif
