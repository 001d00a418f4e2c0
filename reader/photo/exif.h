/* The orientation of an image, from its EXIF. */
#ifndef EXIF_H
#define EXIF_H

#include <stddef.h>

/* What is in an APP1 segment, after its length: 1 ... 8; 0: no EXIF, or none that says it. */
unsigned exif_orientation(const void *segment, size_t size);

/* The same of EXIF without the six bytes before it, as PNG and WebP have it. */
unsigned tiff_orientation(const void *bytes, size_t size);

#endif
