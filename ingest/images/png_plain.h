/*
 * The samples of PNG files as nearly all are: 8 bits, not interlaced, as they lie in the file, whose image data is one run of chunks
 * with IEND right behind it and holds just what the rows need. Whatever else a file has or lacks is left to the library that decodes
 * PNG, and so is telling what is wrong with it: this one only ever accepts what is right to the last checksum.
 */
#ifndef PNG_PLAIN_H
#define PNG_PLAIN_H

#include "raster.h"

/* Decodes a file whose header, and all up to the image data, was found good; into samples that raster_begin() has made room for.
 * false: not such a file, or too little memory; `samples` may hold anything. */
bool png_plain_read(const uint8_t *bytes, size_t size, struct raster *samples);

#endif
