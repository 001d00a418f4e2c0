/* What a file is, by its first bytes; and what of a name says that it is an image. */
#ifndef IMAGE_KIND_H
#define IMAGE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "JPEG", "PNG", "GIF", "WebP", ...; NULL: nothing that is known. Static. */
const char *image_kind(const uint8_t *bytes, size_t size);

/* Does the name end as those of images do: .jpg, .jpeg, .png, .ppm, .bmp, .pgm, .tif, .tiff, .webp, .gif, in whatever case? */
bool image_name(const char *name);

#endif
