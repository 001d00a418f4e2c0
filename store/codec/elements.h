/* What is done to columns of numbers in front of zstd. Elements are of 1, 2, 4 or 8 bytes, little-endian. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

/* Byte 0 of all `count` elements, then byte 1 of all, ...; and back. */
void elements_shuffle(uint8_t *to, const uint8_t *from, size_t count, unsigned element_bytes);
void elements_unshuffle(uint8_t *to, const uint8_t *from, size_t count, unsigned element_bytes);

/* The first element, then of each the difference to the one before it, wrapping; and back, in place. */
void elements_delta(uint8_t *to, const uint8_t *from, size_t count, unsigned element_bytes);
void elements_undelta(uint8_t *data, size_t count, unsigned element_bytes);

#endif
